#!/usr/bin/env python3
"""Chapter 8's order of blocks: reads alone, writes alone and both, by the columns of tiles that a strip has side by side."""

import sys

import chart
import svg

TILE, EXTENT = 64, 33024
SERIES = (
    ("writes only 64x64/256", "async", "writes alone"),
    ("reads only 64x64/256", "copy", "reads alone"),
    ("registers 64x64/256, ld.nc, st", "compute", "both: the transposition"),
)
ALL = 128  # where 'all columns' stands on the axis


def columns(order: str) -> int | None:
    """How many columns of tiles lie side by side, or None where the order is no strip that is wide."""
    if order == "down columns":
        return 1
    if order == "along rows":
        return ALL
    words = order.split()
    return int(words[1]) // TILE if len(words) == 3 and words[0] == "strips" and words[2] == "wide" else None


def figure() -> svg.Figure:
    rows = chart.table(f"transpose_limits_{EXTENT}_{EXTENT}")
    picture = svg.Figure("Rates of reads alone, of writes alone and of both by the width of a strip, on an H200", 380)
    picture.text(20, 28, f"Rate by the width of a strip, {EXTENT} × {EXTENT} floats; the axis begins at 3800", "strong")
    marks = [(float(1 << i), str(1 << i)) for i in range(6)]
    marks[0] = (1.0, "1: down columns")
    x = chart.Axis(0.8, 160, 80, 690, [*marks, (float(ALL), "all: along rows")], logarithmic=True)
    y = chart.Axis(3800, 4800, 328, 80, [(v, f"{v:g}") for v in range(3800, 4801, 200)])
    chart.grid(picture, x, y, "columns of tiles side by side", "GB/s")
    for name, colour, said in SERIES:
        points = []
        for row in rows:
            wide = columns(str(row["order"]))
            if wide is not None:
                points.append((float(wide), chart.number(row, name)))
        chart.series(picture, x, y, sorted(points), colour, said)
    chart.legend(picture, 80, 49, [(colour, said) for _, colour, said in SERIES], 150)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
