#!/usr/bin/env python3
"""Copies by way of shared memory with tiles of 2 KiB: through registers, and with one to three groups of cp.async under way."""

import sys

import chart
import svg

BAR_LEFT, BAR_WIDTH, BAR_HEIGHT, STEP, TOP = 190, 270, 26, 44, 74
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
    bottom = TOP + STEP * len(WAYS)
    picture = svg.Figure("Bandwidth with tiles of 2 KiB: through registers, and with groups of cp.async, on an H200", bottom + 12)
    picture.text(20, 28, "Share of the device-to-device copy; tiles of 2 KiB, one H200", "strong")
    chart.shares(picture, BAR_LEFT, BAR_WIDTH, TOP, bottom - 8)
    picture.text(BAR_LEFT + BAR_WIDTH + 80, TOP - 16, "blocks on an SM", "small soft")
    for i, (way, stages, name, ahead, colour) in enumerate(WAYS):
        row = next(
            each for each in rows if (each["path"], each["stages"], each["tile_bytes"], each["tiles_per_block"]) == (way, stages, TILE, 0)
        )
        share = 100 * chart.number(row, "gb_per_s") / ceiling
        y = TOP + STEP * i
        picture.text(BAR_LEFT - 8, y + 12, name, "code", "end")
        picture.text(BAR_LEFT - 8, y + 27, ahead, "small soft", "end")
        picture.rect(BAR_LEFT, y, BAR_WIDTH * share / 100, BAR_HEIGHT, colour, f"{way}, {ahead}: {share:.0f} %")
        picture.text(BAR_LEFT + BAR_WIDTH + 18, y + 18, f"{share:.0f} %", "strong")
        picture.text(BAR_LEFT + BAR_WIDTH + 80, y + 18, f"{row['blocks_per_sm']}", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
