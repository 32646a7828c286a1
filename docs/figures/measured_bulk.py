#!/usr/bin/env python3
"""Three ways into shared memory with tiles of 2 KiB: what the threads have to issue for a tile, and the rate."""

import sys

import chart
import svg

TOP = 80
TILE = 2048
WAYS = [  # the way as the measurements call it, how the chapters say it, what the threads execute for a tile, colour
    ("registers, 16 bytes", "load, then store", f"{TILE // 16} loads, {TILE // 16} stores", "wait"),
    ("cp.async, 16 bytes", "cp.async", f"{TILE // 16} copies of 16 bytes", "copy"),
    ("bulk load", "cp.async.bulk", "1 copy", "async"),
]
FENCED = {"blocks_per_sm": 6, "tile_bytes": TILE, "stages": 4, "tiles_per_block": 4}  # bulk loads whose readers fence


def fenced() -> float:
    """The share that bulk loads reach with the fence that their readers owe the next load."""
    return next(chart.number(row, "yes") for row in chart.table("fenced_read") if FENCED.items() <= row.items())


def in_flight(way: str) -> float:
    """The bytes that the stages of an SM hold where the way is fastest."""
    rows = [row for row in chart.table("copy_paths") if row["path"] == way and row["tile_bytes"] == TILE]
    return chart.number(max(rows, key=lambda row: chart.number(row, "gb_per_s")), "in_flight")


def figure() -> svg.Figure:
    rows = {str(row["path"]): row for row in chart.table("copy_paths_tiles")}
    bottom = TOP + chart.LANE * len(WAYS)
    picture = svg.Figure("Bandwidth of three ways into shared memory with tiles of 2 KiB, on an H200", bottom + 6, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "Share of the driver's copy", "strong")
    picture.text(chart.NARROW_LEFT, 46, "H200, tiles of 2 KiB; bars: bytes in flight on an SM", "small soft")
    chart.whole(picture, TOP, bottom, "the driver's copy")
    for i, (way, name, issued, colour) in enumerate(WAYS):
        share = fenced() if colour == "async" else chart.number(rows[way], str(TILE))
        chart.lane(picture, TOP + chart.LANE * i, (name, issued), share, f"{chart.bytes_text(in_flight(way))}: {share:.1f} %", colour, f"{way}: {share:.1f} %")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
