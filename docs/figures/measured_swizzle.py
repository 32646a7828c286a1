#!/usr/bin/env python3
"""What the 128-byte swizzle is worth: two kernels with it and without, from the measurement file."""

import sys

import chart
import svg

LEFT, WIDTH, HEIGHT, STEP = 150, 420, 26, 34


def group(picture: svg.Figure, top: float, title: str, plain: float, swizzled: float) -> float:
    """Two bars, the longer as wide as the paper allows, and how many times as fast. Returns where the next begins."""
    picture.text(20, top, title, "strong")
    for i, (name, time, colour) in enumerate((("no swizzle", plain, "wrong"), ("128-byte swizzle", swizzled, "compute"))):
        y, length = top + 12 + STEP * i, WIDTH * time / plain
        picture.text(LEFT - 10, y + 18, name, "small", "end")
        picture.rect(LEFT, y, length, HEIGHT, colour, f"{name}: {time:.2f} ms")
        picture.text(LEFT + length - 8, y + 18, f"{time:.2f} ms", "small", "end")
    picture.text(LEFT + WIDTH * swizzled / plain + 12, top + 12 + STEP + 18, f"{plain / swizzled:.1f} times as fast", "strong")
    return top + 12 + 2 * STEP + 34


def figure() -> svg.Figure:
    ladder = {row["kernel"]: chart.number(row, "median_ms") for row in chart.table("ladder_large")}
    sums = {row["layout"]: chart.number(row, "median_ms") for row in chart.table("column_sums") if row["access"] == "16 bytes"}
    picture = svg.Figure("Two kernels with and without the 128-byte swizzle, on an H200", 234)
    top = group(picture, 34, "Transposition of 32768 × 32768 floats (chapter 8)", ladder["tma_plain"], ladder["tma_swizzled"])
    top = group(picture, top, "Sums of the columns of 8192 × 32768 ints (this chapter)", sums["no swizzle"], sums["128 bytes"])
    picture.text(20, top - 10, "Median times on one H200. The two of a pair differ in the swizzle alone.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
