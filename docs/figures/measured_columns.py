#!/usr/bin/env python3
"""Sums of the columns by the layout of the tile and the width of an access, from the measurement file."""

import sys

import chart
import svg

PAPER, LEFT, WIDTH, HEIGHT, STEP, TOP = 350, 142, 194, 18, 50, 92  # so narrow that a phone shows all of it
LAYOUTS = ("no swizzle", "padding by threads", "padding by the map", "32 bytes", "64 bytes", "128 bytes")
ACCESSES = (("16 bytes", "copy"), ("4 bytes", "wait"))


def figure() -> svg.Figure:
    times = {(row["layout"], row["access"]): chart.number(row, "median_ms") for row in chart.table("column_sums")}
    longest = max(times.values())
    bottom = TOP + STEP * len(LAYOUTS)
    picture = svg.Figure("Time for the sums of all columns by the layout of the tile, on an H200", bottom + 6, PAPER)
    picture.text(14, 26, "Sum columns: 8192 rows of 32,768 ints", "strong")
    picture.text(14, 46, "Median times on one H200; shorter is better", "small soft")
    chart.legend(picture, 14, 70, [(colour, f"{access} a lane") for access, colour in ACCESSES], 130)
    for i, layout in enumerate(LAYOUTS):
        name = f"{layout[:-6]}-byte swizzle" if layout.endswith(" bytes") else layout
        picture.text(LEFT - 10, TOP + STEP * i + HEIGHT + 5, name, "small", "end")
        for k, (access, colour) in enumerate(ACCESSES):
            time, y = times[layout, access], TOP + STEP * i + HEIGHT * k
            length = WIDTH * time / longest
            inside = length > WIDTH / 2
            picture.rect(LEFT, y, length, HEIGHT, colour, f"{name}, {access} a lane: {time:.2f} ms")
            at = length - 8 if inside else length + 8
            picture.text(LEFT + at, y + 14, f"{time:.2f} ms", "small", "end" if inside else "start")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
