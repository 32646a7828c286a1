#!/usr/bin/env python3
"""What sharing a read is worth to rung 12 of chapter 12: loads alone, products alone and both, without and with clusters."""

import sys

import chart
import svg

LEFT, RIGHT, HEIGHT, STEP = chart.NARROW_LEFT, chart.NARROW_RIGHT, 24, 30
EXTENT = "8192 x 8192 x 8192"
GROUPS = (("128x256 alone", "Each block loads for itself", ""), ("128x256, clusters of 2", "Clusters of two", "half of the shared tile each, multicast"))
PARTS = (("loads", "loads alone", "async"), ("products", "products alone", "compute"), ("all", "both", "plain"))


def figure() -> svg.Figure:
    times = {(row["kernel"], row["part"]): chart.number(row, "median_ms") for row in chart.table("gemm_halves") if row["extent"] == EXTENT}
    longest = max(times.values())
    picture = svg.Figure("Loads and products of a matrix product, with and without clusters of two, on an H200", 320, chart.NARROW)
    top = 26.0
    for kernel, title, how in GROUPS:
        picture.text(LEFT, top, title, "strong")
        if how:
            top += 18
            picture.text(LEFT, top, how, "small soft")
        for i, (part, name, colour) in enumerate(PARTS):
            y, time = top + 12 + STEP * i, times[kernel, part]
            length = (RIGHT - LEFT) * time / longest
            picture.rect(LEFT, y, length, HEIGHT, colour, f"{title}, {name}: {time:.2f} ms")
            picture.text(LEFT + 8, y + 17, name, "small")
            picture.text(LEFT + length - 8, y + 17, f"{time:.2f} ms", "small strong" if part == "loads" else "small", "end")
        top += 12 + STEP * len(PARTS) + 28
    picture.text(LEFT, top - 6, f"Median times, {EXTENT.replace('x', '×')}, bf16, one H200;", "small soft")
    picture.text(LEFT, top + 10, "rung 12 of chapter 12", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
