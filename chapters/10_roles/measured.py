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
        ("ninth_meets", "a ninth warp asks for the tiles"),
        ("eight_ask, at once", "empty barriers"),
        ("eight_ask, a tile late", "empty barriers, waited for a tile later"),
        ("roles_ring", "a ninth warp and empty barriers"),
    )
    title = "One change of meeting_ring at a time, and both: its rate in per cent, by the number of multiplications per word"
    table = Table(title, {"kernel": "kernel", "change": "what differs from meeting_ring"} | {str(n): f"{n} (%)" for n in counts})
    for kernel, change in kernels:
        shares = {n: ratio(alone.time(kernel="meeting_ring", prints=n), alone.time(kernel=kernel, prints=n)) for n in counts}
        table.rows.append({"kernel": kernel, "change": change} | {str(n): 100 * share for n, share in shares.items() if share})
    return table


def _alone_table(tables: Tables) -> Table:
    """The multiplications and stores alone, and what part of each ring's time they are, with one block on each SM."""
    rings, alone = Rows(tables["roles_work"].where(blocks="1")), Rows(tables["roles_alone"].rows)
    counts = sorted({int(number(row["prints"])) for row in tables["roles_alone"].rows})
    headings = {"prints": "multiplications per word", "ms": heading("they alone", "ms"), "meeting": heading("of meeting_ring's time", "%"), "roles": heading("of roles_ring's time", "%"), "won": heading("roles win, of what they leave of the meeting ring's time", "%")}
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
    for kernel, prints, relation, bound in (("roles_ring", 8, "<=", 0.7), ("roles_ring", 96, ">=", 0.93), ("meeting_ring", 64, ">=", 0.9), ("meeting_ring", 32, "<=", 0.88)):
        part = ratio(alone.time(prints=prints), rings.time(kernel=kernel, prints=prints))
        yield Claim(f"alone-{kernel}-{prints}", f"{prints} multiplications per word, one block on each SM: the part of {kernel}'s time that they take alone", part, relation, bound)


WHERE = (
    ("computes", "multiplies"),
    ("waits", "waits for the tile"),
    ("slowest", "waits for the slowest warp"),
    ("rest", "hands over, asks, goes on"),
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
    table = Table(title, {"prints": "multiplications per word", "kernel": "kernel"} | parts | idle)
    for count in sorted({int(number(row["prints"])) for row in tables["roles_waits"].rows}):
        for kernel in ("meeting_ring", "roles_ring"):
            for row in tables["roles_waits"].where(kernel=kernel, prints=count):
                if row.get("loop"):
                    table.rows.append({"prints": count, "kernel": kernel, "idle": _idle(row), "ends": row["ends"]} | {name: row[name] for name in parts})
    return table


TILE_COUNTS = (8, 32, 96)  # memory is the bottleneck, roles gain most, most is won at the ends of panels


LEANER = "steps, elects"  # the ring without roles whose loader does the least


def _tile(tables: Tables) -> Table:
    """The cycles of a tile without roles, with a leaner loader and with roles, one line for each thing that a warp does."""
    table = Table("Cycles of a warp for each tile: without roles → with a leaner loader → with roles", {"what": "a warp"} | {str(count): f"{count} values" for count in TILE_COUNTS})
    kernels = {count: [row for kernel in ("meeting_ring", LEANER, "roles_ring") for row in tables["roles_clean_waits"].where(kernel=kernel, prints=count) if row.get("loop")] for count in TILE_COUNTS}
    for name, text in (*WHERE, ("loop", "in all")):
        cells = {str(count): " → ".join(f"{number(row.get(name)):,.0f}" for row in rows) for count, rows in kernels.items()}
        if all(cells.values()):
            table.rows.append({"what": text} | cells)
    return table


def _gains(tables: Tables) -> Table:
    """What roles gain against rings without roles whose loaders do more and less."""
    rows = Rows(tables["roles_clean"].rows)
    counts = sorted({int(number(row["prints"])) for row in tables["roles_clean"].rows})
    rings = (("meeting_ring", "divides", "by threadIdx.x"), ("steps", "steps", "by threadIdx.x"), (LEANER, "steps", "by elect_one"))
    table = Table("What roles gain against rings without roles, by the number of multiplications per word", {"loader": "the loader of the ring without roles", "chosen": "is chosen"} | {str(n): heading(f"{n}", "%") for n in counts})
    for kernel, loader, chosen in rings:
        shares = {n: ratio(rows.time(kernel=kernel, prints=n), rows.time(kernel="roles_ring", prints=n)) for n in counts}
        table.rows.append({"loader": loader, "chosen": chosen} | {str(n): 100 * share - 100 for n, share in shares.items() if share})
    return table


def _clean_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_clean"].rows)

    def gains(prints: int) -> float | None:
        return ratio(rows.time(kernel=LEANER, prints=prints), rows.time(kernel="roles_ring", prints=prints))

    yield Claim("clean-8", "8 multiplications per word, against a ring with a leaner loader: roles gain next to nothing", gains(8), "<=", 1.02, "times")
    for prints, least in ((16, 1.03), (32, 1.08), (128, 1.02)):
        yield Claim(f"clean-{prints}", f"{prints} multiplications per word: roles take less time than a ring with a leaner loader", gains(prints), ">=", least, "times")
    leaner = ratio(rows.time(kernel="meeting_ring", prints=16), rows.time(kernel=LEANER, prints=16))
    yield Claim("clean-leaner-16", "16 multiplications per word, all meet: a leaner loader takes less time", leaner, ">=", 1.01, "times")
    steps = ratio(rows.time(kernel="steps", prints=64), rows.time(kernel="meeting_ring", prints=64))
    yield Claim("clean-steps-64", "64 multiplications per word, all meet: a loader that does not divide takes more time", steps, ">=", 1.04, "times")


def _clean_waits_claims(tables: Tables) -> Iterator[Claim]:
    rows = {(row["kernel"], int(number(row["prints"]))): row for row in tables["roles_clean_waits"].rows if row.get("loop")}

    def later(kernel: str) -> float | None:
        """How many cycles warp 0 takes longer than the others from its last use of a tile to the next, at 32."""
        row = rows.get((kernel, 32))
        return None if row is None else (number(row["first"]) - number(row["rest"])) * 8 / 7

    yield Claim("clean-later", "32 multiplications per word, all meet: the cycles by which warp 0, which asks, goes on later", later("meeting_ring"), ">=", 200, "cycles")
    yield Claim("clean-later-leaner", "the same with a leaner loader", later(LEANER), "<=", 80, "cycles")

    meeting, roles = rows.get((LEANER, 8)), rows.get(("roles_ring", 8))
    less = {name: number(meeting[name]) - number(roles[name]) for name in ("slowest", "rest", "stores", "waits")} if meeting and roles else None
    back = -100 * less.pop("waits") / sum(less.values()) if less else None
    yield Claim("clean-back-8", "8 multiplications per word, against a ring with a leaner loader: all of the cycles that roles save come back as waits for the tile", back, ">=", 100, "%")


def _where_changes(tables: Tables) -> Table:
    """The same of the rings in between."""
    headings = {"prints": "multiplications per word", "kernel": "kernel", "slowest": heading("waits for the slowest warp", "cycles"), "waits": heading("waits for the tile", "cycles"), "late": heading("tiles that were not there at the first look", "%"), "idle": heading("nobody in a quarter of the SM multiplies", "%")}
    table = Table("One change at a time, and both: what a warp waits for, for each tile, with a clock in each warp", headings)
    for count in (16, 32, 64):
        for kernel in ("meeting_ring", "ninth_meets", "eight_ask, at once", "roles_ring"):
            for row in tables["roles_waits"].where(kernel=kernel, prints=count):
                if row.get("loop"):
                    table.rows.append({"prints": count, "kernel": kernel, "late": row["late"], "idle": _idle(row)} | {name: row[name] for name in ("slowest", "waits")})
    return table


def _clock(tables: Tables) -> Table:
    """What the clock costs, and what roles gain with it and without."""
    headings = {"prints": "multiplications per word", "meeting": heading("a clock costs meeting_ring", "%"), "roles": heading("it costs roles_ring", "%"), "plain": heading("roles gain without a clock", "%"), "noted": heading("with one", "%")}
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

    yield Claim("waits-no-bytes", "32 multiplications per word, all meet: hardly a warp waits for a tile", of("meeting_ring", 32, "late"), "<=", 3, "%")
    yield Claim("waits-idle", "the same: the time in which nobody in a quarter of an SM multiplies", of("meeting_ring", 32, "idle"), ">=", 8, "%")
    yield Claim("waits-idle-roles", "the same with roles", of("roles_ring", 32, "idle"), "<=", 4, "%")
    yield Claim("waits-idle-eight", "8 multiplications per word, with roles: nobody multiplies for a good part of the time all the same", of("roles_ring", 8, "idle"), ">=", 15, "%")
    yield Claim("waits-bytes-eight", "8 multiplications per word, with roles: warps wait for tiles", of("roles_ring", 8, "waits"), ">=", 10, "%")
    yield Claim("waits-eight-ask", "32 multiplications per word, empty barriers without a ninth warp: tiles come late", of("eight_ask, at once", 32, "late"), ">=", 10, "%")

    def back(prints: int) -> float | None:
        """What part of the cycles that roles save at other things than multiplying a warp waits longer for its tile, in per cent."""
        meeting, roles = rows.get(("meeting_ring", prints)), rows.get(("roles_ring", prints))
        if not meeting or not roles:
            return None
        less = {name: number(meeting[name]) - number(roles[name]) for name in ("slowest", "rest", "stores", "waits")}
        return -100 * less.pop("waits") / sum(less.values())

    yield Claim("waits-back-4", "4 multiplications per word: nearly all of the cycles that roles save come back as waits for the tile", back(4), ">=", 90, "%")
    yield Claim("waits-back-32", "32 multiplications per word: few of them do", back(32), "<=", 25, "%")
    yield Claim("waits-back-96", "96 multiplications per word: less than half of them do", back(96), "<=", 40, "%")
    meeting, roles = rows.get(("meeting_ring", 96)), rows.get(("roles_ring", 96))
    stores = number(meeting["stores"]) - number(roles["stores"]) if meeting and roles else None
    yield Claim("waits-stores-96", "96 multiplications per word: the cycles of a tile that roles save at the stores", stores, ">=", 250, "cycles")

    meeting, roles = rows.get(("meeting_ring", 64)), rows.get(("roles_ring", 64))
    yield Claim("waits-64", "64 multiplications per word, with a clock in each warp: roles take less time", ratio(number(meeting["noted_ms"]), number(roles["noted_ms"])) if meeting and roles else None, ">=", 1.04, "times")


def _branch_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_branch"].rows)
    more = rows.time(kernel="the same with a branch more", prints=64)
    yield Claim("branch-64", "64 multiplications per word, all meet: a branch that is never taken costs time", ratio(more, rows.time(kernel="meeting_ring", prints=64)), ">=", 1.03, "times")
    yield Claim("branch-roles-64", "against that kernel roles take less time", ratio(more, rows.time(kernel="roles_ring", prints=64)), ">=", 1.04, "times")


def _work_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_work"].where(blocks="1"))

    def gains(prints: int) -> float | None:
        """How much longer the ring takes at which all meet."""
        return ratio(rows.time(kernel="meeting_ring", prints=prints), rows.time(kernel="roles_ring", prints=prints))

    many = Rows(tables["roles_work"].where(blocks="as many as fit", prints=32))
    filled = ratio(many.time(kernel="meeting_ring"), many.time(kernel="roles_ring"))

    yield Claim("roles-gain", "one block on each SM, 16 multiplications per word: roles take less time", gains(16), ">=", 1.05, "times")
    yield Claim("roles-gain-filled", "as many blocks as fit, 32 multiplications per word: roles take less time", filled, ">=", 1.03, "times")
    def against(prints: int, kernel: str) -> float | None:
        return ratio(rows.time(kernel="meeting_ring", prints=prints), rows.time(kernel=kernel, prints=prints))

    ninth, eight = against(32, "ninth_meets"), against(32, "eight_ask, at once")
    both = gains(32)
    added = both - ninth - eight + 1 if both and ninth and eight else None
    yield Claim("roles-ninth", "one block on each SM, 32 multiplications per word: a ninth warp takes less time though all meet", ninth, ">=", 1.02, "times")
    yield Claim("roles-both", "the same: a ninth warp and empty barriers gain more than the gains of each added up", added, ">=", 0.01, "times")
    yield Claim("roles-eight", "one block on each SM, 16 multiplications per word: empty barriers without a ninth warp take more time", against(16, "eight_ask, at once"), "<=", 0.97, "times")
    known = [gain for gain in (gains(48), gains(96)) if gain]
    least = ratio(gains(64), min(known)) if known else None
    yield Claim("roles-dip", "one block on each SM, 64 multiplications per word: roles gain less than at 48 and at 96", least, "<=", 0.98, "times")
    yield Claim("roles-no-loss", "one block on each SM, 4 multiplications per word: roles take no more time", gains(4), ">=", 0.97, "times")


def _registers_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_registers"].rows)

    def gains(prints: int) -> float | None:
        one = rows.time(kernel="registers_as_launched", prints=prints)
        return ratio(one, rows.time(kernel="registers_moved", prints=prints))

    yield Claim("registers-gain", "208 fingerprints: with registers that move the kernel takes less time", gains(208), ">=", 1.1, "times")
    yield Claim("registers-even", "128 fingerprints, which fit: registers that move make no difference", gains(128), "<=", 1.03, "times")
    meeting = ratio(rows.time(kernel="meeting_ring", prints=208), rows.time(kernel="registers_moved", prints=208))
    yield Claim("registers-meeting", "208 fingerprints, all threads meet: little slower than registers that move", meeting, "<=", 1.15, "times")
    spilled = rows.figure("spilled", kernel="registers_moved", prints=208)
    yield Claim("registers-spill", "208 fingerprints: with registers that move nothing is spilled", spilled, "<=", 0, "bytes")


def _turns_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["roles_turns"].rows)

    def gains(prints: int, height: int) -> float | None:
        wanted = {"prints": prints, "height": height}
        return ratio(rows.time(kernel="roles_ring", **wanted), rows.time(kernel="groups_in_turns", **wanted))

    for height in (32, 512):
        yield Claim(f"turns-no-gain-{height}", f"panels of {height} rows, 64 fingerprints: groups in turns take no less time", gains(64, height), "<=", 1.0, "times")
        yield Claim(f"turns-few-{height}", f"panels of {height} rows, 16 fingerprints: the same", gains(16, height), "<=", 1.0, "times")


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
    yield Claim("roles-multicast-busy", "clusters of two, 16 fingerprints: multicast takes less time", gain, ">=", 1.03, "times")
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
    raw=("roles_work", "roles_alone", "roles_waits", "roles_course", "roles_branch", "roles_clean", "roles_clean_waits", "roles_registers", "roles_turns", "roles_multicast", "roles_scheduling", "roles_overlap"),
    tables={
        "roles_by_work": (("roles_work",), _ordered(pivot(
            "roles_work",
            "The rate by the number of multiplications per word",
            {"blocks": "blocks on an SM", "kernel": "kernel"},
            "prints",
            lambda v: heading(f"{v}", "GB/s"),
            "gb_per_s",
        ), "blocks", "kernel")),
        "roles_changes": (("roles_work",), _changes),
        "roles_multiplications": (("roles_work", "roles_alone"), _alone_table),
        "roles_where": (("roles_waits",), _where),
        "roles_tile": (("roles_clean_waits",), _tile),
        "roles_gains": (("roles_clean",), _gains),
        "roles_where_changes": (("roles_waits",), _where_changes),
        "roles_clock": (("roles_waits",), _clock),
        "roles_by_branch": (("roles_branch",), _ordered(pivot(
            "roles_branch",
            "meeting_ring with a branch more, that is never taken: the time by the number of multiplications per word",
            {"kernel": "kernel"},
            "prints",
            lambda v: heading(f"{v}", "ms"),
            "median_ms",
        ), "kernel")),
        "roles_by_registers": (("roles_registers",), _ordered(pivot(
            "roles_registers",
            "The time by the number of fingerprints per thread",
            {"kernel": "kernel", "threads": "threads of a block"},
            "prints",
            lambda v: heading(f"{v}", "ms"),
            "median_ms",
        ), "threads", "kernel")),
        "roles_spilled": (("roles_registers",), _ordered(pivot(
            "roles_registers",
            "What the compiler keeps in local memory, for each thread, by the number of fingerprints",
            {"kernel": "kernel"},
            "prints",
            lambda v: heading(f"{v}", "bytes"),
            "spilled",
        ), "kernel")),
        "roles_by_tile": (("roles_multicast",), _to_the_letter(_ordered(pivot(
            "roles_multicast",
            "Four fingerprints per thread, rings of 192 KiB: the rate by the size of a tile; a byte of the matrix counts once, however many blocks get it",
            {"cluster": "blocks of the cluster", "loads": "loads", "handover": "how a stage is handed back"},
            "tile",
            _kib,
            "gb_per_s",
            prints=4,
        ), "cluster", "loads", "handover"))),
        "roles_by_cluster": (("roles_multicast",), _to_the_letter(_ordered(pivot(
            "roles_multicast",
            "Sixteen fingerprints per thread, tiles of 16 KiB: the rate by the blocks of a cluster, counted in the same way",
            {"loads": "loads", "handover": "how a stage is handed back"},
            "cluster",
            lambda v: heading(f"{v} blocks", "GB/s"),
            "gb_per_s",
            prints=16,
        ), "loads", "handover"))),
        "roles_by_turns": (("roles_turns",), pivot(
            "roles_turns",
            "Two groups together, and in turns: the time by the rows of a panel",
            {"prints": "fingerprints", "kernel": "kernel"},
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
        (("roles_work", "roles_alone"), _alone_claims),
        (("roles_waits",), _waits_claims),
        (("roles_branch",), _branch_claims),
        (("roles_clean",), _clean_claims),
        (("roles_clean_waits",), _clean_waits_claims),
        (("roles_registers",), _registers_claims),
        (("roles_turns",), _turns_claims),
        (("roles_multicast",), _multicast_claims),
        (("roles_scheduling",), _scheduling_claims),
        (("roles_overlap",), _overlap_claims),
    ),
)
