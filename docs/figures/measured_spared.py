#!/usr/bin/env python3
"""What the copies of a tile cost where the threads compute: how much longer four rings of cp.async take than one of bulk copies, as measured."""

import sys

import chart
import svg

WAYS = (
    ("256 copies, on mbarriers", 2, "wait", "on mbarriers, two stages"),
    ("256 copies, two block barriers", 2, "copy", "two block barriers, two stages"),
    ("256 copies, one block barrier", 3, "plain", "one block barrier, three stages"),
    ("256 copies, one block barrier", 4, "compute", "one block barrier, four stages"),
)


def figure() -> svg.Figure:
    rows = {(row["ring"], row["stages"]): row for row in chart.table("spared_copies")}
    ours = rows["1 copy", 2]
    picture = svg.Figure("How much longer four rings with 256 copies for a tile take than one with one bulk copy, on an H200", 342)
    picture.text(20, 28, "The gap of 256 copies for a tile of 4 KiB: how much longer than with one bulk copy", "strong")
    works = [int(name) for name in ours if name not in ("ring", "stages")]
    x = chart.Axis(0, 128, 80, 500, [(work, f"{work}") for work in works])
    y = chart.Axis(-20, 70, 290, 80, [(v, f"{v} µs") for v in range(-20, 61, 20)])
    chart.grid(picture, x, y, "multiply-adds for each word, one H200", "the gap")
    for ring, stages, colour, name in WAYS:
        gaps = [(float(work), chart.number(rows[ring, stages], str(work)) - chart.number(ours, str(work))) for work in works]
        chart.series(picture, x, y, gaps, colour, name)
        picture.text(x.place(gaps[-1][0]) + 10, y.place(gaps[-1][1]) + 4, name, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
