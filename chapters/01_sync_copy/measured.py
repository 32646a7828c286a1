"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, as_float, ratio, some
from cli.bench_tables import best, number, without_spread

_WHO = (
    ("copy", 4, "its block, twice"),
    ("copy", 4, "its block"),
    ("copy", 4, "its warp"),
    ("copy", 4, "nothing"),
    ("copy", 16, "its block"),
    ("copy", 16, "its warp"),
    ("copy", 16, "nothing"),
    ("read", 4, "nothing"),
    ("read", 16, "nothing"),
)


def _latencies_table(tables: Tables) -> Table:
    table = Table(
        "One load after the other: the time of each",
        {"memory": "memory", "cycles": heading("time", "cycles"), "ns": heading("time", "ns")},
    )
    rows = {str(row["memory"]): row for row in tables["latency"].rows}
    for name in ("registers (multiply-add)", "shared memory", "L2 cache", "global memory"):
        if name in rows:
            table.rows.append({"memory": name, "cycles": rows[name].get("cycles"), "ns": rows[name].get("ns")})
    if "latency_dsmem" in tables:
        for row in tables["latency_dsmem"].where(cluster=2, owner=1):
            table.rows.insert(2, {"memory": "shared memory of a neighbour", "cycles": row.get("cycles"), "ns": None})
    return table


def _little_best_table(tables: Tables) -> Table:
    table = Table(
        "Bandwidth of reading against the bytes in flight: the fastest kernel for each number",
        {
            "in_flight": heading("in flight per SM", "bytes"),
            "threads_per_sm": "threads per SM",
            "bytes_per_thread": heading("per thread", "bytes"),
            "gb_per_s": heading("rate", "GB/s"),
        },
    )
    for row in sorted(best(tables["little"].rows, "in_flight", least="inverse"), key=lambda r: number(r["in_flight"])):
        per_thread = int(number(row["load_bytes"]) * number(row["loads"]))
        table.rows.append({**row, "bytes_per_thread": per_thread})
    return table


def _little_table(tables: Tables) -> Table:
    for row in tables["little"].rows:
        rate = number(row.get("gb_per_s"))
        row["inverse"] = 1 / rate if rate else None
    return _little_best_table(tables)


def _turnover_tiles_table(tables: Tables) -> Table:
    """Rates of reading: a copy reads half of what it moves."""
    rows = [row for row in tables["turnover"].rows if row["block"] == 256 and row["threads_per_sm"] == 2048]
    values = sorted({int(number(row["tiles_per_block"])) for row in rows}, key=lambda v: v or 1 << 30)
    names = {str(v): heading(f"{v} tile{'s' if v > 1 else ''}" if v else "blocks stay", "GB/s") for v in values}
    headings = {"what": "kernel", "load_bytes": heading("load", "bytes"), "between": "a thread waits for", **names}
    table = Table("Reading by 2048 threads per SM with one load each, against the tiles that a block takes before it ends", headings)
    for what, load, between in _WHO:
        cells: Row = {"what": what, "load_bytes": load, "between": between}
        for row in rows:
            if (row["what"], row["load_bytes"], row["between"]) == (what, load, between):
                rate = number(row.get("gb_per_s"))
                cells[str(row["tiles_per_block"])] = rate / 2 if what == "copy" else rate
        table.rows.append(cells)
    return table


def _turnover_blocks_table(tables: Tables) -> Table:
    headings = {
        "block": "threads per block",
        "empty": heading("blocks that end at once", "ms"),
        "ends": heading("one tile per block", "ms"),
        "stays": heading("blocks stay", "ms"),
    }
    table = Table("Copying by loads of 4 bytes, 2048 threads per SM, against the size of a block", headings)
    rows = [row for row in tables["turnover"].rows if row["load_bytes"] == 4 and row["threads_per_sm"] == 2048]
    for block in sorted({int(number(row["block"])) for row in rows}):
        cells: Row = {"block": block}
        for row in rows:
            if row["block"] == block and row["what"] == "nothing":
                cells["empty"] = row.get("median_ms")
            elif row["block"] == block and (row["what"], row["between"]) == ("copy", "its block"):
                place = {1: "ends", 0: "stays"}.get(int(number(row["tiles_per_block"])))
                if place:
                    cells[place] = row.get("median_ms")
        table.rows.append(cells)
    return table


def _turnover_flight_table(tables: Tables) -> Table:
    headings = {
        "in_flight": heading("in flight per SM, at most", "bytes"),
        "threads_per_sm": "threads per SM",
        "load_bytes": heading("load", "bytes"),
        "read": heading("reading", "GB/s"),
        "copy": heading("copying: reading", "GB/s"),
    }
    table = Table("One load per thread in flight, blocks that stay, nobody waits for anybody", headings)
    lines: dict[tuple[Value, Value], Row] = {}
    for row in tables["turnover"].rows:
        if row["block"] != 256 or row["tiles_per_block"] != 0 or row["between"] != "nothing" or row["what"] not in ("read", "copy"):
            continue
        line = lines.setdefault((row["in_flight"], row["load_bytes"]), {name: row[name] for name in ("in_flight", "threads_per_sm", "load_bytes")})
        rate = number(row.get("gb_per_s"))
        line[str(row["what"])] = rate / 2 if row["what"] == "copy" else rate
    table.rows = sorted(lines.values(), key=lambda row: (number(row["in_flight"]), number(row["load_bytes"])))
    return table


def _passages_narrow_table(tables: Tables) -> Table:
    source = tables["passages"]
    table = Table("Where the time of a warp goes: loads of 4 bytes, blocks of 256 threads, 2048 threads per SM", {})
    names = ("between", "tiles_per_block", "loading", "storing", "resident", "in_flight")
    table.headings = {name: source.headings[name] for name in names}
    for row in source.rows:
        if row["load_bytes"] == 4 and row["block"] == 256:
            table.rows.append({name: row.get(name) for name in names} | {"tiles_per_block": row["tiles_per_block"] or "stays"})
    return table


_WORKS = {
    "reverse": "none: the tile is stored in reverse",
    "sum": "the sum",
    "counted": "the sum, and the length",
    "without_memcpy_async": "all three, as `without_memcpy_async`",
}


def _work_pieces_table(tables: Tables) -> Table:
    headings = {"work": "work on a tile", "after": heading("asks for the next tile after it", "GB/s"), "before": heading("before it", "GB/s")}
    table = Table("Copies that compute, piece by piece: loads of 4 bytes, 2048 threads per SM, eight tiles for each block, two barriers for each tile", headings)
    for work, name in _WORKS.items():
        rows = tables["computing_copies"].where(work=work, load_bytes=4, steps=0)
        table.rows.append({"work": name} | {str(row["asks"]): row.get("gb_per_s") for row in rows})
    return table


def _work_steps_table(tables: Tables) -> Table:
    headings = {"steps": "multiply-adds for each float"}
    for load in (4, 16):
        for asks in ("after", "before"):
            headings[f"{asks}{load}"] = heading(f"{load} bytes, asks {asks} it", "GB/s")
    table = Table("The sum of neighbours with more to compute: 2048 threads per SM, eight tiles for each block, two barriers for each tile", headings)
    rows = tables["computing_copies"].where(work="sum")
    for steps in sorted({int(number(row["steps"])) for row in rows}):
        cells: Row = {"steps": steps}
        for row in rows:
            if row["steps"] == steps:
                cells[f"{row['asks']}{row['load_bytes']}"] = row.get("gb_per_s")
        table.rows.append(cells)
    return table


def _round_times_table(tables: Tables) -> Table:
    """A barrier's wait shows in what comes after it: what is known is the whole of a round."""
    headings = {
        "work": "work on a tile",
        "asks": "asks for the next tile",
        "loading": tables["rounds"].headings["loading"],
        "storing": heading("from there to the end", "cycles"),
        "round": heading("the round", "cycles"),
    }
    table = Table("How long a round takes: loads of 4 bytes, 2048 threads per SM, eight tiles for each block", headings)
    for row in tables["rounds"].rows:
        parts = [as_float(row.get(name)) for name in ("loading", "meeting", "using", "leaving")]
        known = some(*parts)
        cells: Row = {"work": _WORKS[str(row["work"])], "asks": f"{row['asks']} it", "loading": parts[0]}
        if len(known) == len(parts):
            cells |= {"storing": sum(known[1:]), "round": sum(known)}
        table.rows.append(cells)
    return table


def _launch_floor_table(tables: Tables) -> Table:
    table = Table(
        "The time between two events around a kernel that does nothing",
        {"blocks": "blocks of 256 threads", "us": heading("median", "µs"), "least": heading("least", "µs")},
    )
    for row in tables["empty_launch"].rows:
        table.rows.append({"blocks": row.get("blocks"), "us": _micro(row, "median_ms"), "least": _micro(row, "min_ms")})
    return table


def _micro(row: Row, name: str) -> float | None:
    time = row.get(name)
    return 1000 * time if isinstance(time, int | float) else None


def _mix_rates_table(tables: Tables) -> Table:
    headings = {"reads": "arrays read", "writes": "arrays written", "gb_per_s": heading("rate", "GB/s"), "share": heading("of the copy", "%")}
    table = Table("One kernel with more and fewer arrays, 4.3 GB in all", headings)
    table.rows = [{name: row.get(name) for name in headings} for row in tables["mixes"].rows]
    return table


def _copy_sizes_table(tables: Tables) -> Table:
    headings = {"bytes": heading("read and written", "bytes"), "least": heading("slowest place", "GB/s"), "most": heading("fastest place", "GB/s")}
    table = Table("The driver's copy by size, over five places in memory that are written", headings)
    rows = tables["copies"].where(who="driver")
    for size in dict.fromkeys(row.get("bytes") for row in rows):
        rates = [rate for row in rows if row.get("bytes") == size and isinstance(rate := row.get("gb_per_s"), int | float)]
        if rates:
            table.rows.append({"bytes": size, "least": min(rates), "most": max(rates)})
    return table


def _latency_claims(tables: Tables) -> Iterator[Claim]:
    rows = {str(row["memory"]): row.get("cycles") for row in tables["latencies"].rows}
    order = [name for name in rows if rows[name] is not None]
    for near, far in zip(order, order[1:], strict=False):
        figure = ratio(as_float(rows[far]), as_float(rows[near]))
        id = f"latency-{near}-{far}".replace(" ", "-").replace("(", "").replace(")", "")
        yield Claim(id, f"a load from {far} takes longer than one from {near}", figure, ">=", 1.1, "times")


def _little_claims(tables: Tables) -> Iterator[Claim]:
    rows = tables["little_best"].rows
    rates = {int(as_float(row["in_flight"]) or 0): as_float(row.get("gb_per_s")) for row in rows}
    most = max((rate for rate in rates.values() if rate), default=None)
    few = rates.get(1024)
    yield Claim(
        "little-few", "with 1 KiB in flight per SM a tenth of the bandwidth is out of reach", ratio(few, most), "<=", 0.1
    )
    yield Claim(
        "little-enough", "64 KiB in flight per SM give nearly all of it", ratio(rates.get(65536), most), ">=", 0.95
    )
    doubled = ratio(rates.get(4096), rates.get(2048))
    yield Claim("little-law", "far from the ceiling twice the bytes give nearly twice the rate", doubled, ">=", 1.6)


def _turnover_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["turnover"].rows)

    def time(what: str = "copy", between: str = "its block", load: int = 4, tiles: int = 1, block: int = 256, threads: int = 2048) -> float | None:
        return rows.time(what=what, between=between, load_bytes=load, tiles_per_block=tiles, block=block, threads_per_sm=threads)

    small = ratio(time("nothing", "nothing", block=64), time(block=64))
    yield Claim("turnover-small", "a copy by blocks of 64 threads and one tile takes as long as the coming and going of its blocks alone", small, ">=", 0.95)
    middle = ratio(time("nothing", "nothing"), time())
    yield Claim("turnover-alone", "blocks of 256 threads: coming and going alone takes most of the copy's time", middle, ">=", 0.6)
    yield Claim(
        "turnover-ends", "blocks that take 8 tiles beat blocks that end after one", ratio(time(), time(tiles=8)), ">=", 1.1, "times"
    )
    yield Claim(
        "turnover-reads", "the same where nothing is written and nobody waits for anybody",
        ratio(time("read", "nothing"), time("read", "nothing", tiles=8)), ">=", 1.2, "times",
    )
    yield Claim(
        "turnover-barrier", "one tile per block: waiting for the block instead of the warp costs little",
        ratio(time(), time(between="its warp")), "<=", 1.05, "times",
    )
    yield Claim(
        "turnover-barrier-loop", "eight tiles per block: waiting for the block costs more",
        ratio(time(tiles=8), time(between="its warp", tiles=8)), ">=", 1.05, "times",
    )
    yield Claim(
        "turnover-width", "as many blocks, as many bytes for each: one load of 16 bytes beats four of 4, one after the other",
        ratio(time(tiles=4), time(load=16)), ">=", 1.25, "times",
    )
    small_wide, large_wide = (time(between="nothing", load=16, block=block) for block in (64, 256))
    yield Claim(
        "turnover-first-bytes", "as many blocks as the slow copy, as many bytes for each, nobody waits: loads of 16 bytes beat loads of 4",
        ratio(time(between="nothing"), small_wide), ">=", 1.2, "times",
    )
    yield Claim("turnover-then-blocks", "a quarter as many blocks then gains again", ratio(small_wide, large_wide), ">=", 1.15, "times")
    alike = ratio(time(between="nothing", tiles=0), time(between="nothing", load=16, tiles=0, threads=512))
    yield Claim("flight-alike-most", "8 KiB in flight per SM: 2048 threads with 4 bytes copy no slower than 512 with 16", alike, "<=", 1.08, "times")
    yield Claim("flight-alike-least", "and no faster", alike, ">=", 0.92, "times")
    few, more, most = (time(between="nothing", load=16, tiles=0, threads=threads) for threads in (512, 1536, 2048))
    yield Claim("flight-copy-few", "8 KiB in flight are too few for a copy, though an idle memory would need no more", ratio(few, most), ">=", 1.2, "times")
    yield Claim("flight-copy-enough", "24 KiB are as good as 32", ratio(more, most), "<=", 1.02, "times")


def _passages_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["passages"].rows)

    def figure(name: str, tiles: int, between: str = "its block") -> float | None:
        return rows.figure(name, between=between, load_bytes=4, block=256, tiles_per_block=tiles)

    idle = Rows(tables["latency"].rows).figure("cycles", memory="global memory")
    yield Claim("passages-busy", "a load from a busy memory takes longer than one from an idle memory", ratio(figure("loading", 0), idle), ">=", 1.2, "times")
    yield Claim("passages-gone", "blocks that end after one tile: of 64 places for warps some stand empty", figure("resident", 1), "<=", 54, "warps")
    yield Claim("passages-stay", "blocks that stay: none does", figure("resident", 0), ">=", 55, "warps")
    store = ratio(figure("storing", 0, "its warp"), idle)
    yield Claim("passages-store", "a warp that has its value does not wait for its store: it takes a part of a load's time", store, "<=", 0.3)
    meet = ratio(figure("storing", 0), figure("storing", 0, "its warp"))
    yield Claim("passages-meet", "a warp that waits for its block waits longer than one that does not", meet, ">=", 2, "times")


def _work_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["computing_copies"].rows)

    def time(work: str = "sum", asks: str = "after", load: int = 4, steps: int = 0) -> float | None:
        return rows.time(work=work, asks=asks, load_bytes=load, steps=steps)

    yield Claim("work-sum", "adding the neighbour costs the second slow copy hardly anything", ratio(time(), time("reverse")), "<=", 1.03, "times")
    yield Claim("work-length", "computing the length of a tile costs it much", ratio(time("counted"), time()), ">=", 1.08, "times")
    yield Claim("work-product", "finding the tile by a product costs it nothing", ratio(time("without_memcpy_async"), time("counted")), "<=", 1.02, "times")
    yield Claim(
        "work-early", "with the next tile asked for before the work the same copy is faster",
        ratio(time("counted"), time("counted", "before")), ">=", 1.15, "times",
    )
    yield Claim(
        "work-hidden", "and its work costs hardly anything, while a load is under way",
        ratio(time("counted", "before"), time("reverse", "before")), "<=", 1.03, "times",
    )
    wide = rows.figure("share", work="sum", asks="after", load_bytes=16, steps=0)
    yield Claim("work-wide", "with loads of 16 bytes it is fast even if it asks last", wide, ">=", 95, "%")
    longer = ratio(time(load=16, steps=64), time(asks="before", load=16, steps=64))
    yield Claim("work-longer", "where a thread computes longer, asking early gains with 16 bytes, too", longer, ">=", 1.05, "times")


def _slow_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["slow_copies"].rows)
    large, small = 1 << 27, 100_000_000
    array = ratio(rows.figure("gb_per_s", kernel="one_per_thread", floats=large), rows.figure("gb_per_s", kernel="one_per_thread", floats=small))
    yield Claim("slow-array", "the slow copy is as fast on the program's array as on the experiment's", array, "<=", 1.015, "times")
    length = ratio(rows.time(kernel="one_per_thread", floats=large), rows.time(kernel="move_tiles", floats=large))
    yield Claim("slow-length", "it is slower than the experiment's kernel, which computes no lengths, on the same array", length, ">=", 1.02, "times")


def _strides_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["strides"].rows)
    yield Claim(
        "stride-l1", "the strided loop loses little without L1",
        ratio(rows.time(kernel="loop_strided, past L1"), rows.time(kernel="loop_strided")), "<=", 1.15, "times",
    )
    yield Claim(
        "stride-only", "the coalesced loop does not need L1",
        ratio(rows.time(kernel="loop_coalesced, past L1"), rows.time(kernel="loop_coalesced")), "<=", 1.05, "times",
    )


def _mixes_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["mixes"].rows)

    def rate(reads: int, writes: int) -> float | None:
        return rows.figure("gb_per_s", reads=reads, writes=writes)

    even = rate(1, 1)
    yield Claim("mixes-reads", "a kernel that only reads gets more than one that reads and writes", ratio(rate(1, 0), even), ">=", 1.03, "times")


BENCH = Bench(
    raw=("little", "turnover", "passages", "computing_copies", "rounds", "slow_copies", "strides", "mixes", "empty_launch", "copies"),
    tables={
        "latencies": (("latency",), _latencies_table),
        "little_best": (("little",), _little_table),
        "turnover_tiles": (("turnover",), _turnover_tiles_table),
        "turnover_blocks": (("turnover",), _turnover_blocks_table),
        "turnover_flight": (("turnover",), _turnover_flight_table),
        "passages_narrow": (("passages",), _passages_narrow_table),
        "work_pieces": (("computing_copies",), _work_pieces_table),
        "work_steps": (("computing_copies",), _work_steps_table),
        "round_times": (("rounds",), _round_times_table),
        "slow_copies_short": (("slow_copies",), without_spread("slow_copies")),
        "strides_short": (("strides",), without_spread("strides")),
        "launch_floor": (("empty_launch",), _launch_floor_table),
        "mix_rates": (("mixes",), _mix_rates_table),
        "copy_sizes": (("copies",), _copy_sizes_table),
    },
    claims=(
        (("latencies",), _latency_claims),
        (("little_best",), _little_claims),
        (("turnover",), _turnover_claims),
        (("passages", "latency"), _passages_claims),
        (("computing_copies",), _work_claims),
        (("slow_copies",), _slow_claims),
        (("strides",), _strides_claims),
        (("mixes",), _mixes_claims),
    ),
)
