#!/usr/bin/env python3
"""What the 128-byte swizzle is worth to the column sums: without it, with padded rows, with it, from the measurement file."""

import sys

import chart
import svg

PAPER, LEFT, LONGEST, HEIGHT, STEP, TOP = 350, 14, 322, 26, 34, 42  # so narrow that a phone shows all of it
LAYOUTS = (
    ("no swizzle", "no swizzle", "wrong"),
    ("padding by threads", "padded by threads", "wait"),
    ("128 bytes", "128-byte swizzle", "compute"),
)


def figure() -> svg.Figure:
    times = {row["layout"]: chart.number(row, "median_ms") for row in chart.table("column_sums") if row["access"] == "16 bytes"}
    plain = times["no swizzle"]
    picture = svg.Figure("The column sums with and without the 128-byte swizzle, on an H200", 168, PAPER)
    picture.text(LEFT, 30, "Sum columns: 8192 rows of 32,768 ints", "strong")
    length = 0.0
    for i, (layout, name, colour) in enumerate(LAYOUTS):
        y, length = TOP + STEP * i, LONGEST * times[layout] / plain
        picture.rect(LEFT, y, length, HEIGHT, colour, f"{name}: {times[layout]:.2f} ms")
        picture.text(LEFT + 8, y + 18, name, "small")
        picture.text(LEFT + length - 8, y + 18, f"{times[layout]:.2f} ms", "small", "end")
    picture.text(LEFT + length + 8, TOP + 2 * STEP + 18, f"{plain / times['128 bytes']:.1f} times as fast", "small strong")
    picture.text(LEFT, TOP + 3 * STEP + 12, "Median times on one H200.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
