#!/usr/bin/env python3
"""What a warp that only loads gains if loading is work: the time without roles and with them, by the multiplications before each copy."""

import sys

import chart
import svg

PAPER = 366  # so narrow that a phone shows all of it
KERNELS = (
    ("warp 0, all meet", "wait", "no roles: one of eight warps also loads"),
    ("a ninth warp, empty barriers", "copy", "roles: a ninth warp loads, and nobody meets"),
)


def figure() -> svg.Figure:
    rows = {row["loader"]: row for row in chart.table("roles_by_loader")}
    steps = [name for name in rows[KERNELS[0][0]] if str(name).isdigit()]
    picture = svg.Figure("The time of two kernels with the same work, without roles and with them, by how much there is to do before each copy", 330, PAPER)
    picture.text(14, 26, "When loading is work", "strong")
    picture.text(14, 46, "time in µs, on an H200", "small soft")
    slot = 76
    y = chart.Axis(0, 400, 270, 112, [(v, f"{v}") for v in (0, 100, 200)])
    x = chart.Axis(0, len(steps), 50, 50 + slot * len(steps), [(i + 0.5, f"{step}") for i, step in enumerate(steps)])
    chart.grid(picture, x, y, "multiplications before each copy", "")
    columns = chart.Columns(x, y, slot, len(KERNELS), 30, 2)
    for side, (loader, colour, name) in enumerate(KERNELS):
        picture.rect(14, 58 + 18 * side, 12, 12, colour)
        picture.text(32, 68 + 18 * side, name, "small")
        for i, step in enumerate(steps):
            time = chart.number(rows[loader], step)
            columns.draw(picture, i, side, time, colour, f"{time:.0f}", f"{name}, {step} multiplications: {time:.0f} µs")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
