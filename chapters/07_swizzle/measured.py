"""What this chapter's measurements must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Tables
from cli.bench_rows import Rows, ratio


def _columns_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["column_cost"].rows)

    def cycles(layout: str, access: str) -> float | None:
        return rows.figure("cycles", layout=layout, access=access)

    none, padded = cycles("no swizzle", "4 bytes"), cycles("padding", "4 bytes")
    for mode in ("32 bytes", "64 bytes", "128 bytes"):
        id = mode.split()[0]
        sentence = f"columns, 4 bytes per lane: the swizzle of {mode} leaves four of 32 wavefronts"
        yield Claim(f"columns-{id}", sentence, ratio(none, cycles(mode, "4 bytes")), ">=", 7.5, "times")
    yield Claim("columns-padding", "columns, 4 bytes per lane: padding leaves one wavefront", padded, "<=", 1.1, "cycles")
    by_map = cycles("padding of 16 bytes", "4 bytes")
    if by_map is not None:
        yield Claim("columns-pad-16", "columns, 4 bytes per lane: a pad of 16 bytes leaves four wavefronts, as a swizzle does", by_map, ">=", 3.9, "cycles")
    wide = cycles("128 bytes", "16 bytes")
    yield Claim("columns-free", "columns, 16 bytes per lane, any swizzle: the four cycles that 512 bytes take", wide, "<=", 4.4, "cycles")
    slow = cycles("no swizzle", "16 bytes")
    yield Claim("columns-wide", "columns, 16 bytes per lane: without swizzle eight times as long", ratio(slow, wide), ">=", 7.5, "times")


def _panels_claims(tables: Tables) -> Iterator[Claim]:
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


def _blocks_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["column_sums_blocks"].rows, column="layout")
    for blocks in (8, 1):
        plain = rows.time(layout="no swizzle", blocks_per_sm=blocks)
        swizzled = rows.time(layout="128 bytes", blocks_per_sm=blocks)
        more = plain - swizzled if plain is not None and swizzled is not None else None
        sentence = f"conflicts cost what they take in shared memory, {blocks} blocks per SM"
        yield Claim(f"conflicts-{blocks}", sentence, more, ">=", 0.14, "ms")


def _tiles_claims(tables: Tables) -> Iterator[Claim]:
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


BENCH = Bench(
    claims=(
        (("column_cost",), _columns_claims),
        (("column_sums",), _panels_claims),
        (("column_sums_blocks",), _blocks_claims),
        (("tile_shapes",), _tiles_claims),
    ),
)
