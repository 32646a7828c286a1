#!/usr/bin/env python3
"""What the 128-byte swizzle is worth: two kernels with it and without, from the measurement file."""

import sys

import chart
import svg

PAPER, LEFT, LONGEST, HEIGHT, STEP = 350, 14, 322, 26, 34  # so narrow that a phone shows all of it


def group(picture: svg.Figure, top: float, title: str, plain: float, swizzled: float) -> float:
    """Two bars, the longer as wide as the paper allows, and how many times as fast. Returns where the next begins."""
    picture.text(LEFT, top, title, "strong")
    for i, (name, time, colour) in enumerate((("no swizzle", plain, "wrong"), ("128-byte swizzle", swizzled, "compute"))):
        y, length = top + 12 + STEP * i, LONGEST * time / plain
        picture.rect(LEFT, y, length, HEIGHT, colour, f"{name}: {time:.2f} ms")
        picture.text(LEFT + 8, y + 18, name, "small")
        picture.text(LEFT + length - 8, y + 18, f"{time:.2f} ms", "small", "end")
    faster = f"{plain / swizzled:.1f} times as fast"
    picture.text(LEFT + LONGEST * swizzled / plain + 8, top + 12 + STEP + 18, faster, "small strong")
    return top + 12 + 2 * STEP + 34


def figure() -> svg.Figure:
    ladder = {row["kernel"]: chart.number(row, "median_ms") for row in chart.table("ladder_large")}
    sums = {row["layout"]: chart.number(row, "median_ms") for row in chart.table("column_sums") if row["access"] == "16 bytes"}
    picture = svg.Figure("Two kernels with and without the 128-byte swizzle, on an H200", 236, PAPER)
    top = group(picture, 30, "Transpose 32768 × 32768 floats", ladder["tma_plain"], ladder["tma_swizzled"])
    top = group(picture, top, "Sum columns: 8192 rows of 32,768 ints", sums["no swizzle"], sums["128 bytes"])
    picture.text(LEFT, top - 10, "Median times on one H200.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
