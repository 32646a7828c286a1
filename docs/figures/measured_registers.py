#!/usr/bin/env python3
"""What a warp that only loads costs the others, and what moved registers give back: the time by the values in each thread's registers."""

import sys

import chart
import svg

KERNELS = (
    ("meeting_ring", "wait", "no roles: all threads meet for each tile"),
    ("roles_ring", "copy", "a warp that only loads"),
    ("registers_moved", "compute", "a warp that only loads, and what it took given back"),
)


def figure() -> svg.Figure:
    rows = {row["kernel"]: row for row in chart.table("roles_by_registers")}
    counts = [name for name in rows["roles_ring"] if str(name).isdigit()]
    picture = svg.Figure("Time of three kernels with the same work, by the number of values that each thread keeps in registers", 396)
    picture.text(20, 28, "The same work on an H200, with more and more values in the registers of each thread", "strong")
    y = chart.Axis(0, 6, 324, 112, [(v, f"{v}") for v in range(0, 7, 3)])
    slot = 120
    x = chart.Axis(0, len(counts), 80, 80 + slot * len(counts), [(i + 0.5, f"{count}") for i, count in enumerate(counts)])
    chart.grid(picture, x, y, "values that each thread keeps", "ms")
    columns = chart.Columns(x, y, slot, len(KERNELS), 34, 3)
    for side, (kernel, colour, name) in enumerate(KERNELS):
        for i, count in enumerate(counts):
            time = chart.number(rows[kernel], count)
            columns.draw(picture, i, side, time, colour, f"{time:.2f}", f"{name}, {count} values: {time:.2f} ms")
    for i, (_, colour, name) in enumerate(KERNELS):
        picture.rect(80, 46 + 18 * i, 12, 12, colour)
        picture.text(98, 56 + 18 * i, name, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
