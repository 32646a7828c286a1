#!/usr/bin/env python3
"""Chapter 4's stages and blocks: the rate of four_at_a_time against the shared memory that it takes on each SM, as measured."""

import sys

import chart
import svg

SERIES = ((1, "copy"), (2, "compute"), (4, "async"), (8, "wait"))  # blocks per SM, and the colour of their marks
TILE, MOST = 4096, 65536  # bytes of a stage, and the most for all on an SM that is shown


def figure() -> svg.Figure:
    rows = chart.table("pipeline_stages")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["kernel"]).startswith("copy"))
    mine = [row for row in rows if row["kernel"] == "four_at_a_time" and row["work"] == 1]
    picture = svg.Figure("Rate against shared memory on each SM, by the number of blocks that share it, on an H200", 402)
    picture.text(20, 28, "Share of the copy by shared memory: a mark for each number of stages", "strong")
    x = chart.Axis(3300, 80000, 80, 690, chart.doublings(4096, 65536, 1), logarithmic=True)
    y = chart.Axis(0, 100, 350, 80, [(v, f"{v} %") for v in range(0, 101, 20)])
    chart.grid(picture, x, y, "shared memory for stages on each SM", "of the copy")
    for blocks, colour in SERIES:
        points = sorted(
            (TILE * blocks * chart.number(row, "stages"), 100 * chart.number(row, "gb_per_s") / ceiling)
            for row in mine
            if row["blocks_per_sm"] == blocks
        )
        chart.series(picture, x, y, [point for point in points if point[0] <= MOST], colour, f"{blocks} block{'s' if blocks > 1 else ''}")
    chart.legend(picture, 80, 49, [(colour, f"{blocks} block{'s' if blocks > 1 else ''} per SM") for blocks, colour in SERIES], 150)
    picture.text(x.place(22000), y.place(54), "one block: only C is left", "small soft", "middle")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
