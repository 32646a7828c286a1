#!/usr/bin/env python3
"""Chapter 9: multicast against loads by each block, in rings of two to twelve stages, in clusters of two."""

import sys

import chart
import svg

KIB = 1024
ARRAY = 16 * KIB * KIB
"""Bytes that each block gets."""
STEP = 40
"""GB/s from mark to mark."""
PANELS = ((16, (2, 3, 4, 6, 12), 66, 326), (32, (2, 3, 4, 6), 430, 690))
"""The size of a batch in KiB, the numbers of stages, and where the panel begins and ends."""


def panel(
    picture: svg.Figure, x: chart.Axis, title: str, y: chart.Axis, labels: tuple[str, str], lines: dict[str, tuple[str, list]], width: float
) -> None:
    """Lines, with a title and a legend above them; `labels` are those of the axes."""
    left = x.start - 44
    picture.text(left, 30, title, "strong")
    chart.grid(picture, x, y, *labels)
    for i, (name, (colour, points)) in enumerate(lines.items()):
        chart.series(picture, x, y, points, colour, name, dashed=i > 0)
    chart.legend(picture, left, 52, [(colour, name) for name, (colour, _) in lines.items()], width)


def figure() -> svg.Figure:
    picture = svg.Figure("Multicast and loads by each block against the number of stages, on an H200", 340)
    rows = [row for row in chart.table("ring_waits") if row["cluster"] == 2]

    def rate(row: chart.Row) -> float:
        return ARRAY / chart.number(row, "median_ms") * 1e-6

    def points(kib: int, loads: str) -> list[tuple[float, float]]:
        return [(chart.number(row, "stages"), rate(row)) for row in rows if row["batch"] == kib * KIB and row["loads"] == loads]

    most = STEP * -(-max(rate(row) for row in rows) // STEP)
    rates = chart.Axis(0, most, 270, 90, [(float(v), f"{v}") for v in range(0, int(most) + 1, STEP)])
    for kib, counts, start, end in PANELS:
        stages = chart.Axis(counts[0], counts[-1], start, end, [(float(s), str(s)) for s in counts], logarithmic=True)
        lines = {"a pair, multicast": ("async", points(kib, "multicast")), "each block loads": ("wait", points(kib, "each block loads"))}
        panel(picture, stages, f"Batches of {kib} KiB", rates, ("stages", "GB/s of each block"), lines, 130)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
