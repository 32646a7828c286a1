#!/usr/bin/env python3
"""Chapter 4's stages and blocks: the rate of four_at_a_time against the shared memory that it takes on each SM, as measured."""

import math
import sys
from itertools import pairwise

import chart
import svg

SERIES = ((1, "copy"), (2, "compute"), (4, "async"), (8, "wait"))  # blocks per SM, and the colour of their lines
ENDS = {1: 4, 2: -6, 4: 7, 8: 22}  # how far below the end of its line the name of each stands
HALF = {1: 5, 2: 5, 4: 9, 8: 4}  # of the width of a line's colour: where four and eight blocks agree, both are seen
TILE, MOST = 4096, 65536  # bytes of a stage, and the most for all on an SM that is shown


def band(picture: svg.Figure, places: list[tuple[float, float]], colour: str, half: float) -> None:
    """A stripe of colour under a line: a thin shape around each of its pieces."""
    for (a, b), (c, d) in pairwise(places):
        length = math.hypot(c - a, d - b)
        u, v = half * (c - a) / length, half * (d - b) / length
        corners = ((a - v, b + u), (c - v, d + u), (c + v, d - u), (a + v, b - u))
        picture.path("M" + " L".join(f"{p:.1f} {q:.1f}" for p, q in corners) + " Z", f"{colour} bare")


def figure() -> svg.Figure:
    rows = chart.table("pipeline_stages")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["kernel"]).startswith("copy"))
    mine = [row for row in rows if row["kernel"] == "four_at_a_time" and row["work"] == 1]
    picture = svg.Figure("Rate against shared memory on each SM, by the number of blocks that share it, on an H200", 402)
    picture.text(20, 28, "Share of the copy by shared memory: a mark for each number of stages", "strong")
    x = chart.Axis(3300, 66500, 80, 612, chart.doublings(4096, 65536, 1), logarithmic=True)
    y = chart.Axis(0, 100, 350, 80, [(v, f"{v} %") for v in range(0, 101, 20)])
    chart.grid(picture, x, y, "shared memory for stages on each SM", "of the copy")
    lines = []
    for blocks, colour in SERIES:
        points = sorted(
            (TILE * blocks * chart.number(row, "stages"), 100 * chart.number(row, "gb_per_s") / ceiling)
            for row in mine
            if row["blocks_per_sm"] == blocks
        )
        shown, name = [point for point in points if point[0] <= MOST], f"{blocks} block{'s' if blocks > 1 else ''}"
        band(picture, [(x.place(a), y.place(b)) for a, b in shown], colour, HALF[blocks])
        lines.append((shown, colour, name, ENDS[blocks]))
    for shown, colour, name, below in lines:
        chart.series(picture, x, y, shown, colour, name)
        left, top = x.place(shown[-1][0]) + 22, y.place(shown[-1][1]) + below
        picture.rect(left, top - 9, 10, 10, colour)
        picture.text(left + 15, top, name, "small")
    picture.text(x.place(22000), y.place(54), "one block: only C is left", "small soft", "middle")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
