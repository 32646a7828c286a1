"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench, Maker
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, ratio
from cli.bench_tables import number, pivot


def _kib(value: Value) -> str:
    return heading(f"{int(number(value)) // 1024} KiB", "GB/s")


def _ordered(make: Maker, *by: str) -> Maker:
    """The table with its lines in the order of these columns: twins were measured in a random one."""

    def ordered(tables: Tables) -> Table:
        table = make(tables)
        table.rows.sort(key=lambda row: [str(row.get(name)) for name in by])
        return table

    return ordered


def _to_the_letter(make: Maker) -> Maker:
    """The table with the words for readers in place of those of the measurement."""

    def worded(tables: Tables) -> Table:
        table = make(tables)
        for row in table.rows:
            row["handover"] = str(row["handover"]).replace("by the letter", "to the letter")
        return table

    return worded


def _in_microseconds(source: str, make: Maker) -> Maker:
    """The same with a column `us`: the time of one pair of kernels, or of the one kernel."""

    def convert(tables: Tables) -> Table:
        found = tables[source]
        rows = [row | {"us": 1000 * number(row.get("median_ms")) / (number(row.get("pairs")) or 1)} for row in found.rows]
        return make({source: Table(found.title, found.headings, rows)})

    return convert


def _changes(tables: Tables) -> Table:
    """What each change of meeting_ring alone brings, with one block on each SM: its rate in per cent."""
    alone = Rows(tables["roles_work"].where(blocks="1"))
    counts = sorted({int(number(row["prints"])) for row in tables["roles_work"].rows})
    kernels = (
        ("ninth_meets", "a ninth warp loads"),
        ("eight_ask, at once", "empty barriers"),
        ("eight_ask, a tile late", "empty barriers, waited for a tile later"),
        ("roles_ring", "a ninth warp and empty barriers"),
    )
    title = "One change of meeting_ring at a time, and both: its rate in per cent, by the values that each thread keeps"
    table = Table(title, {"kernel": "kernel", "change": "what differs from meeting_ring"} | {str(n): f"{n} (%)" for n in counts})
    for kernel, change in kernels:
        shares = {n: ratio(alone.time(kernel="meeting_ring", prints=n), alone.time(kernel=kernel, prints=n)) for n in counts}
        table.rows.append({"kernel": kernel, "change": change} | {str(n): 100 * share for n, share in shares.items() if share})
    return table


def _by_height(tables: Tables) -> Table:
    """What empty barriers and a ninth warp gain, alone and together, over a ring at which all meet, by the rows of a panel."""
    rows = Rows(tables["roles_tall"].rows)
    heights = sorted({int(number(row["height"])) for row in tables["roles_tall"].rows})
    title = "The rise of the rate over meeting_ring, by the rows of a panel; one block on each SM"
    table = Table(title, {"prints": "values", "kernel": "kernel"} | {str(n): heading(f"{n} rows", "%") for n in heights})
    for prints in sorted({int(number(row["prints"])) for row in tables["roles_tall"].rows}):
        for kernel in ("eight_ask, at once", "roles_ring"):
            shares = {n: ratio(rows.time(kernel="meeting_ring", prints=prints, height=n), rows.time(kernel=kernel, prints=prints, height=n)) for n in heights}
            table.rows.append({"prints": prints, "kernel": kernel} | {str(n): 100 * share - 100 for n, share in shares.items() if share})
    return table


def _alone_table(tables: Tables) -> Table:
    """The multiplications and stores alone, and what part of each ring's time they are, with one block on each SM."""
    rings, alone = Rows(tables["roles_work"].where(blocks="1")), Rows(tables["roles_alone"].rows)
    counts = sorted({int(number(row["prints"])) for row in tables["roles_alone"].rows})
    headings = {"prints": "values", "ms": heading("they alone", "ms"), "meeting": heading("of meeting_ring's time", "%"), "roles": heading("of roles_ring's time", "%"), "won": heading("roles win, of what they leave of the meeting ring's time", "%")}
    table = Table("The multiplications and stores of the rings alone, one block on each SM", headings)
    for count in counts:
        time = alone.time(prints=count)
        parts = {name: ratio(time, rings.time(kernel=f"{name}_ring", prints=count)) for name in ("meeting", "roles")}
        meeting, roles = (rings.time(kernel=f"{name}_ring", prints=count) for name in ("meeting", "roles"))
        won = 100 * (meeting - roles) / (meeting - time) if time and meeting and roles else None
        table.rows.append({"prints": count, "ms": time, "won": won} | {name: 100 * part for name, part in parts.items() if part})
    return table


def _alone_claims(tables: Tables) -> Iterator[Claim]:
    rings, alone = Rows(tables["roles_work"].where(blocks="1")), Rows(tables["roles_alone"].rows)
    for kernel, prints, relation, bound in (("roles_ring", 8, "<=", 0.7), ("roles_ring", 96, ">=", 0.93), ("meeting_ring", 96, ">=", 0.88), ("meeting_ring", 32, "<=", 0.88)):
        part = ratio(alone.time(prints=prints), rings.time(kernel=kernel, prints=prints))
        yield Claim(f"alone-{kernel}-{prints}", f"{prints} values, one block on each SM: the part of {kernel}'s time that they take alone", part, relation, bound)


WHERE = (
    ("computes", "multiplies"),
    ("waits", "waits for the tile"),
    ("slowest", "waits for the slowest warp"),
    ("rest", "hands over, goes on"),
    ("stores", "stores"),
)


def _share(row: Row, name: str) -> float:
    """What part of a warp's loop this is, in per cent."""
    return 100 * number(row.get(name)) / number(row.get("loop"))


def _idle(row: Row) -> float:
    """In what part of its time nobody in a quarter of an SM multiplies, in per cent."""
    return 100 - number(row.get("both")) - number(row.get("one"))


def _where(tables: Tables) -> Table:
    """Where the time of both rings goes: cycles for each tile."""
    parts = {name: heading(text, "cycles") for name, text in WHERE} | {"loop": heading("in all", "cycles")}
    idle = {"idle": heading("nobody in a quarter of the SM multiplies", "%"), "ends": heading("the same, at the end of a panel", "%")}
    title = "Where the cycles of a tile go, the mean of all warps, and how much of its time a quarter of an SM multiplies nothing; with a clock in each warp"
    table = Table(title, {"prints": "values", "kernel": "kernel"} | parts | idle)
    for count in sorted({int(number(row["prints"])) for row in tables["roles_waits"].rows}):
        for kernel in ("meeting_ring", "roles_ring"):
            for row in tables["roles_waits"].where(kernel=kernel, prints=count):
                if row.get("loop"):
                    table.rows.append({"prints": count, "kernel": kernel, "idle": _idle(row), "ends": row["ends"]} | {name: row[name] for name in parts})
    return table


def _saved(tables: Tables) -> Table:
    """What roles save of meeting_ring's cycles for each tile, and where."""
    parts = {name: heading(text, "cycles") for name, text in (("computes", "multiplying"), ("stores", "stores"), ("slowest", "waiting for the slowest warp"), ("rest", "handing over"), ("waits", "waiting for the tile"), ("loop", "in all"))}
    table = Table("The cycles of a tile that a warp with roles saves, and where; with a clock in each warp", {"prints": "values"} | parts)
    for count in (4, 32, 96):
        meeting, roles = ([row for row in tables["roles_waits"].where(kernel=kernel, prints=count) if row.get("loop")] for kernel in ("meeting_ring", "roles_ring"))
        if meeting and roles:
            table.rows.append({"prints": count} | {name: number(meeting[0][name]) - number(roles[0][name]) for name in parts})
    return table


def _where_changes(tables: Tables) -> Table:
    """The same of the rings in between."""
    headings = {"prints": "values", "kernel": "kernel", "slowest": heading("waits for the slowest warp", "cycles"), "waits": heading("waits for the tile", "cycles"), "stores": heading("stores", "cycles"), "late": heading("tiles that were not there at the first look", "%"), "idle": heading("nobody in a quarter of the SM multiplies", "%")}
    table = Table("One change at a time, and both: what a warp waits for, for each tile, with a clock in each warp", headings)
    for count in (16, 32, 64, 96):
        for kernel in ("meeting_ring", "ninth_meets", "eight_ask, at once", "roles_ring"):
            for row in tables["roles_waits"].where(kernel=kernel, prints=count):
                if row.get("loop"):
                    table.rows.append({"prints": count, "kernel": kernel, "late": row["late"], "idle": _idle(row)} | {name: row[name] for name in ("slowest", "waits", "stores")})
    return table


def _clock(tables: Tables) -> Table:
    """What the clock costs, and what roles gain with it and without."""
    headings = {"prints": "values", "meeting": heading("a clock costs meeting_ring", "%"), "roles": heading("it costs roles_ring", "%"), "plain": heading("roles gain without a clock", "%"), "noted": heading("with one", "%")}
    table = Table("What a clock in each warp costs, and what roles gain without it and with it", headings)
    rows = {(row["kernel"], int(number(row["prints"]))): row for row in tables["roles_waits"].rows}
    for count in sorted({count for _, count in rows}):
        meeting, roles = rows["meeting_ring", count], rows["roles_ring", count]
        if not meeting.get("loop") or not roles.get("loop"):
            continue
        cost = {name: 100 * number(row["noted_ms"]) / number(row["plain_ms"]) - 100 for name, row in (("meeting", meeting), ("roles", roles))}
        gain = {"plain": 100 * number(meeting["plain_ms"]) / number(roles["plain_ms"]) - 100, "noted": 100 * number(meeting["noted_ms"]) / number(roles["noted_ms"]) - 100}
        table.rows.append({"prints": count} | cost | gain)
    return table


def _waits_claims(tables: Tables) -> Iterator[Claim]:
    rows = {(row["kernel"], int(number(row["prints"]))): row for row in tables["roles_waits"].rows if row.get("loop")}

    def of(kernel: str, prints: int, what: str) -> float | None:
        row = rows.get((kernel, prints))
        return None if row is None else number(row["late"]) if what == "late" else _idle(row) if what == "idle" else _share(row, what)

    yield Claim("waits-no-bytes", "32 values, all meet: hardly a warp waits for a tile", of("meeting_ring", 32, "late"), "<=", 3, "%")
    yield Claim("waits-idle", "the same: the time in which nobody in a quarter of an SM multiplies", of("meeting_ring", 32, "idle"), ">=", 8, "%")
    yield Claim("waits-idle-roles", "the same with roles", of("roles_ring", 32, "idle"), "<=", 4, "%")
    yield Claim("waits-idle-eight", "8 values, with roles: nobody multiplies for a good part of the time all the same", of("roles_ring", 8, "idle"), ">=", 15, "%")
    yield Claim("waits-bytes-eight", "8 values, with roles: warps wait for tiles", of("roles_ring", 8, "waits"), ">=", 10, "%")
    yield Claim("waits-eight-ask", "32 values, empty barriers without a ninth warp: tiles come late", of("eight_ask, at once", 32, "late"), ">=", 10, "%")

    def instead(prints: int) -> float | None:
        """What part of the cycles that roles save at other things than multiplying a warp waits longer for its tile, in per cent."""
        meeting, roles = rows.get(("meeting_ring", prints)), rows.get(("roles_ring", prints))
        if not meeting or not roles:
            return None
        less = {name: number(meeting[name]) - number(roles[name]) for name in ("slowest", "rest", "stores", "waits")}
        return -100 * less.pop("waits") / sum(less.values())

    yield Claim("waits-back-4", "4 values: nearly all of the cycles that roles save are spent waiting for the tile instead", instead(4), ">=", 90, "%")
    yield Claim("waits-back-32", "32 values: few of them do", instead(32), "<=", 25, "%")
    yield Claim("waits-back-96", "96 values: less than half of them do", instead(96), "<=", 40, "%")
    meeting, roles = rows.get(("meeting_ring", 96)), rows.get(("roles_ring", 96))
    stores = number(meeting["stores"]) - number(roles["stores"]) if meeting and roles else None
    yield Claim("waits-stores-96", "96 values: the cycles of a tile that roles save at the stores", stores, ">=", 250, "cycles")
    eight = rows.get(("eight_ask, at once", 96))
    same = ratio(number(eight["stores"]), number(roles["stores"])) if eight and roles else None
    yield Claim("waits-stores-eight", "the same with empty barriers and without a ninth warp: its stores, of those with roles", same, "<=", 1.1, "times")


LOADERS = ("warp 0, all meet", "warp 0, empty barriers", "a ninth warp, all meet", "a ninth warp, empty barriers")


def _by_loader(tables: Tables) -> Table:
    """The time of the four rings at 32 values, by how much the loader has to do."""
    rows = Rows(tables["roles_loaders"].where(prints=32))
    steps = sorted({int(number(row["steps"])) for row in tables["roles_loaders"].rows})
    title = "32 values: the time by the multiplications that the loader makes, one after the other, before each copy"
    table = Table(title, {"loader": "who loads"} | {str(n): heading(f"{n}", "µs") for n in steps})
    for loader in LOADERS:
        times = {n: rows.time(loader=loader, steps=n) for n in steps}
        table.rows.append({"loader": loader} | {str(n): 1000 * time for n, time in times.items() if time})
    return table


def _by_loaders(tables: Tables) -> Table:
    """What empty barriers and a ninth warp gain, alone and together, over a ring at which all meet, by how much the loader has to do."""
    rows = Rows(tables["roles_loaders"].rows)
    steps = sorted({int(number(row["steps"])) for row in tables["roles_loaders"].rows})
    title = "The rise of the rate over warp 0 as the loader where all meet, by the multiplications that the loader makes before each copy"
    table = Table(title, {"prints": "values", "loader": "who loads"} | {str(n): heading(f"{n}", "%") for n in steps})
    for prints in sorted({int(number(row["prints"])) for row in tables["roles_loaders"].rows}):
        for loader in LOADERS[1:]:
            shares = {n: ratio(rows.time(loader=LOADERS[0], prints=prints, steps=n), rows.time(loader=loader, prints=prints, steps=n)) for n in steps}
            table.rows.append({"prints": prints, "loader": loader} | {str(n): 100 * share - 100 for n, share in shares.items() if share})
    return table


def _loaders_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_loaders"].rows)

    def gains(prints: int, steps: int, one: str, other: str) -> float | None:
        return ratio(rows.time(loader=one, prints=prints, steps=steps), rows.time(loader=other, prints=prints, steps=steps))

    meets, among, meets_ninth, ninth = LOADERS
    yield Claim("loaders-ninth", "32 values, 100 multiplications before each copy: a ninth warp takes less time than warp 0 as the loader", gains(32, 100, among, ninth), ">=", 1.15, "times")
    yield Claim("loaders-empty", "16 values, 50 multiplications before each copy: empty barriers without a ninth warp take more time than meetings", gains(16, 50, meets, among), "<=", 0.97, "times")
    yield Claim("loaders-alone", "32 values, 200 multiplications before each copy: a ninth warp gains most of it where all meet, too", gains(32, 200, meets, meets_ninth), ">=", 1.25, "times")
    yield Claim("loaders-then-empty", "with a ninth warp, empty barriers in place of the meetings", gains(32, 200, meets_ninth, ninth), ">=", 1.04, "times")
    yield Claim("loaders-then-empty-most", "the same, at most, by what the loader has to do", max(found) if (found := [gain for steps in (0, 50, 100, 200) if (gain := gains(32, steps, meets_ninth, ninth))]) else None, "<=", 1.12, "times")
    longer = ratio(rows.time(loader=ninth, prints=32, steps=100), rows.time(loader=ninth, prints=32, steps=0))
    yield Claim("loaders-roles", "32 values, with roles: 100 multiplications before each copy cost little", longer, "<=", 1.05, "times")


def _work_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_work"].where(blocks="1"))

    def gains(prints: int) -> float | None:
        """How much longer the ring takes at which all meet."""
        return ratio(rows.time(kernel="meeting_ring", prints=prints), rows.time(kernel="roles_ring", prints=prints))

    many = Rows(tables["roles_work"].where(blocks="as many as fit", prints=32))
    filled = ratio(many.time(kernel="meeting_ring"), many.time(kernel="roles_ring"))

    yield Claim("roles-gain", "one block on each SM, 16 values: roles take less time", gains(16), ">=", 1.03, "times")
    yield Claim("roles-gain-32", "one block on each SM, 32 values: roles gain most", gains(32), ">=", 1.08, "times")
    yield Claim("roles-few", "one block on each SM, 8 values: roles gain next to nothing", gains(8), "<=", 1.02, "times")
    yield Claim("roles-gain-filled", "as many blocks as fit, 32 values: roles take less time", filled, ">=", 1.03, "times")
    def against(prints: int, kernel: str) -> float | None:
        return ratio(rows.time(kernel="meeting_ring", prints=prints), rows.time(kernel=kernel, prints=prints))

    counts = sorted({int(number(row["prints"])) for row in tables["roles_work"].rows})
    ninth = [gain for count in counts if (gain := against(count, "ninth_meets"))]
    yield Claim("roles-ninth", "one block on each SM: what a ninth warp gains at most where all meet", max(ninth) if ninth else None, "<=", 1.05, "times")
    for prints in (16, 64, 128):
        yield Claim(f"roles-eight-{prints}", f"one block on each SM, {prints} values: empty barriers without a ninth warp take less time", against(prints, "eight_ask, at once"), ">=", 1.03, "times")

    def ninth_adds(prints: int) -> float | None:
        """How much longer the ring with empty barriers takes in which warp 0 loads."""
        return ratio(rows.time(kernel="eight_ask, at once", prints=prints), rows.time(kernel="roles_ring", prints=prints))

    yield Claim("roles-both", "one block on each SM, 32 values: with empty barriers a ninth warp takes less time than warp 0 as the loader", ninth_adds(32), ">=", 1.01, "times")
    others = [gain for count in counts if count != 32 and (gain := ninth_adds(count))]
    yield Claim("roles-ninth-adds", "at all other numbers of values it gains no more than a point", max(others) if others else None, "<=", 1.015, "times")
    yield Claim("roles-no-loss", "one block on each SM, 4 values: roles take no more time", gains(4), ">=", 0.97, "times")


def _tall_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_tall"].rows)

    def gains(prints: int, height: int, kernel: str) -> float | None:
        wanted = {"prints": prints, "height": height}
        return ratio(rows.time(kernel="meeting_ring", **wanted), rows.time(kernel=kernel, **wanted))

    yield Claim("tall-short-96", "96 values, 512 rows: roles take less time", gains(96, 512, "roles_ring"), ">=", 1.03, "times")
    yield Claim("tall-96", "96 values, 4,096 rows: roles gain nothing", gains(96, 4096, "roles_ring"), "<=", 1.01, "times")
    yield Claim("tall-eight-96", "the same with empty barriers and without a ninth warp: they gain less than with 512 rows", gains(96, 4096, "eight_ask, at once"), "<=", 1.04, "times")
    yield Claim("tall-32", "32 values, 4,096 rows: roles take less time", gains(32, 4096, "roles_ring"), ">=", 1.08, "times")


def _registers_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_registers"].rows)

    def gains(prints: int) -> float | None:
        one = rows.time(kernel="registers_as_launched", prints=prints)
        return ratio(one, rows.time(kernel="registers_moved", prints=prints))

    yield Claim("registers-gain", "208 values: with registers that move the kernel takes less time", gains(208), ">=", 1.1, "times")
    yield Claim("registers-even", "128 values, which fit: registers that move make no difference", gains(128), "<=", 1.03, "times")
    meeting = ratio(rows.time(kernel="meeting_ring", prints=208), rows.time(kernel="registers_moved", prints=208))
    yield Claim("registers-meeting", "208 values, all threads meet: little slower than registers that move", meeting, "<=", 1.15, "times")
    spilled = rows.figure("spilled", kernel="registers_moved", prints=208)
    yield Claim("registers-spill", "208 values: with registers that move nothing is spilled", spilled, "<=", 0, "bytes")


def _turns_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_turns"].rows)

    def gains(prints: int, height: int) -> float | None:
        wanted = {"prints": prints, "height": height}
        return ratio(rows.time(kernel="roles_ring", **wanted), rows.time(kernel="groups_in_turns", **wanted))

    for height in (32, 512):
        yield Claim(f"turns-no-gain-{height}", f"panels of {height} rows, 64 values: groups in turns take no less time", gains(64, height), "<=", 1.0, "times")
        yield Claim(f"turns-few-{height}", f"panels of {height} rows, 16 values: the same", gains(16, height), "<=", 1.0, "times")


def _multicast_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_multicast"].where(prints=4))

    def gains(cluster: int, kib: int) -> float | None:
        one = rows.time(loads="each block", cluster=cluster, tile=1024 * kib)
        return ratio(one, rows.time(loads="multicast", handover="plain", cluster=cluster, tile=1024 * kib))

    def letter(cluster: int, kib: int) -> float | None:
        one = rows.time(loads="multicast", handover="by the letter", cluster=cluster, tile=1024 * kib)
        return ratio(one, rows.time(loads="multicast", handover="plain", cluster=cluster, tile=1024 * kib))

    yield Claim("roles-multicast-even", "clusters of two, tiles of 32 KiB, little arithmetic: multicast takes as long", gains(2, 32), ">=", 0.97, "times")
    yield Claim("roles-multicast-eight", "clusters of eight, tiles of 16 KiB: multicast takes longer", gains(8, 16), "<=", 0.9, "times")
    busy = Rows(tables["roles_multicast"].where(prints=16, cluster=2, handover="plain"))
    gain = ratio(busy.time(loads="each block"), busy.time(loads="multicast"))
    yield Claim("roles-multicast-busy", "clusters of two, 16 values: multicast takes less time", gain, ">=", 1.03, "times")
    yield Claim("roles-letter", "clusters of two, tiles of 16 KiB: the letter costs time", letter(2, 16), ">=", 1.1, "times")


def _scheduling_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_scheduling"].rows)

    def gains(heights: str) -> float | None:
        return ratio(rows.time(kernel="dealt_panels", heights=heights), rows.time(kernel="claimed_panels", heights=heights))

    yield Claim("claims-uneven", "uneven panels: claimed ones take less time", gains("one in eight is tall"), ">=", 1.1, "times")
    yield Claim("claims-even", "even panels: claims cost little", gains("equal"), ">=", 0.9, "times")


def _overlap_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_overlap"].rows)

    def gains(second: str, height: int) -> float | None:
        return ratio(rows.time(second="when the first has ended", height=height), rows.time(second=second, height=height))

    yield Claim("overlap-gain", "16 rows: a second kernel that begins early saves time", gains("when the first lets it", 16), ">=", 1.05, "times")
    untold = gains("when blocks of the first end", 256)
    yield Claim("overlap-untold", "256 rows: without a trigger it saves nothing", untold, "<=", 1.02, "times")
    yield Claim("overlap-none", "1024 rows: it saves nothing", gains("when the first lets it", 1024), "<=", 1.02, "times")


BENCH = Bench(
    raw=("roles_work", "roles_tall", "roles_alone", "roles_waits", "roles_course", "roles_loaders", "roles_registers", "roles_turns", "roles_multicast", "roles_scheduling", "roles_overlap"),
    tables={
        "roles_by_work": (("roles_work",), _ordered(pivot(
            "roles_work",
            "The rate by the values that each thread keeps",
            {"blocks": "blocks on an SM", "kernel": "kernel"},
            "prints",
            lambda v: heading(f"{v}", "GB/s"),
            "gb_per_s",
        ), "blocks", "kernel")),
        "roles_changes": (("roles_work",), _changes),
        "roles_by_height": (("roles_tall",), _by_height),
        "roles_multiplications": (("roles_work", "roles_alone"), _alone_table),
        "roles_where": (("roles_waits",), _where),
        "roles_saved": (("roles_waits",), _saved),
        "roles_where_changes": (("roles_waits",), _where_changes),
        "roles_clock": (("roles_waits",), _clock),
        "roles_by_loader": (("roles_loaders",), _by_loader),
        "roles_by_loaders": (("roles_loaders",), _by_loaders),
        "roles_by_registers": (("roles_registers",), _ordered(pivot(
            "roles_registers",
            "The time by the values that each thread keeps",
            {"kernel": "kernel", "threads": "threads of a block"},
            "prints",
            lambda v: heading(f"{v}", "ms"),
            "median_ms",
        ), "threads", "kernel")),
        "roles_spilled": (("roles_registers",), _ordered(pivot(
            "roles_registers",
            "What the compiler keeps in local memory, for each thread, by the values that it is to keep",
            {"kernel": "kernel"},
            "prints",
            lambda v: heading(f"{v}", "bytes"),
            "spilled",
        ), "kernel")),
        "roles_by_tile": (("roles_multicast",), _to_the_letter(_ordered(pivot(
            "roles_multicast",
            "Four values in each thread, rings of 192 KiB: the rate by the size of a tile; a byte of the matrix counts once, however many blocks get it",
            {"cluster": "blocks of the cluster", "loads": "loads", "handover": "how a stage is handed back"},
            "tile",
            _kib,
            "gb_per_s",
            prints=4,
        ), "cluster", "loads", "handover"))),
        "roles_by_cluster": (("roles_multicast",), _to_the_letter(_ordered(pivot(
            "roles_multicast",
            "Sixteen values in each thread, tiles of 16 KiB: the rate by the blocks of a cluster, counted in the same way",
            {"loads": "loads", "handover": "how a stage is handed back"},
            "cluster",
            lambda v: heading(f"{v} blocks", "GB/s"),
            "gb_per_s",
            prints=16,
        ), "loads", "handover"))),
        "roles_by_turns": (("roles_turns",), pivot(
            "roles_turns",
            "Two groups together, and in turns: the time by the rows of a panel",
            {"prints": "values", "kernel": "kernel"},
            "height",
            lambda v: heading(f"{v} rows", "ms"),
            "median_ms",
        )),
        "roles_by_heights": (("roles_scheduling",), _in_microseconds("roles_scheduling", pivot(
            "roles_scheduling",
            "Panels dealt out and claimed: the time by their heights",
            {"kernel": "kernel"},
            "heights",
            lambda v: heading(str(v), "µs"),
            "us",
        ))),
        "roles_by_overlap": (("roles_overlap",), _in_microseconds("roles_overlap", pivot(
            "roles_overlap",
            "The time of a pair of kernels, of 40 in a row, by the rows of the matrix",
            {"second": "when the second kernel begins"},
            "height",
            lambda v: heading(f"{v} rows", "µs"),
            "us",
        ))),
    },
    claims=(
        (("roles_work",), _work_claims),
        (("roles_tall",), _tall_claims),
        (("roles_work", "roles_alone"), _alone_claims),
        (("roles_waits",), _waits_claims),
        (("roles_loaders",), _loaders_claims),
        (("roles_registers",), _registers_claims),
        (("roles_turns",), _turns_claims),
        (("roles_multicast",), _multicast_claims),
        (("roles_scheduling",), _scheduling_claims),
        (("roles_overlap",), _overlap_claims),
    ),
)
