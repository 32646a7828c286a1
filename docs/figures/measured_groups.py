#!/usr/bin/env python3
"""Copies by way of shared memory, four blocks on an SM, tiles of 2 KiB: through registers, and with one to four groups of cp.async."""

import sys

import chart
import svg

TOP = 80
SHAPE = {"tile_bytes": 2048, "threads": 128, "blocks_per_sm": 4, "tiles_per_block": 0}
WAYS = [  # the kernel as the measurements call it, its stages, how the chapter says it, colour
    ("registers", 1, "load, then store", "one tile after another", "wait"),
    ("groups_in_flight", 1, "cp.async", "one tile after another", "plain"),
    ("groups_in_flight", 2, "cp.async", "the next tile asked for", "copy"),
    ("groups_in_flight", 3, "cp.async", "the next two asked for", "copy"),
    ("groups_in_flight", 4, "cp.async", "the next three asked for", "copy"),
]


def figure() -> svg.Figure:
    rows = [row for row in chart.table("cp_async_early") if all(row[name] == value for name, value in SHAPE.items())]
    bottom = TOP + chart.LANE * len(WAYS)
    picture = svg.Figure("Bandwidth with tiles of 2 KiB in four blocks on an SM: through registers, and with groups of cp.async, on an H200", bottom + 6, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "Share of the driver's copy", "strong")
    picture.text(chart.NARROW_LEFT, 46, "tiles of 2 KiB, four blocks on an SM, one H200", "small soft")
    chart.whole(picture, TOP, bottom, "the driver's copy")
    for i, (kernel, stages, name, ahead, colour) in enumerate(WAYS):
        share = next(chart.number(row, "share") for row in rows if (row["kernel"], row["stages"]) == (kernel, stages))
        chart.lane(picture, TOP + chart.LANE * i, (name, ahead), share, f"{share:.0f} %", colour, f"{name}, {ahead}: {share:.0f} %")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
