#!/usr/bin/env python3
"""What sharing a read is worth to rung 12 of chapter 12: loads alone, products alone and both, without and with clusters."""

import sys

import chart
import svg

LEFT, WIDTH, HEIGHT, STEP = 120, 480, 24, 30
EXTENT = "8192 x 8192 x 8192"
GROUPS = (("128x256 alone", "Each block loads for itself"), ("128x256, clusters of 2", "Clusters of two: half of the shared tile each, multicast"))
PARTS = (("loads", "loads alone", "async"), ("products", "products alone", "compute"), ("all", "both", "plain"))


def figure() -> svg.Figure:
    times = {(row["kernel"], row["part"]): chart.number(row, "median_ms") for row in chart.table("gemm_halves") if row["extent"] == EXTENT}
    longest = max(times.values())
    picture = svg.Figure("Loads and products of a matrix product, with and without clusters of two, on an H200", 304)
    top = 32.0
    for kernel, title in GROUPS:
        picture.text(20, top, title, "strong")
        for i, (part, name, colour) in enumerate(PARTS):
            y, time = top + 12 + STEP * i, times[kernel, part]
            picture.text(LEFT - 10, y + 17, name, "small", "end")
            picture.rect(LEFT, y, WIDTH * time / longest, HEIGHT, colour, f"{title}, {name}: {time:.2f} ms")
            picture.text(LEFT + WIDTH * time / longest + 10, y + 17, f"{time:.2f} ms", "strong" if part == "loads" else "")
        top += 12 + STEP * len(PARTS) + 28
    picture.text(20, top - 6, f"Median times on one H200, {EXTENT.replace('x', '×')}, bf16; rung 12 of chapter 12.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
