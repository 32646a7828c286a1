#!/usr/bin/env python3
"""Two of chapter 6's kernels as bars beside the same work without a tensor copy: their shares of the driver's copy."""

import sys

import chart
import svg

TOP = 80
KERNELS = [  # the kernel as the measurements call it, as the text does, how its elements come, colour
    ("box_filter_3x3", "box_filter_3x3", "tensor copies", "async"),
    ("box_filter_by_columns", "box_filter_by_columns", "plain, no tile", "wait"),
    ("box_filter_plain, 66 columns", "box_filter_plain", "threads bring the halo", "wait"),
    ("add_one_matrix", "add_one_matrix", "tensor copies", "async"),
    ("add_one_plain, all loads first", "add_one_plain", "plain loads, with the test", "wait"),
]


def figure() -> svg.Figure:
    rows = {str(row["kernel"]): row for row in chart.table("plain_tiles")}
    bottom = TOP + chart.LANE * len(KERNELS)
    picture = svg.Figure("Two kernels with tensor copies and the same work without, on an H200", bottom + 6, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "With tensor copies and without", "strong")
    picture.text(chart.NARROW_LEFT, 46, "tiles of 64 × 16, 100 million ints, one H200", "small soft")
    chart.whole(picture, TOP, bottom, "the driver's copy")
    for i, (way, name, by, colour) in enumerate(KERNELS):
        rate, share = chart.number(rows[way], "gb_per_s"), chart.number(rows[way], "share")
        tip = f"{name}: {rate:,.0f} GB/s, {share:.1f} %"
        chart.lane(picture, TOP + chart.LANE * i, (name, by), share, f"{share:.1f} %", colour, tip)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
