#!/usr/bin/env python3
"""What each of the two changes that make roles gains alone, and what both gain: the rise of the rate by the values in each thread's registers."""

import sys

import chart
import svg

KERNELS = (
    ("ninth_meets", "wait", "a ninth warp loads, and all meet"),
    ("eight_ask, at once", "compute", "empty barriers, and warp 0 loads"),
    ("roles_ring", "copy", "roles: empty barriers, and a ninth warp loads"),
)


def figure() -> svg.Figure:
    times = {(row["kernel"], int(chart.number(row, "prints"))): chart.number(row, "median_ms") for row in chart.table("roles_work") if row["blocks"] == "1"}
    counts = sorted({count for _, count in times})
    picture = svg.Figure("The rise of the rate by each of two changes and by both, by the number of values that each thread keeps", 380)
    picture.text(20, 28, "What two changes gain over meeting_ring: rise of the rate, in per cent, on an H200", "strong")
    slot = 80
    y = chart.Axis(0, 12, 316, 122, [(v, f"{v}") for v in (0, 5, 10)])
    x = chart.Axis(0, len(counts), 56, 56 + slot * len(counts), [(i + 0.5, f"{count}") for i, count in enumerate(counts)])
    chart.grid(picture, x, y, "values that each thread keeps", "%")
    columns = chart.Columns(x, y, slot, len(KERNELS), 20, 2)
    for side, (kernel, colour, name) in enumerate(KERNELS):
        for i, count in enumerate(counts):
            gain = 100 * (times["meeting_ring", count] / times[kernel, count] - 1)
            shown = f"{abs(gain):.0f}" if abs(gain) < 0.5 else f"{gain:.0f}"
            columns.draw(picture, i, side, max(gain, 0), colour, shown, f"{name}, {count} values: {gain:.1f} %")
        picture.rect(56, 46 + 18 * side, 12, 12, colour)
        picture.text(74, 56 + 18 * side, name, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
