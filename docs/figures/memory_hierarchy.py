"""The memories of an H200: how much each holds, and how long one load takes that waits for the one before."""

import math
import sys

import chart
import svg

# What the measurements call it, what the figure calls it, and what it holds (CUDA C++ Programming Guide, 'Compute
# Capabilities'; NVIDIA H200 data sheet).
PLACES = [
    ("registers (multiply-add)", "registers", "256 KiB an SM, each thread its own"),
    ("shared memory", "shared memory", "up to 228 KiB an SM, 227 for one block"),
    ("shared memory of a neighbour", "shared memory of a neighbour", "other blocks of the cluster (chapter 9)"),
    ("L2 cache", "L2 cache", "60 MiB, for all 132 SMs"),
    ("global memory", "global memory (HBM3e)", "141 GB, 4800 GB/s"),
]


def figure() -> svg.Figure:
    measured = {row["memory"]: chart.number(row, "cycles") for row in chart.table("latencies")}
    picture = svg.Figure("Memories of an H200 and the measured latency of each, in clock cycles of the SM", 318)
    left, right, top, row = 300, 640, 52, 46
    scale = (right - left) / math.log10(1000)
    for cycles in (1, 10, 100, 1000):
        x = left + scale * math.log10(cycles)
        picture.line(x, top - 8, x, top + row * len(PLACES), "thin dashed")
        picture.text(x, top - 14, str(cycles), "small soft", "middle")
    picture.text(left, 20, "cycles until the value is there, each line ten times the last", "small soft")
    for i, (key, name, holds) in enumerate(PLACES):
        y = top + row * i
        picture.text(16, y + 15, name, "strong")
        picture.text(16, y + 33, holds, "small soft")
        width = scale * math.log10(measured[key])
        picture.rect(left, y + 4, width, 26, "wait" if key == "global memory" else "copy")
        value = f"{measured[key]:.3g}"
        picture.rect(left + width + 5, y + 9, 8 * len(value) + 6, 17, "paper")  # no line runs through the number
        picture.text(left + width + 8, y + 22, value, "code")
    note = "Registers: one multiply-add. One thread, one H200: docs/measurements/h200.json."
    picture.text(16, top + row * len(PLACES) + 24, note, "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
