#!/usr/bin/env python3
"""What the copies of a tile cost where the threads compute: how much longer a ring takes by many copies than by one, as measured."""

import sys

import chart
import svg

WAYS = (("async_4", "wait", "1,024 copies of 4 bytes for a tile"), ("async_16", "copy", "256 copies of 16 bytes"))


def figure() -> svg.Figure:
    rows = chart.table("spared_copies")
    picture = svg.Figure("How much longer a ring takes by 1,024 and by 256 copies for a tile than by one bulk copy, on an H200", 342)
    picture.text(20, 28, "The gap: how much longer than with one bulk copy for a tile of 4 KiB", "strong")
    x = chart.Axis(0, 128, 80, 690, [(chart.number(row, "work"), f"{row['work']}") for row in rows])
    y = chart.Axis(0, 100, 290, 80, [(v, f"{v} µs") for v in range(0, 101, 20)])
    chart.grid(picture, x, y, "multiply-adds for each word, one H200", "the gap")
    for way, colour, name in WAYS:
        gaps = [(chart.number(row, "work"), chart.number(row, way) - chart.number(row, "bulk")) for row in rows]
        chart.series(picture, x, y, gaps, colour, name)
        picture.text(x.place(gaps[-1][0]), y.place(gaps[-1][1]) + 24, name, "small", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
