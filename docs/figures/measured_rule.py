#!/usr/bin/env python3
"""Chapter 4's rule against an H200: microseconds per tile by stages, and the model max(T - L, T / stages) with one L for all curves."""

import math
import sys

import chart
import svg

SERIES = ((64, "async"), (16, "compute"), (1, "copy"))  # multiply-adds per element, and the colour of their marks
MOST = 8  # stages
KERNEL = "n_stages"


def model(picture: svg.Figure, x: chart.Axis, y: chart.Axis, one: float, least: float) -> None:
    """The curve that the time with one stage fixes, with the L of the lowest curve: nothing else was fitted."""
    places = [(x.place(n / 20), y.place(max(least, one / (n / 20)))) for n in range(20, 20 * MOST + 1)]
    picture.path("M" + " L".join(f"{a:.1f} {b:.1f}" for a, b in places), "dashed")
    knee = x.place(one / least)
    picture.line(knee, y.place(least), knee, y.start, "thin dashed")


def figure() -> svg.Figure:
    rules = {chart.number(row, "work"): row for row in chart.table("pipeline_rule") if KERNEL in str(row["kernel"])}
    rows = [row for row in chart.table("pipeline_stages") if row["kernel"] == KERNEL and row["blocks_per_sm"] == 1]
    tile = 1e-3 * 2 * 4096 * 132  # a tile read and written by each of 132 SMs: over GB/s, microseconds
    picture = svg.Figure("Time per tile by stages, with one block per SM, and what T / (T - L) says, on an H200", 390)
    picture.text(20, 28, "One block per SM: microseconds per tile, measured and by the rule", "strong")
    x = chart.Axis(0.8, MOST + 0.2, 80, 520, [(float(n), str(n)) for n in range(1, MOST + 1)])
    y = chart.Axis(0, 2, 330, 70, [(v / 2, f"{v / 2:g}") for v in range(5)])
    chart.grid(picture, x, y, "stages", "µs")
    rest = chart.number(rules[1], "one") - chart.number(rules[1], "least")  # L of the lowest curve
    for work, colour in SERIES:
        one = chart.number(rules[work], "one")
        least = one - rest
        model(picture, x, y, one, least)
        for row in rows:
            if row["work"] == work:
                stages, time = chart.number(row, "stages"), tile / chart.number(row, "gb_per_s")
                picture.rect(x.place(stages) - 5, y.place(time) - 5, 10, 10, colour, f"{work} multiply-add{'s' if work > 1 else ''}, {stages:g} stages: {time:.3f} µs")
        above = y.place(least) - 6 + (8 if work == 1 else -4 if work == 16 else 0)  # the lower two lie close together
        picture.text(x.end + 12, above, f"{work} multiply-add" + ("s" if work > 1 else ""), "small")
        picture.text(x.end + 12, above + 17, f"T/(T − L) = {one / least:.2f}: {math.ceil(one / least)} stages", "small soft")
    picture.rect(400, 42, 10, 10, "plain")
    picture.text(416, 51, "measured", "small")
    picture.path("M490 47 L520 47", "dashed")
    picture.text(528, 51, "T / stages, at least T − L", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
