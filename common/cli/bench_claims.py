"""What the measurements must show: each claim of the book about speed, with its figure and its bound.

A claim is checked where its tables are there; `./workbook bench 8` checks those of chapter 8 only.
"""

from collections.abc import Callable, Iterator

from . import bench_claims_clusters, bench_claims_sync
from .bench_file import Claim, Tables
from .bench_rows import Rows, ratio
from .bench_rows import as_float as _float
from .bench_rows import some as _some
from .bench_tables import LARGE, best

MIDDLE = "8192 x 8192"
SLOWER = 1.0  # the one takes no less time than the other
COPIES_AGREE = 2.0  # per cent between the copies before and after


def check(tables: Tables) -> list[Claim]:
    """All claims whose tables are there."""
    return [
        claim
        for needs, make in _CLAIMS
        if all(name in tables and tables[name].rows for name in needs)
        for claim in make(tables)
    ]


def _latency(tables: Tables) -> Iterator[Claim]:
    rows = {str(row["memory"]): row.get("cycles") for row in tables["latencies"].rows}
    order = [name for name in rows if rows[name] is not None]
    for near, far in zip(order, order[1:], strict=False):
        figure = ratio(_float(rows[far]), _float(rows[near]))
        id = f"latency-{near}-{far}".replace(" ", "-").replace("(", "").replace(")", "")
        yield Claim(id, f"a load from {far} takes longer than one from {near}", figure, ">=", 1.1, "times")


def _little(tables: Tables) -> Iterator[Claim]:
    rows = tables["little_best"].rows
    rates = {int(_float(row["in_flight"]) or 0): _float(row.get("gb_per_s")) for row in rows}
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


def _turnover(tables: Tables) -> Iterator[Claim]:
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
    alike = ratio(time(between="nothing", tiles=0), time(between="nothing", load=16, tiles=0, threads=512))
    yield Claim("flight-alike-most", "8 KiB in flight per SM: 2048 threads with 4 bytes copy no slower than 512 with 16", alike, "<=", 1.08, "times")
    yield Claim("flight-alike-least", "and no faster", alike, ">=", 0.92, "times")
    few, more, most = (time(between="nothing", load=16, tiles=0, threads=threads) for threads in (512, 1536, 2048))
    yield Claim("flight-copy-few", "8 KiB in flight are too few for a copy, though an idle memory would need no more", ratio(few, most), ">=", 1.2, "times")
    yield Claim("flight-copy-enough", "24 KiB are as good as 32", ratio(more, most), "<=", 1.02, "times")


def _passages(tables: Tables) -> Iterator[Claim]:
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


def _strides(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["strides"].rows)
    yield Claim(
        "stride-l1", "the strided loop loses little without L1",
        ratio(rows.time(kernel="loop_strided, past L1"), rows.time(kernel="loop_strided")), "<=", 1.15, "times",
    )
    yield Claim(
        "stride-only", "the coalesced loop does not need L1",
        ratio(rows.time(kernel="loop_coalesced, past L1"), rows.time(kernel="loop_coalesced")), "<=", 1.05, "times",
    )


def _flags(tables: Tables) -> Iterator[Claim]:
    rows = tables["cp_async_flags"].rows
    plain, predicate, read, both = (_float(row.get("median_ms")) for row in rows[:4])
    yield Claim("flags-predicate", "ignore-src alone costs nothing", ratio(predicate, plain), "<=", 1.02, "times")
    yield Claim("flags-read", "reading a flag for each element costs time, with no predicate", ratio(read, plain), ">=", 1.15, "times")
    yield Claim("flags-both", "and the predicate adds nothing to it", ratio(both, read), "<=", 1.03, "times")


def _groups(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["cp_async_groups"].rows)
    ring = {each: rows.time(kernel="groups_in_flight", stages=4, tiles_per_block=each) for each in (0, 2)}
    yield Claim("groups-grid", "four groups in flight: blocks that stay are slower than blocks that take two tiles", ratio(ring[0], ring[2]), ">=", 1.08, "times")
    plain = ratio(ring[2], rows.time(kernel="copy_16_bytes"))
    yield Claim("groups-ring", "with two tiles per block the ring is no slower than copy_16_bytes", plain, "<=", 1.02, "times")


def _index(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["pipeline_index"].rows)

    def slower(bits: int, stages: int) -> float | None:
        counted = rows.time(kernel="n_stages", stages=stages, blocks_per_sm=6)
        return ratio(rows.time(kernel=f"remainder of {bits} bits", stages=stages, blocks_per_sm=6), counted)

    for stages in (3, 6):
        yield Claim(f"index-long-{stages}", f"{stages} stages: a remainder of 64 bits is slower than counting", slower(64, stages), ">=", 1.03, "times")
        yield Claim(f"index-short-{stages}", f"{stages} stages: so is one of 32 bits", slower(32, stages), ">=", 1.01, "times")
    yield Claim("index-mask", "4 stages: hardly, where the remainder is a mask", slower(64, 4), "<=", 1.02, "times")
    times = [rows.time(kernel="n_stages", stages=stages, blocks_per_sm=6) for stages in (2, 3, 4, 6, 8)]
    known = _some(*times)
    yield Claim("index-flat", "two to eight stages, six blocks per SM: within a few per cent", ratio(max(known, default=None), min(known, default=None)), "<=", 1.04, "times")


def _arithmetic(tables: Tables) -> Iterator[Claim]:
    rows, alone = Rows(tables["pipeline_stages"].rows), Rows(tables["pipeline_arithmetic"].rows)
    for work, relation, bound in ((1, "<=", 0.4), (64, ">=", 0.5)):
        share = ratio(alone.time(work=work), rows.time(kernel="n_stages", work=work))
        yield Claim(f"arithmetic-{work}", f"{work} multiply-adds: the part of n_stages' time that they take alone", share, relation, bound)


def _entangled(tables: Tables) -> Iterator[Claim]:
    rows = {str(row["commits"]): row for row in tables["entangled_wait"].rows}
    part = {name: ratio(_float(row.get("older")), _float(row.get("all"))) for name, row in rows.items()}
    yield Claim("entangled-together", "a warp that commits together does not wait for its newer batch", part.get("together"), "<=", 0.3)
    yield Claim("entangled-halves", "a warp that commits in two halves does", part.get("in two halves"), ">=", 0.7)


def _mixes(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["mixes"].rows)

    def rate(reads: int, writes: int) -> float | None:
        return rows.figure("gb_per_s", reads=reads, writes=writes)

    even = rate(1, 1)
    yield Claim("mixes-reads", "a kernel that only reads gets more than one that reads and writes", ratio(rate(1, 0), even), ">=", 1.03, "times")


def _pair_mixes(tables: Tables) -> Iterator[Claim]:
    shares = {row.get("written"): _float(row.get("share")) for row in tables["pair_mixes"].rows}
    figure = ratio(shares.get("sums"), shares.get("sums and codes"))
    yield Claim(
        "pair-mixes", "six bytes read for four written get a larger share of the copy than six for six", figure, ">=", 1.01, "times"
    )


def _paths(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["copy_paths"].rows, "path")
    yield Claim(
        "stream-bulk",
        "a ring of bulk loads streams at the speed of the copy",
        max(_some(rows.share(path="bulk load"), rows.share(path="bulk load and store")), default=None),
        ">=",
        97,
        "%",
    )
    yield Claim(
        "stream-async", "cp.async of 16 bytes streams nearly as fast as the copy", rows.share(path="cp.async, 16 bytes"), ">=", 96, "%"
    )
    wide, narrow = rows.time(path="cp.async, 16 bytes"), rows.time(path="cp.async, 4 bytes")
    yield Claim("wide-async", "cp.async: 16 bytes per access beat 4", ratio(narrow, wide), ">=", 1.01, "times")
    plain = min(_some(*(rows.time(path=f"registers, {n} bytes") for n in (4, 16))), default=None)
    fastest = min(_some(*(rows.time(path=path) for path in _ASYNC)), default=None)
    yield Claim(
        "plain-loses-little", "with the best tile, no way of copying beats plain registers by much", ratio(plain, fastest), "<=", 1.1, "times"
    )
    stay = rows.time(path="bulk load", tiles_per_block=0)
    leave = min(_some(*(rows.time(path="bulk load", tiles_per_block=each) for each in (1, 4, 16))), default=None)
    yield Claim("blocks-make-room", "bulk loads: blocks that take a few tiles each beat blocks that stay", ratio(stay, leave), ">=", 1.02, "times")
    few_plain = rows.time(path="registers, 16 bytes", tile_bytes=2048, tiles_per_block=0)
    few_async = rows.time(path="cp.async, 16 bytes", tile_bytes=2048, stages=3, tiles_per_block=0)
    yield Claim(
        "async-wins-small", "tiles of 2 KiB: three stages of cp.async beat plain registers", ratio(few_plain, few_async), ">=", 1.3, "times"
    )
    one = rows.time(path="bulk load", tile_bytes=2048, stages=1, tiles_per_block=0)
    two = rows.time(path="bulk load", tile_bytes=2048, stages=2, tiles_per_block=0)
    yield Claim("stages-bulk", "tiles of 2 KiB: two stages of bulk loads beat one", ratio(one, two), ">=", 1.1, "times")


_ASYNC = ("cp.async, 4 bytes", "cp.async, 8 bytes", "cp.async, 16 bytes", "bulk load", "bulk load and store")


_PIPELINES = ("n_stages", "thread_scope", "specialized_warps", "four_at_a_time")


def _pipeline(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["pipeline_stages"].rows)
    yield Claim(
        "stream-pipeline",
        "a pipeline with little arithmetic streams at the speed of the copy",
        max(_some(*(rows.share(kernel=k, work=1) for k in _PIPELINES)), default=None),
        ">=",
        97,
        "%",
    )
    one = rows.time(kernel="single_stage", work=1, blocks_per_sm=1)
    two = rows.time(kernel="n_stages", stages=2, work=1, blocks_per_sm=1)
    four = rows.time(kernel="n_stages", stages=4, work=1, blocks_per_sm=1)
    yield Claim("stages-two", "one block per SM: two stages beat one", ratio(one, two), ">=", 1.1, "times")
    yield Claim("stages-four", "one block per SM: four stages beat two", ratio(two, four), ">=", 1.02, "times")
    unified = rows.time(kernel="with_specialized_staging_unified", work=1)
    warps = rows.time(kernel="specialized_warps", work=1)
    yield Claim("roles-warps", "roles for whole warps beat roles for even and odd threads", ratio(unified, warps), ">=", SLOWER, "times")


def _timeline(tables: Tables) -> Iterator[Claim]:
    rows = tables["pipeline_timeline"]
    for stages in (1, 2, 4):
        tiles = rows.where(stages=stages)
        if len(tiles) < 2 or tiles[0].get("issued") is None:
            continue
        early = sum(
            (_float(later["issued"]) or 0) < (_float(tile["computed"]) or 0) for tile, later in zip(tiles, tiles[1:], strict=False)
        )
        count = len(tiles) - 1
        if stages == 1:
            yield Claim("timeline-1", "one stage: no copy is issued before the tile before was computed", early, "<=", 0)
        else:
            sentence = f"{stages} stages: the next copy is issued before this tile is computed"
            yield Claim(f"timeline-{stages}", sentence, early, ">=", count)


def _ring(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["axpy_ring"].rows)
    yield Claim("stream-axpy", "the ring of chapter 5 streams at the speed of the copy", rows.share(kernel="axpy_ring"), ">=", 97, "%")


def _columns(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["column_cost"].rows)

    def cycles(layout: str, access: str) -> float | None:
        return rows.figure("cycles", layout=layout, access=access)

    none, padded = cycles("no swizzle", "4 bytes"), cycles("padding", "4 bytes")
    for mode in ("32 bytes", "64 bytes", "128 bytes"):
        id = mode.split()[0]
        sentence = f"columns, 4 bytes per lane: the swizzle of {mode} leaves four of 32 turns"
        yield Claim(f"columns-{id}", sentence, ratio(none, cycles(mode, "4 bytes")), ">=", 7.5, "times")
    yield Claim("columns-padding", "columns, 4 bytes per lane: padding leaves one turn", padded, "<=", 1.1, "cycles")
    by_map = cycles("padding of 16 bytes", "4 bytes")
    if by_map is not None:
        yield Claim("columns-pad-16", "columns, 4 bytes per lane: a pad of 16 bytes leaves four turns, as a swizzle does", by_map, ">=", 3.9, "cycles")
    wide = cycles("128 bytes", "16 bytes")
    yield Claim("columns-free", "columns, 16 bytes per lane, any swizzle: the four cycles that 512 bytes take", wide, "<=", 4.4, "cycles")
    slow = cycles("no swizzle", "16 bytes")
    yield Claim("columns-wide", "columns, 16 bytes per lane: without swizzle eight times as long", ratio(slow, wide), ">=", 7.5, "times")


def _panels(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["column_sums"].rows, column="layout")

    def time(layout: str) -> float | None:
        return rows.time(layout=layout, access="16 bytes")

    for mode, copies in (("32 bytes", "four copies"), ("64 bytes", "two copies")):
        one, several = time(mode), time(f"{mode}, {copies}")
        if one and several:
            apart = 100 * abs(one / several - 1)
            yield Claim(f"panels-{mode.split()[0]}", f"one copy of panels takes as long as {copies}", apart, "<=", 3, "%")
    if (padded := time("padding by the map")) is not None:
        yield Claim("pad-map", "a pad by the map costs little", ratio(padded, time("128 bytes")), "<=", 1.12, "times")
        yield Claim("pad-free", "and spares the conflicts", ratio(time("no swizzle"), padded), ">=", 1.3, "times")
    if (hidden := time("no swizzle, two tiles")) is not None:
        yield Claim("conflicts-hidden", "two tiles in turn hide conflicts", ratio(time("no swizzle"), hidden), ">=", 1.2, "times")


def _blocks(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["column_sums_blocks"].rows, column="layout")
    for blocks in (8, 1):
        plain = rows.time(layout="no swizzle", blocks_per_sm=blocks)
        swizzled = rows.time(layout="128 bytes", blocks_per_sm=blocks)
        more = plain - swizzled if plain is not None and swizzled is not None else None
        sentence = f"conflicts cost what they take in shared memory, {blocks} blocks per SM"
        yield Claim(f"conflicts-{blocks}", sentence, more, ">=", 0.14, "ms")


def _tiles(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["tile_shapes"].rows, column="layout")
    small = {"row_bytes": 32, "rows": 32}
    swizzled = rows.time(layout="32 bytes", threads=256, **small)
    plain = rows.time(layout="no swizzle", threads=256, **small)
    few = rows.time(layout="32 bytes", threads=64, **small)
    tall = rows.time(layout="32 bytes", threads=256, row_bytes=32, rows=128)
    wide = rows.time(layout="128 bytes", threads=256, row_bytes=128, rows=32)
    yield Claim("tiles-mode", "a small tile is as slow without swizzle", ratio(swizzled, plain), "<=", 1.03, "times")
    yield Claim("tiles-under-way", "as many small tiles, four times as many under way", ratio(swizzled, few), ">=", 1.5, "times")
    yield Claim("tiles-rows", "of tiles of one size the one with longer rows is faster", ratio(tall, wide), ">=", 1.1, "times")


def _boxes(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["box_ranks"].rows, column="box")
    for bytes in (320, 960, 3840):
        times = [row for row in rows.rows if row.get("bytes") == bytes and row.get("blocks_per_sm") == 32]
        spread = _some(*(_float(row.get("median_ms")) for row in times))
        if len(spread) > 1:
            yield Claim(f"boxes-rank-{bytes}", f"boxes of {bytes} bytes take the same time in every rank", max(spread) / min(spread), "<=", 1.06, "times")
    each = _some(*(rows.figure("ns_per_block", bytes=bytes, blocks_per_sm=32) for bytes in (64, 320, 960)))
    if len(each) == 3:
        yield Claim("boxes-blocks", "up to 960 bytes a block takes the same time", max(each) / min(each), "<=", 1.1, "times")
    half = ratio(rows.figure("median_ms", bytes=960, blocks_per_sm=16), rows.figure("median_ms", box="16 × 5 × 3", blocks_per_sm=32))
    yield Claim("boxes-resident", "and half as many blocks on an SM are enough for it", half, "<=", 1.06, "times")


def _fits(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["box_fit"].rows, column="box")

    def each(width: int, pitch: int) -> float | None:
        return rows.figure("ns_per_block", width=width, pitch=pitch)

    yield Claim("fits-sectors", "rows that begin inside of sectors", ratio(each(48, 208), each(48, 192)), ">=", 1.5, "times")
    yield Claim("fits-overhang", "more whole boxes cost no more each", ratio(each(64, 256), each(48, 192)), "<=", 1.1, "times")


def _ladder(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["ladder"].where(extent=LARGE, type="float32"))
    names = [str(row["kernel"]) for row in rows.rows if not str(row["kernel"]).startswith(("copy", "cuBLAS"))]
    ranked = best([row for row in rows.rows if row["kernel"] in names], "kernel")
    shares = {name: rows.share(kernel=name) for name in names}
    last = names[-1] if names else ""
    yield Claim("ladder-last", f"the last rung, {last}, comes to the copy's speed", shares.get(last), ">=", 97, "%")
    tma = max(_some(*(share for name, share in shares.items() if name.startswith("tma"))), default=None)
    yield Claim("ladder-tma", "the best rung with tensor copies comes close", tma, ">=", 95, "%")
    yield from _steps(rows)
    fastest = min((_float(row["median_ms"]) or 0 for row in ranked), default=None)
    for id, name, sentence in (
        ("cublas", "cuBLAS geam", "cuBLAS geam out of place"),
        ("padded", "padded_tile", "a padded tile of 32 x 32"),
        ("batched", "tma_batched", "TMA with swizzle and batching"),
    ):
        yield Claim(f"ladder-beats-{id}", f"the last rung beats {sentence}", ratio(rows.time(kernel=name), fastest), ">=", 1.02, "times")


def _steps(rows: Rows) -> Iterator[Claim]:
    """Each rung against the one that it improves."""
    steps = (
        ("global_only", "shared_tile"),
        ("shared_tile", "padded_tile"),
        ("tma_plain", "tma_swizzled"),
        ("tma_swizzled", "tma_batched"),
        ("padded_tile", "micro_tiles"),
        ("tma_batched", "tma_micro_tiles"),
        ("micro_tiles", "column_walk"),
        ("column_walk", "kept_reads"),
        ("tma_micro_tiles", "tma_kept_reads"),
    )
    for slow, fast in steps:
        figure = ratio(rows.time(kernel=slow), rows.time(kernel=fast))
        if figure is not None:
            yield Claim(f"ladder-{fast}", f"{fast} is faster than {slow}", figure, ">=", 1.005, "times")


def _ladder_sizes(tables: Tables) -> Iterator[Claim]:
    def rung(extent: str, kind: str = "float32") -> float | None:
        rows = Rows(tables["ladder"].where(extent=extent, type=kind))
        own = {str(row["kernel"]) for row in rows.rows if row["kernel"] == row.get("ran")}
        return max(_some(*(rows.share(kernel=name) for name in own if not name.startswith(("copy", "cuBLAS")))), default=None)

    yield Claim("ladder-8192", f"the best rung at {MIDDLE}", rung(MIDDLE), ">=", 93, "%")
    yield Claim("ladder-1000", "the best rung at 1000 x 3000, whose rows are multiples of 16 bytes", rung("1000 x 3000"), ">=", 85, "%")
    yield Claim("ladder-bf16", f"the best rung at {LARGE} bfloat16", rung(LARGE, "bfloat16"), ">=", 95, "%")


def _agreement(tables: Tables) -> Iterator[Claim]:
    rows = tables["agreement"].rows
    times, within = (sum(_float(row[name]) or 0 for row in rows) for name in ("times", "within"))
    yield Claim("runs-agree", "two runs agree within 2 %", 100 * within / times if times else None, ">=", 98, "% of the times")


def _copies(tables: Tables) -> Iterator[Claim]:
    """Copies before and after agree, or the GPU was not the same at the end of a table as at its beginning."""
    for name, column in (("ladder", "kernel"), ("copy_paths", "path"), ("pipeline_stages", "kernel"), ("axpy_ring", "kernel"), ("prefetch", "kernel")):
        if name not in tables:
            continue
        rows = tables[name].where(extent=LARGE, type="float32") if name == "ladder" else tables[name].rows
        times = [_float(row.get("median_ms")) for row in rows if row.get(column) in ("copy before", "copy after")]
        if len(times) == 2 and times[0] and times[1]:
            apart = 100 * abs(times[0] - times[1]) / min(times[0], times[1])
            yield Claim(f"copies-{name}", f"{name}: the copies before and after agree", apart, "<=", COPIES_AGREE, "%")


_CLAIMS: tuple[tuple[tuple[str, ...], Callable[[Tables], Iterator[Claim]]], ...] = (
    (("latencies",), _latency),
    (("little_best",), _little),
    (("turnover",), _turnover),
    (("passages", "latency"), _passages),
    (("strides",), _strides),
    (("cp_async_flags",), _flags),
    (("cp_async_groups",), _groups),
    (("pipeline_index",), _index),
    (("pipeline_arithmetic", "pipeline_stages"), _arithmetic),
    (("entangled_wait",), _entangled),
    (("mixes",), _mixes),
    (("pair_mixes",), _pair_mixes),
    (("copy_paths",), _paths),
    (("pipeline_stages",), _pipeline),
    (("pipeline_timeline",), _timeline),
    (("sync_cycles",), bench_claims_sync.barriers),
    (("fence_cycles",), bench_claims_sync.fences),
    (("turn_cycles",), bench_claims_sync.turns),
    (("try_wait_misses",), bench_claims_sync.misses),
    (("twins",), bench_claims_sync.twins),
    (("axpy_ring",), _ring),
    (("prefetch",), bench_claims_sync.prefetch),
    (("overwritten",), bench_claims_sync.overwritten),
    (("column_cost",), _columns),
    (("column_sums",), _panels),
    (("column_sums_blocks",), _blocks),
    (("tile_shapes",), _tiles),
    (("box_ranks",), _boxes),
    (("box_fit",), _fits),
    (("ladder",), _ladder),
    (("ladder",), _ladder_sizes),
    *bench_claims_clusters.CLAIMS,
    (("agreement",), _agreement),
    ((), _copies),
)
