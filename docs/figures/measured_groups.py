#!/usr/bin/env python3
"""Copies by way of shared memory with tiles of 2 KiB: through registers, and with one to three groups of cp.async under way."""

import sys

import chart
import svg

TOP = 80
TILE = 2048
WAYS = [  # the way as the measurements call it, the tiles that a block has under way, how the chapter says it, colour
    ("registers, 16 bytes", 1, "load, then store", "one tile after another", "wait"),
    ("cp.async, 16 bytes", 1, "cp.async", "one tile after another", "plain"),
    ("cp.async, 16 bytes", 2, "cp.async", "the next tile asked for", "copy"),
    ("cp.async, 16 bytes", 3, "cp.async", "the next two asked for", "copy"),
]


def figure() -> svg.Figure:
    rows = chart.table("copy_paths")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["path"]).startswith("copy"))
    bottom = TOP + chart.LANE * len(WAYS)
    picture = svg.Figure("Bandwidth with tiles of 2 KiB: through registers, and with groups of cp.async, on an H200", bottom + 6, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "Share of a plain copy", "strong")
    picture.text(chart.NARROW_LEFT, 46, "tiles of 2 KiB, one H200; blocks: on an SM at a time", "small soft")
    chart.whole(picture, TOP, bottom, "the device-to-device copy")
    for i, (way, stages, name, ahead, colour) in enumerate(WAYS):
        row = next(
            each for each in rows if (each["path"], each["stages"], each["tile_bytes"], each["tiles_per_block"]) == (way, stages, TILE, 0)
        )
        share = 100 * chart.number(row, "gb_per_s") / ceiling
        names = (name, f"{ahead}, {row['blocks_per_sm']} blocks")
        chart.lane(picture, TOP + chart.LANE * i, names, share, f"{share:.0f} %", colour, f"{way}, {ahead}: {share:.0f} %")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
