#!/usr/bin/env python3
"""A ring at which all threads meet for each tile, and the same ring with full and empty barriers, as measured."""

import sys

import chart
import svg

KERNELS = (("meeting_ring", "wait", "meeting_ring: all meet for each tile"), ("roles_ring", "compute", "roles_ring: full and empty barriers, a warp that loads"))


def figure() -> svg.Figure:
    rows = {row["kernel"]: row for row in chart.table("roles_by_work") if row["blocks"] == "1"}
    works = [name for name in rows["roles_ring"] if str(name).isdigit()]
    picture = svg.Figure("A stream of tiles with and without full and empty barriers, one block on each SM of an H200", 372)
    picture.text(20, 28, "The same ring of tiles, one block on each SM: two ways to hand a tile over", "strong")
    y = chart.Axis(0, 5000, 300, 84, [(v, f"{v // 1000}") for v in range(0, 5001, 1000)])
    slot = 600 // len(works)
    x = chart.Axis(0, len(works), 80, 80 + slot * len(works), [(i + 0.5, f"{work}") for i, work in enumerate(works)])
    chart.grid(picture, x, y, "multiplications for each word that arrives", "TB/s")
    columns = chart.Columns(x, y, slot, len(KERNELS), slot // 2 - 6, 2)
    for side, (kernel, colour, name) in enumerate(KERNELS):
        for i, work in enumerate(works):
            rate = chart.number(rows[kernel], work)
            columns.draw(picture, i, side, rate, colour, f"{rate / 1000:.2f}", f"{name}, {work}: {rate:,.0f} GB/s")
    chart.legend(picture, 80, 56, [(colour, name) for _, colour, name in KERNELS], 250)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
