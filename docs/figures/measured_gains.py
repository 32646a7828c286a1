#!/usr/bin/env python3
"""Chapter 6's opening: a filter that gains by a tensor copy, and a kernel that does not, as shares of the driver's copy."""

import sys

import chart
import svg

TOP = 82
GROUP = 2 * chart.LANE + 34
"""From one pair of bars to the next."""
PAIRS = [  # what the kernels do, the table and its column, and each kernel as the table calls it, by what, and its colour
    ("a 3×3 filter", "filter_read", "rested_share", [("box, 80", "tensor copy", "async"), ("chunks, 80", "cp.async", "wait")]),
    ("adds one to each element", "plain_tiles", "share", [("add_one_matrix", "tensor copy", "async"), ("add_one_plain, all loads first", "plain loads", "wait")]),
]


def figure() -> svg.Figure:
    picture = svg.Figure("Two kernels, each with its tiles loaded by a tensor copy and otherwise, on an H200", TOP + GROUP * len(PAIRS) - 20, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "Share of the driver's copy", "strong")
    for i, (work, name, column, kernels) in enumerate(PAIRS):
        top = TOP + GROUP * i
        rows = {str(row["kernel"]): row for row in chart.table(name)}
        picture.text(chart.NARROW_LEFT, top - 10, work, "small strong")
        chart.whole(picture, top, top + chart.LANE * len(kernels), "the driver's copy")
        for k, (kernel, way, colour) in enumerate(kernels):
            share = chart.number(rows[kernel], column)
            chart.lane(picture, top + chart.LANE * k, (way, ""), share, f"{share:.1f} %", colour, f"{kernel}: {share:.1f} %")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
