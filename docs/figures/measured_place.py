#!/usr/bin/env python3
"""Chapter 1's slow copy: what one of an SM's 64 places for warps does on average, on paper and measured."""

import sys

import chart
import svg

WIDTH, LEFT, RIGHT, PLACES, BAR = 640, 16, 624, 64, 34


def figure() -> svg.Figure:
    rows = chart.table("passages_narrow")
    row = next(row for row in rows if row["between"] == "its block" and row["tiles_per_block"] == 1)
    idle = next(chart.number(row, "cycles") for row in chart.table("latencies") if row["memory"] == "global memory")
    loading, storing, warps = (chart.number(row, name) for name in ("loading", "storing", "resident"))
    turn = (loading + storing) * PLACES / warps  # from one load of a place to the next

    def place(cycles: float) -> float:
        return LEFT + (RIGHT - LEFT) * cycles / turn

    picture = svg.Figure("One of the 64 places for warps of an SM: what it does on paper, and in the slow copy on an H200", 232, WIDTH)
    picture.text(LEFT, 28, "One place for a warp, from one load to the next", "strong")
    picture.text(LEFT, 60, f"on paper: load after load, {idle:.0f} cycles each", "small")
    at = 0.0
    while at < turn:
        end = min(at + idle, turn)
        picture.rect(place(at), 68, place(end) - place(at), BAR, "copy", f"a load in flight: {idle:.0f} cycles")
        at = end
    picture.text(LEFT, 134, "the slow copy on an H200, on average", "small")
    parts = (
        (0.0, loading, "copy", "load in flight", f"{loading:.0f} cycles"),
        (loading, storing, "wait", "barrier, store", f"{storing:.0f} cycles"),
        (loading + storing, turn - loading - storing, "plain", "idle", f"{turn - loading - storing:.0f} cycles"),
    )
    for begin, length, colour, name, figures in parts:
        x, width = place(begin), place(begin + length) - place(begin)
        picture.rect(x, 142, width, BAR, colour, f"{name}: {figures}")
        picture.text(x + 4, 194, name, "small")
        picture.text(x + 4, 211, figures, "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
