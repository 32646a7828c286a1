#!/usr/bin/env python3
"""Chapter 11's two costs of a wgmma against an H200: cycles by N, measured, and N / 2 for multiplying, 16 + N / 4 for reading."""

import sys

import chart
import svg

WIDEST, EVEN = 256, 64  # the widest N, and the N at which both take as long


def figure() -> svg.Figure:
    usual = {"instruction": "wgmma", "type": "bf16", "a": "shared memory", "b": "along k", "mode": "128 bytes", "data": "random", "warps_per_sm": 4}
    rows = [row for row in chart.table("issue_rate") if all(row[name] == value for name, value in usual.items())]
    group = 4  # products in a round of the measuring program
    picture = svg.Figure("Cycles of an SM for one wgmma by N, measured, and the two costs, on an H200", 400)
    picture.text(20, 28, "One wgmma, A in shared memory: cycles of an SM, measured and by the rule", "strong")
    marks = [(float(n), str(n) if n not in (8, 16) else "") for n in (0, 8, 16, 32, EVEN, 128, 192, WIDEST)]
    x = chart.Axis(0, WIDEST, 80, 520, marks)
    y = chart.Axis(0, 136, 330, 76, [(float(v), str(v)) for v in range(0, 129, 32)])
    chart.grid(picture, x, y, "N, columns of B", "cycles")
    for slope, start, name, what in (
        (1 / 2, 0, "multiplying: N / 2", "2,048 multiply-adds a cycle"),
        (1 / 4, 16, "reading: 16 + N / 4", "128 bytes a cycle"),
    ):
        end = start + slope * WIDEST
        picture.line(x.place(0), y.place(start), x.place(WIDEST), y.place(end), "dashed")
        picture.text(x.end + 12, y.place(end) + 2, name, "small")
        picture.text(x.end + 12, y.place(end) + 19, what, "small soft")
    both = x.place(EVEN)
    picture.line(both, y.place(EVEN / 2), both, y.start, "thin dashed")
    top = y.place(WIDEST / 2) - 8
    picture.text(both - 6, top, "reading decides", "small soft", "end")
    picture.text(both + 6, top, "multiplying decides", "small soft")
    picture.line(both, top - 12, both, top + 4, "thin")
    for row in rows:
        n, cycles = chart.number(row, "n"), chart.number(row, "cycles") / group
        picture.rect(x.place(n) - 5, y.place(cycles) - 5, 10, 10, "compute", f"N = {n:g}: {cycles:.1f} cycles")
    picture.rect(400, 48, 10, 10, "compute")
    picture.text(416, 57, "measured", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
