#!/usr/bin/env python3
"""Three ways into shared memory with tiles of 2 KiB: what the threads have to issue for a tile, and the rate."""

import sys

import chart
import svg

BAR_LEFT, BAR_WIDTH, BAR_HEIGHT, STEP, TOP = 170, 270, 26, 44, 74
TILE = 2048
WAYS = [  # the way as the measurements call it, how the chapters say it, what the threads execute for a tile
    ("registers, 16 bytes", "load, then store", f"{TILE // 16} loads, {TILE // 16} stores", "wait"),
    ("cp.async, 16 bytes", "cp.async", f"{TILE // 16} copies of 16 bytes", "copy"),
    ("bulk load", "cp.async.bulk", "1 copy", "async"),
]


def figure() -> svg.Figure:
    rows = {str(row["path"]): row for row in chart.table("copy_paths_tiles")}
    bottom = TOP + STEP * len(WAYS)
    picture = svg.Figure("Bandwidth of three ways into shared memory with tiles of 2 KiB, on an H200", bottom + 12)
    picture.text(20, 28, "Share of the device-to-device copy; tiles of 2 KiB, one H200", "strong")
    chart.shares(picture, BAR_LEFT, BAR_WIDTH, TOP, bottom - 8)
    picture.text(BAR_LEFT + BAR_WIDTH + 88, TOP - 16, "threads issue per tile", "small soft")
    for i, (way, name, issued, colour) in enumerate(WAYS):
        share = chart.number(rows[way], str(TILE))
        y = TOP + STEP * i
        picture.text(BAR_LEFT - 8, y + 18, name, "code", "end")
        picture.rect(BAR_LEFT, y, BAR_WIDTH * share / 100, BAR_HEIGHT, colour, f"{way}: {share:.1f} %")
        picture.text(BAR_LEFT + BAR_WIDTH + 18, y + 18, f"{share:.1f} %", "strong")
        picture.text(BAR_LEFT + BAR_WIDTH + 88, y + 18, issued, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
