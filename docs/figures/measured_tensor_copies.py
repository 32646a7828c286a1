#!/usr/bin/env python3
"""Chapter 6's kernels as bars: the share of the driver's copy that tensor copies reach, with the bytes of their boxes."""

import sys

import chart
import svg

TOP = 80
BOXES = {  # the box that one instruction loads, as the chapter's kernels have it
    "add_one_matrix": "64 × 16: 4096 bytes",
    "box_filter_3x3": "72 × 18: 5184 bytes",
    "copy_3d": "16 × 5 × 3: 960 bytes",
    "copy_2d": "16 × 5: 320 bytes",
    "copy_1d": "16: 64 bytes",
}


def figure() -> svg.Figure:
    rows = {str(row["kernel"]): row for row in chart.table("report_tma_2d")}
    bottom = TOP + chart.LANE * len(BOXES)
    picture = svg.Figure("Bandwidth of chapter 6's kernels as a share of the driver's copy, on an H200", bottom + 6, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "Share of the driver's copy, and the box", "strong")
    picture.text(chart.NARROW_LEFT, 46, "100 million ints, one H200", "small soft")
    chart.whole(picture, TOP, bottom, "the driver's copy")
    for i, (name, box) in enumerate(BOXES.items()):
        rate, share = chart.number(rows[name], "gb_per_s"), chart.number(rows[name], "share")
        tip = f"{name}: {rate:.0f} GB/s, {share:.1f} %"
        chart.lane(picture, TOP + chart.LANE * i, (name, box), share, f"{rate:,.0f} GB/s, {share:.1f} %", "async", tip)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
