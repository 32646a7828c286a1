#!/usr/bin/env python3
"""Chapter 1: what a thread has in flight over time, by where it begins to wait. Each load takes as long as from an idle memory."""

import sys

import chart
import svg

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 640, 16, 520, 66, 62, 28
STEP = 8  # units on the paper between two loads that follow each other at once
CASES = (
    ("load, wait", [(0, 0, 4)]),
    ("load, wait, load, wait, load, wait, load, wait", [(turn, 0, 4) for turn in range(4)]),
    ("load, load, load, load, wait", [(0, lane, 4) for lane in range(4)]),
    ("load 16 bytes, wait", [(0, 0, 16)]),
)


def figure() -> svg.Figure:
    latency = next(chart.number(row, "cycles") for row in chart.table("latencies") if row["memory"] == "global memory")
    scale = (RIGHT - LEFT) / (4 * latency)
    picture = svg.Figure("What one thread has in flight over time: four narrow loads in turn, four at once, one wide one", TOP + len(CASES) * ROW + 12, WIDTH)
    picture.text(LEFT, 26, "What one thread has in flight, over time", "strong")
    picture.text(LEFT, 44, f"each load takes {latency:.0f} cycles, as from an idle memory", "small soft")
    picture.text(WIDTH - 14, 44, "at once", "small soft", "end")
    for row, (name, loads) in enumerate(CASES):
        y = TOP + row * ROW
        picture.text(LEFT, y + 12, name, "small")
        lanes = 1 + max(lane for _, lane, _ in loads)
        height = BAR / lanes
        for turn, lane, size in loads:
            x, width = LEFT + turn * latency * scale + lane * STEP, latency * scale
            colour = "compute" if size == 16 else "copy"
            picture.rect(x, y + 19 + lane * height, width, height, colour, f"a load of {size} bytes: {latency:.0f} cycles")
            if lanes == 1:
                picture.text(x + width / 2, y + 38, f"{size} bytes", "small", "middle")
        together = sum(size for turn, _, size in loads if turn == 0)
        picture.text(WIDTH - 14, y + 38, f"{together} bytes", "small strong", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
