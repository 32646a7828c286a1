#!/usr/bin/env python3
"""Three ways into shared memory with tiles of 2 KiB: what the threads have to issue for a tile, and the rate."""

import sys

import chart
import svg

TOP = 80
TILE = 2048
WAYS = [  # the way as the measurements call it, its stages, how the chapters say it, what the threads execute for a tile, colour
    ("registers, 16 bytes", 1, "load, then store", f"{TILE // 16} loads, {TILE // 16} stores", "wait"),
    ("cp.async, 16 bytes", 1, "cp.async, 1 stage", f"{TILE // 16} copies of 16 bytes", "copy"),
    ("bulk load", 1, "cp.async.bulk, 1 stage", "1 copy", "async"),
    ("cp.async, 16 bytes", 4, "cp.async, 4 stages", f"{TILE // 16} copies of 16 bytes", "copy"),
    ("bulk load", 4, "cp.async.bulk, 4 stages", "1 copy", "async"),
]
FENCED = {"blocks_per_sm": 6, "tile_bytes": TILE, "tiles_per_block": 4}  # bulk loads whose readers fence


def fenced(stages: int) -> float:
    """The share that bulk loads reach with the fence that their readers owe the next load."""
    ring = FENCED | {"stages": stages}
    return next(chart.number(row, "yes") for row in chart.table("fenced_read") if ring.items() <= row.items())


def fastest(way: str, stages: int) -> tuple[float, float]:
    """The grid with which a way of copying is fastest: its share of the driver's copy, and the bytes in flight on an SM."""
    rows = chart.table("copy_paths")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["path"]).startswith("copy"))
    tried = [row for row in rows if (row["path"], row["tile_bytes"], row["stages"]) == (way, TILE, stages)]
    best = max(tried, key=lambda row: chart.number(row, "gb_per_s"))
    return 100 * chart.number(best, "gb_per_s") / ceiling, chart.number(best, "in_flight")


def figure() -> svg.Figure:
    bottom = TOP + chart.LANE * len(WAYS)
    picture = svg.Figure("Bandwidth of three ways into shared memory with tiles of 2 KiB, on an H200", bottom + 6, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "Share of the driver's copy", "strong")
    picture.text(chart.NARROW_LEFT, 46, "H200, tiles of 2 KiB; bars: bytes in flight on an SM", "small soft")
    chart.whole(picture, TOP, bottom, "the driver's copy")
    for i, (way, stages, name, issued, colour) in enumerate(WAYS):
        share, in_flight = fastest(way, stages)
        if colour == "async":
            share = fenced(stages)
        text = f"{chart.bytes_text(in_flight)}: {share:.1f} %"
        chart.lane(picture, TOP + chart.LANE * i, (name, issued), share, text, colour, f"{way}, stages: {stages}, {share:.1f} %")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
