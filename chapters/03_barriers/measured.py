"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Callable, Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, as_float, ratio, some
from cli.bench_tables import number

CLOCK, TILES = "the clock", 512


def _sync_cost_table(tables: Tables) -> Table:
    """The cycles of each operation against the number of warps."""
    rows = tables["sync_cycles"].rows
    warps = sorted({int(number(row["warps"])) for row in rows})
    headings = {str(w): heading(f"{w} warp{'s' if w > 1 else ''}", "cycles") for w in warps}
    table = Table("One operation after the other: cycles of each, by the number of warps", {"operation": "operation", **headings})
    lines: dict[str, Row] = {}
    for row in rows:
        line = lines.setdefault(str(row["operation"]), {"operation": row["operation"]})
        line[str(row["warps"])] = row.get("cycles")
    table.rows = list(lines.values())
    return table


def _fence_cost_table(tables: Tables) -> Table:
    """The cycles of each fence against what it has to order."""
    rows = [row for row in tables["fence_cycles"].rows if row["warps"] == 1]
    places = list(dict.fromkeys(str(row["after"]) for row in rows))
    headings = {place: heading(f"after {place}", "cycles") for place in places}
    table = Table("One fence after the other, one warp: cycles of each, with the store before it", {"fence": "fence", **headings})
    lines: dict[str, Row] = {}
    for row in rows:
        line = lines.setdefault(str(row["fence"]), {"fence": row["fence"]})
        line[str(row["after"])] = row.get("cycles")
    table.rows = list(lines.values())
    return table


def _twins_loads_table(tables: Tables) -> Table:
    """The twins by the loads that each producer has on its way."""
    rows = [row for row in tables["twins"].rows if not str(row["wait"]).startswith("producer")]
    loads = sorted({int(number(row["loads"])) for row in rows})
    headings = {str(n): heading(f"{n} at a time" if n else "as compiled", "ms") for n in loads}
    table = Table("The twins by the loads of each producer on their way", {"wait": "wait", "loops": "loops", **headings})
    lines: dict[tuple[Value, Value], Row] = {}
    for row in rows:
        line = lines.setdefault((row["wait"], row["loops"]), {"wait": row["wait"], "loops": row["loops"]})
        line[str(row["loads"])] = row.get("median_ms")
    table.rows = list(lines.values())
    return table


def _pair_rates_table(tables: Tables) -> Table:
    headings = {"read": "read", "written": "written", "gb_per_s": heading("rate", "GB/s"), "share": heading("of the copy", "%")}
    table = Table("The kernel of two copies, 1 GB in all", headings)
    table.rows = [{name: row.get(name) for name in headings} for row in tables["pair_mixes"].rows]
    return table


def _pair_mixes_claims(tables: Tables) -> Iterator[Claim]:
    shares = {row.get("written"): as_float(row.get("share")) for row in tables["pair_mixes"].rows}
    figure = ratio(shares.get("sums"), shares.get("sums and codes"))
    yield Claim(
        "pair-mixes", "six bytes read for four written get a larger share of the copy than six for six", figure, ">=", 1.01, "times"
    )


def _barriers_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["sync_cycles"].rows, "operation")

    def cycles(operation: str, warps: int) -> float | None:
        return rows.figure("cycles", operation=operation, warps=warps)

    block, library = cycles("__syncthreads()", 8), cycles("cuda::barrier, arrive_and_wait()", 8)
    yield Claim("sync-block", "8 warps: a round of cuda::barrier takes more than __syncthreads()", ratio(library, block), ">=", 2, "times")
    many = ratio(cycles("__syncthreads()", 32), cycles("__syncthreads()", 8))
    yield Claim("sync-warps", "__syncthreads() of 32 warps takes more than of 8", many, ">=", 2, "times")
    hit, miss = (cycles(f"test_wait, phase {state}complete", 8) for state in ("", "not "))
    yield Claim("sync-look", "8 warps: a look that fails takes no longer than one that succeeds", ratio(miss, hit), "<=", 1.05, "times")
    arrive, look = cycles("mbarrier.arrive, all lanes", 1), cycles("try_wait, phase complete", 1)
    yield Claim("sync-arrive", "one warp: a look takes longer than an arrival", ratio(look, arrive), ">=", 3, "times")
    all_lanes, one_lane = (cycles(f"mbarrier.arrive, {who}", 8) for who in ("all lanes", "one lane of each warp"))
    yield Claim("sync-one-lane", "8 warps: arrivals of all lanes take no longer than those of one lane", ratio(all_lanes, one_lane), "<=", 1.1, "times")


def _fences_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["fence_cycles"].rows, "fence")

    def cycles(fence: str, after: str = "nothing") -> float | None:
        return rows.figure("cycles", fence=fence, after=after, warps=1)

    block, device, system = (cycles(f"__threadfence{scope}()") for scope in ("_block", "", "_system"))
    yield Claim("fence-device", "the fence of the GPU takes longer than that of the block", ratio(device, block), ">=", 10, "times")
    yield Claim("fence-system", "the fence of the system takes longer than that of the GPU", ratio(system, device), ">=", 2, "times")
    shared, everywhere = cycles("fence.proxy.async.shared::cta"), cycles("fence.proxy.async")
    yield Claim("fence-proxy", "the proxy fence for shared memory takes about as long as the block's fence", ratio(shared, block), "<=", 1.5, "times")
    yield Claim("fence-proxy-all", "the proxy fence for all memory takes longer than that for shared memory", ratio(everywhere, shared), ">=", 5, "times")
    yield Claim("fence-init", "fence.mbarrier_init takes next to nothing", cycles("fence.mbarrier_init.release.cluster"), "<=", 4, "cycles")
    waits = ratio(cycles("__threadfence()", "a store to global memory"), device)
    yield Claim("fence-waits", "the fence of the GPU takes longer after a store to global memory", waits, ">=", 1.2, "times")


def _turns_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["turn_cycles"].rows, "signal")
    sleeping, polling = (rows.figure("cycles", signal=f"mbarrier, arrive and {how}_wait") for how in ("try", "test"))
    yield Claim("turns-try", "who waits by try_wait hears sooner than who polls by test_wait", ratio(polling, sleeping), ">=", 1.3, "times")
    named = rows.figure("cycles", signal="bar.arrive and bar.sync")
    yield Claim("turns-named", "a named barrier hands over sooner than an mbarrier", ratio(sleeping, named), ">=", 1.5, "times")


def _misses_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["try_wait_misses"].rows, "delay")
    yield Claim("try-wait-sleeps", "a try_wait that fails has slept", rows.figure("per_look", delay=1_000_000), ">=", 1000, "cycles")
    yield Claim("try-wait-wakes", "a try_wait that slept returns soon after the arrival", rows.figure("cycles", delay=1_000_000), "<=", 200, "cycles")


def _twins_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["twins"].rows, "wait")
    eight = some(*(rows.time(wait=wait, loads=8) for wait in ("cuda::barrier, token", "mbarrier, token", "mbarrier, parity")))
    apart = ratio(max(eight, default=None), min(eight, default=None))
    yield Claim("twins-equal", "eight loads at a time: whatever the wait, the times agree", apart, "<=", 1.06, "times")
    meets = ratio(rows.time(wait="__syncthreads()", loads=8), rows.time(wait="mbarrier, parity", loops="one", loads=8))
    apart = max(meets, 1 / meets) if meets else None
    yield Claim("twins-meeting", "eight loads at a time: a ring that meets at __syncthreads() is as fast", apart, "<=", 1.06, "times")
    few = ratio(rows.time(wait="mbarrier, parity", loads=1), rows.time(wait="mbarrier, parity", loads=8))
    yield Claim("twins-loads", "one load at a time takes longer than eight", few, ">=", 2, "times")
    twin = ratio(rows.time(wait="producer_consumer_mbarrier"), rows.time(wait="mbarrier, parity", loads=8))
    yield Claim("twins-gain", "producer_consumer_mbarrier gains by eight loads at a time", twin, ">=", 1.3, "times")


def _split_table(tables: Tables) -> Table:
    """What a wait takes that is split, and one that is not, beside the sum and the greater of the two times."""
    table = Table(
        "Cycles of a round in which one warp comes late and all have work of their own: the work after the wait, and before it",
        {
            "late": "the late warp's multiply-adds",
            "own": "everybody's own",
            "late_cycles": heading("these alone", "cycles"),
            "own_cycles": heading("those alone", "cycles"),
            "joined": heading("arrive and wait, then work", "cycles"),
            "split": heading("arrive, work, wait", "cycles"),
        },
    )
    lines: dict[tuple[Value, Value], Row] = {}
    for row in tables["split_wait"].rows:
        line = lines.setdefault((row["late"], row["own"]), {name: row.get(name) for name in ("late", "own", "late_cycles", "own_cycles")})
        line[str(row["kernel"])] = row.get("cycles")
    table.rows = [line for (late, _), line in lines.items() if late in (0, 200, 800)]
    return table


def _uneven_table(tables: Tables) -> Table:
    """A tile's time with empty barriers and with a meeting of all, both fed by bulk copies."""
    table = Table(
        "The ring of the chapter, fed by bulk copies: the time of a tile of one block, by how a buffer is handed back",
        {
            "blocks_per_sm": "blocks on an SM",
            "buffers": "buffers",
            "spread": "work of the warps",
            "work": "multiply-adds a tile",
            "pair": heading("full and empty barriers", "ns"),
            "meeting": heading("`__syncthreads()`", "ns"),
            "longer": "times as long",
        },
    )
    table.rows = _both_ways(
        tables,
        ("blocks_per_sm", "buffers", "spread", "work"),
        lambda row: row["busy"] != CLOCK and row["tiles"] == TILES and row["work"] in (0, 128, 512),
    )
    return table


def _uneven_cause_table(tables: Tables) -> Table:
    """The opening's case with more tiles and fewer, and with work that takes as long whatever the others do."""
    table = Table(
        "The rings of the opening by the tiles of each block; and with warps that look at the clock for as long as the multiply-adds take",
        {
            "buffers": "buffers",
            "busy": "a warp is kept busy by",
            "tiles": "tiles of a block",
            "pair": heading("full and empty barriers", "ns"),
            "meeting": heading("`__syncthreads()`", "ns"),
            "longer": "times as long",
        },
    )
    table.rows = _both_ways(
        tables,
        ("buffers", "busy", "tiles"),
        lambda row: (row["blocks_per_sm"], row["spread"], row["work"]) == (1, "uneven", 512),
    )
    table.rows.sort(key=lambda row: (number(row["buffers"]), row["busy"] == CLOCK, number(row["tiles"])))
    return table


def _both_ways(tables: Tables, about: tuple[str, ...], wanted: Callable[[Row], bool]) -> list[Row]:
    """The wanted rows of uneven_ring with bulk copies, both ways of handing over side by side."""
    lines: dict[tuple[Value, ...], Row] = {}
    bulk = (row for row in tables["uneven_ring"].rows if row["source"] == "one bulk copy")
    for row in filter(wanted, bulk):
        line = lines.setdefault(tuple(row[name] for name in about), {name: row[name] for name in about})
        line["meeting" if row["handover"] == "__syncthreads()" else "pair"] = row.get("tile_ns")
    for line in lines.values():
        line["longer"] = ratio(as_float(line.get("meeting")), as_float(line.get("pair")))
    return list(lines.values())


def _split_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["split_wait"].rows)

    def cycles(kernel: str, late: int, own: int) -> float | None:
        return rows.figure("cycles", kernel=kernel, late=late, own=own)

    alone = rows.figure("late_cycles", kernel="split", late=400, own=200)
    own = rows.figure("own_cycles", kernel="split", late=400, own=200)
    both = None if alone is None or own is None else alone + own
    yield Claim("split-sum", "a late warp of 400 multiply-adds, 200 of everybody's own after the wait: the round against the sum", ratio(cycles("joined", 400, 200), both), ">=", 0.9, "times")
    yield Claim("split-greater", "the same work before the wait: the round against the late warp alone", ratio(cycles("split", 400, 200), alone), "<=", 1.1, "times")
    yield Claim("split-nothing", "nobody late: work before the wait gains next to nothing", ratio(cycles("joined", 0, 400), cycles("split", 0, 400)), "<=", 1.05, "times")


def _uneven_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(_uneven_table(tables).rows)

    def longer(blocks: int, buffers: int, spread: str, work: int) -> float | None:
        return rows.figure("longer", blocks_per_sm=blocks, buffers=buffers, spread=spread, work=work)

    yield Claim("uneven-two", "one block on an SM, uneven warps, two buffers: a meeting after each tile takes longer", longer(1, 2, "uneven", 512), ">=", 1.2, "times")
    yield Claim("uneven-four", "the same with four buffers", longer(1, 4, "uneven", 512), ">=", 1.35, "times")
    yield Claim("uneven-even", "the same with even warps: it takes hardly longer", longer(1, 4, "even", 512), "<=", 1.05, "times")
    yield Claim("uneven-crowd", "eight blocks on an SM, uneven warps, two buffers: it takes hardly longer", longer(8, 2, "uneven", 512), "<=", 1.08, "times")

    causes = Rows(_uneven_cause_table(tables).rows)

    def by_tiles(tiles: int) -> float | None:
        return causes.figure("longer", buffers=4, busy="multiply-adds", tiles=tiles)

    yield Claim("uneven-luck", "four buffers, uneven warps: how many times as long the meeting takes with 4,096 tiles a block, against 64", ratio(by_tiles(4096), by_tiles(64)), ">=", 1.1, "times")
    clock = causes.figure("longer", buffers=4, busy=CLOCK, tiles=TILES)
    yield Claim("uneven-clock", "the same by warps that look at the clock in place of multiply-adds: no longer", ratio(clock, by_tiles(TILES)), "<=", 1.03, "times")


BENCH = Bench(
    raw=("sync_cycles", "fence_cycles", "twins", "pair_mixes", "split_wait", "uneven_ring"),
    tables={
        "sync_cost": (("sync_cycles",), _sync_cost_table),
        "fence_cost": (("fence_cycles",), _fence_cost_table),
        "twins_loads": (("twins",), _twins_loads_table),
        "pair_rates": (("pair_mixes",), _pair_rates_table),
        "split_read": (("split_wait",), _split_table),
        "uneven_read": (("uneven_ring",), _uneven_table),
        "uneven_cause": (("uneven_ring",), _uneven_cause_table),
    },
    claims=(
        (("pair_mixes",), _pair_mixes_claims),
        (("sync_cycles",), _barriers_claims),
        (("fence_cycles",), _fences_claims),
        (("turn_cycles",), _turns_claims),
        (("try_wait_misses",), _misses_claims),
        (("twins",), _twins_claims),
        (("split_wait",), _split_claims),
        (("uneven_ring",), _uneven_claims),
    ),
)
