#!/usr/bin/env python3
"""What warps do besides multiplying, without roles and with them: cycles for each tile, by the values in each thread's registers."""

import sys

import chart
import svg

COUNTS = (4, 32, 96)
KERNELS = (("meeting_ring", "without roles"), ("roles_ring", "with roles"))
PARTS = (
    ("waits", "copy", "waits for the tile"),
    ("slowest", "wrong", "waits for the slowest warp"),
    ("rest", "wait", "hands over, goes on"),
    ("stores", "async", "stores"),
)
LEFT, BAR, GROUP, MOST = 196, 22, 68, 800


def figure() -> svg.Figure:
    rows = {(row["kernel"], row["prints"]): row for row in chart.table("roles_waits")}
    top = 100.0
    bottom = top + GROUP * len(COUNTS)
    picture = svg.Figure("What a warp does besides multiplying, in cycles for each tile, without roles and with them", bottom + 46)
    picture.text(20, 28, "What a warp does besides multiplying: cycles for each tile, on an H200", "strong")
    for i, (_, colour, name) in enumerate(PARTS):
        picture.rect(20 + i % 2 * 270, 44 + i // 2 * 20, 12, 12, colour)
        picture.text(38 + i % 2 * 270, 54 + i // 2 * 20, name, "small")
    picture.text(svg.WIDTH - 20, 76, "together", "small", "end")
    x = chart.Axis(0, MOST, LEFT, svg.WIDTH - 84, [(v, f"{v}") for v in range(0, MOST + 1, 200)])
    for value, text in x.marks:
        at = x.place(value)
        picture.line(at, top - 4, at, bottom, "thin")
        picture.text(at, bottom + 18, text, "small soft", "middle")
    for i, count in enumerate(COUNTS):
        y = top + i * GROUP
        picture.text(20, y + BAR + 4, f"{count} values", "strong")
        for side, (kernel, name) in enumerate(KERNELS):
            row = rows[kernel, count]
            upper = y + side * (BAR + 4)
            picture.text(LEFT - 8, upper + 16, name, "small soft", "end")
            done = 0.0
            for part, colour, what in PARTS:
                cycles = chart.number(row, part)
                start, end = x.place(done), x.place(done + cycles)
                if end - start < 0.5:
                    continue
                picture.rect(start, upper, end - start, BAR, colour, f"{count} values, {name}: {what} {cycles:.0f} cycles")
                if end - start > 24:
                    picture.text((start + end) / 2, upper + 16, f"{cycles:.0f}", "small", "middle")
                done += cycles
            picture.text(svg.WIDTH - 20, upper + 16, f"{done:.0f}", "small strong", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
