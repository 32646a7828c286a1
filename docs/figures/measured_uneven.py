#!/usr/bin/env python3
"""The time of a tile in a ring whose warps are unevenly busy: all meet for each tile, or full and empty barriers, as measured."""

import sys

import chart
import svg

WIDTH, LEFT, RIGHT, LANE, BAR = 350, 14, 336, 28, 24
WAYS = (("meeting", "wait", "all meet for each tile"), ("pair", "compute", "full and empty barriers"))
WORK = 512


def figure() -> svg.Figure:
    rows = [row for row in chart.table("uneven_read") if (row["blocks_per_sm"], row["spread"], row["work"]) == (1, "uneven", WORK)]
    longest = max(chart.number(row, way) for row in rows for way, _, _ in WAYS)
    picture = svg.Figure("The time of a tile where all warps meet for each, and with full and empty barriers, on an H200", 240, WIDTH)
    picture.text(LEFT, 26, "The time of a tile, in nanoseconds", "strong")
    picture.text(LEFT, 46, "uneven warps, one block on each SM of an H200", "small soft")
    top = 74
    for row in rows:
        picture.text(LEFT, top, f"{row['buffers']} buffers", "small strong")
        longer = chart.number(row, "longer")
        picture.text(RIGHT, top, f"meeting takes {longer:.2f} times as long", "small soft", "end")
        for place, (way, colour, name) in enumerate(WAYS):
            time = chart.number(row, way)
            length = (RIGHT - LEFT) * time / longest
            y = top + 8 + place * LANE
            picture.rect(LEFT, y, length, BAR, colour, f"{name}, {row['buffers']} buffers: {time:,.0f} ns")
            picture.text(LEFT + 8, y + 16, name, "small")
            picture.text(LEFT + length - 8, y + 16, f"{time:,.0f}", "small strong", "end")
        top += 92
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
