#!/usr/bin/env python3
"""Two ways into shared memory with tiles of 2 KiB, four stages and one: what the threads have to issue for a tile, and the rate."""

import sys

import chart
import svg

TOP = 80
TILE = 2048
WAYS = [  # the way as the measurements call it, its stages, how the chapters say it, what the threads execute for a tile, colour
    ("cp.async, 16 bytes", 4, "cp.async, four stages", f"{TILE // 16} copies of 16 bytes", "copy"),
    ("bulk load", 4, "cp.async.bulk, four stages", "1 copy", "async"),
    ("cp.async, 16 bytes", 1, "cp.async, one stage", f"{TILE // 16} copies of 16 bytes", "copy"),
    ("bulk load", 1, "cp.async.bulk, one stage", "1 copy", "async"),
]
FENCED = {"blocks_per_sm": 6, "tile_bytes": TILE, "tiles_per_block": 4}  # bulk loads whose readers fence


def fenced(stages: int) -> float:
    """The share that bulk loads reach with the fence that their readers owe the next load."""
    ring = FENCED | {"stages": stages}
    return next(chart.number(row, "yes") for row in chart.table("fenced_read") if ring.items() <= row.items())


def fastest(way: str, stages: int) -> float:
    """The share of the driver's copy that a way of copying reaches with the grid with which it is fastest."""
    rows = chart.table("copy_paths")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["path"]).startswith("copy"))
    tried = [row for row in rows if (row["path"], row["tile_bytes"], row["stages"]) == (way, TILE, stages)]
    return 100 * max(chart.number(row, "gb_per_s") for row in tried) / ceiling


def figure() -> svg.Figure:
    bottom = TOP + chart.LANE * len(WAYS)
    picture = svg.Figure("Bandwidth of two ways into shared memory with tiles of 2 KiB, on an H200", bottom + 6, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "Share of the driver's copy", "strong")
    picture.text(chart.NARROW_LEFT, 46, "H200, tiles of 2 KiB", "small soft")
    chart.whole(picture, TOP, bottom, "the driver's copy")
    for i, (way, stages, name, issued, colour) in enumerate(WAYS):
        share = fenced(stages) if way == "bulk load" else fastest(way, stages)
        chart.lane(picture, TOP + chart.LANE * i, (name, issued), share, f"{share:.1f} %", colour, f"{way}, {share:.1f} %")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
