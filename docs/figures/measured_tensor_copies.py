#!/usr/bin/env python3
"""Three kernels of chapter 6, each with tensor copies and without, as bars: their shares of the driver's copy."""

import sys

import chart
import svg

TOP = 80
KERNELS = [  # the table, the kernel as it is called there, its name and how its elements come, colour
    ("filter_twins", "box, 80", "filter, nine additions", "tensor copy", "async"),
    ("filter_twins", "chunks, 80", "filter, nine additions", "cp.async", "wait"),
    ("filter_twins", "box, 80, columns", "filter, shared sums", "tensor copy", "async"),
    ("filter_twins", "chunks, 80, columns", "filter, shared sums", "cp.async", "wait"),
    ("plain_tiles", "add_one_matrix", "adding one", "tensor copies", "async"),
    ("plain_tiles", "add_one_plain, all loads first", "adding one", "plain loads, with the test", "wait"),
]


def figure() -> svg.Figure:
    rows = {(table, str(row["kernel"])): row for table in ("filter_twins", "plain_tiles") for row in chart.table(table)}
    bottom = TOP + chart.LANE * len(KERNELS)
    picture = svg.Figure("Three kernels with tensor copies and the same work without, on an H200", bottom + 6, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "With tensor copies and without", "strong")
    picture.text(chart.NARROW_LEFT, 46, "tiles of 64 × 16, 100 million ints, one H200", "small soft")
    chart.whole(picture, TOP, bottom, "the driver's copy")
    for i, (table, kernel, name, by, colour) in enumerate(KERNELS):
        row = rows[table, kernel]
        rate, share = chart.number(row, "gb_per_s"), chart.number(row, "share")
        tip = f"{kernel}: {rate:,.0f} GB/s, {share:.1f} %"
        chart.lane(picture, TOP + chart.LANE * i, (name, by), share, f"{share:.1f} %", colour, tip)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
