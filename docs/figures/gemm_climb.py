#!/usr/bin/env python3
"""Chapter 12's climb: each rung's share of cuBLAS's speed in the long and in the short product, from the measurement file."""

import sys

import chart
import svg

LONG, SHORT = "8192 x 8192 x 8192", "8192 x 8192 x 1024"
# Measured in another run, without pauses, beside a cuBLAS at that pace.
ALONE = ("naive", "shared_tile")
LEFT, STEP, TOP, BOTTOM = 62, 52, 52, 262
# Where a number stands at its point: rung -> how far below it, for the long product and for the short one.
NAMED = {LONG: {4: -10, 6: 20, 8: -10, 11: -10}, SHORT: {4: 20, 8: 20, 10: 20}}


def shares(extent: str) -> list[tuple[str, float]]:
    """Each rung's name and share of cuBLAS's speed, in the order of the ladder."""
    alone = [row for row in chart.table("gemm_ladder") if (row["extent"], row["pace"]) == (extent, "without pauses") and row["kernel"] in ALONE]
    turns = [row for row in chart.table("gemm_burst_clock") if (row["extent"], row["pace"]) == (extent, "with pauses")]
    peak = next(chart.number(row, "tflops") for row in turns if row["kernel"] == "cuBLAS")
    found = [(str(row["kernel"]), chart.number(row, "share")) for row in alone]
    return found + [(str(row["kernel"]), 100 * chart.number(row, "tflops") / peak) for row in turns if row["kernel"] != "cuBLAS"]


def figure() -> svg.Figure:
    picture = svg.Figure("Share of cuBLAS's speed that each of thirteen rungs has, on an H200", BOTTOM + 92)
    names = [name for name, _ in shares(LONG)]
    x = chart.Axis(1, 13, LEFT, LEFT + 12 * STEP, [(i + 1, str(i + 1)) for i in range(13)])
    y = chart.Axis(0, 110, BOTTOM, TOP, [(value, f"{value} %") for value in (0, 25, 50, 75, 100)])
    chart.grid(picture, x, y, "", "")
    picture.text(18, 22, "Share of cuBLAS's speed", "small strong")
    chart.legend(picture, 210, 22, [("async", "long: 8192 × 8192 × 8192"), ("copy", "short: 8192 × 8192 × 1024")], 210)
    for i, name in enumerate(names):
        picture.text(x.place(i + 1), BOTTOM + 38 + 16 * (i % 2), name, "code small", "middle")
    for extent, colour, dashed in ((SHORT, "copy", True), (LONG, "async", False)):
        points = [(i + 1, share) for i, (_, share) in enumerate(shares(extent))]
        chart.series(picture, x, y, points, colour, "long, rung" if extent == LONG else "short, rung", dashed)
        for rung, below in NAMED[extent].items():
            share = points[rung - 1][1]
            picture.text(x.place(rung), y.place(share) + below, f"{share:.0f}", "small", "middle")
    picture.text(LEFT, BOTTOM + 80, "bf16, one H200, in turns, with pauses; rungs 1 and 2 alone, without", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
