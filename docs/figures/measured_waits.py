#!/usr/bin/env python3
"""What warps do besides multiplying, without roles and with them: shares of a warp's time, by the values in each thread's registers."""

import sys

import chart
import svg

COUNTS = (8, 32, 64, 96)
KERNELS = (("meeting_ring", "without roles"), ("roles_ring", "with roles"))
SHARES = (
    ("waits", "copy", "waits for the tile"),
    ("slowest", "wrong", "waits for the slowest warp"),
    ("rest", "wait", "hands over, asks, goes to its next tile"),
    ("stores", "async", "stores"),
)
LEFT, BAR, GROUP = 196, 24, 70


def figure() -> svg.Figure:
    rows = {(row["kernel"], row["prints"]): row for row in chart.table("roles_waits")}
    top = 100.0
    bottom = top + GROUP * len(COUNTS)
    picture = svg.Figure("What a warp does besides multiplying, in per cent of its time, without roles and with them", bottom + 46)
    picture.text(20, 28, "What a warp does besides multiplying, in per cent of its time, on an H200", "strong")
    for i, (_, colour, name) in enumerate(SHARES):
        picture.rect(20 + i % 2 * 270, 44 + i // 2 * 20, 12, 12, colour)
        picture.text(38 + i % 2 * 270, 54 + i // 2 * 20, name, "small")
    for i, line in enumerate(("in a quarter of", "the SM nobody", "multiplies")):
        picture.text(svg.WIDTH - 20, 44 + 16 * i, line, "small", "end")
    x = chart.Axis(0, 32, LEFT, svg.WIDTH - 84, [(v, f"{v} %") for v in range(0, 31, 10)])
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
            idle = 100 - chart.number(row, "both") - chart.number(row, "one")
            picture.text(svg.WIDTH - 20, upper + 16, f"{idle:.0f} %" if idle >= 0.95 else f"{idle:.1f} %", "small strong", "end")
            done = 0.0
            for share, colour, what in SHARES:
                part = 100 * chart.number(row, share) / chart.number(row, "loop")
                start, end = x.place(done), x.place(done + part)
                if end - start < 0.5:
                    continue
                picture.rect(start, upper, end - start, BAR, colour, f"{count} values, {name}: {what} {part:.1f} %")
                if end - start > 20:
                    picture.text((start + end) / 2, upper + 16, f"{part:.1f}", "small", "middle")
                done += part
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
