#!/usr/bin/env python3
"""Chapter 1's opening: a copy through registers, by what each thread has asked for when it begins to wait."""

import sys

import chart
import svg

WIDTH, LEFT, RIGHT, TOP, LANE = 350, 14, 314, 84, 40  # narrow: a phone shows all of it
KERNELS = (
    ("one_per_thread", "one load of 4 bytes", "wait"),
    ("loop_coalesced", "four loads of 4 bytes", "copy"),
    ("vectorized", "one load of 16 bytes", "compute"),
)


def figure() -> svg.Figure:
    rows = {row["kernel"]: row for row in chart.table("report_sync_copy")}
    picture = svg.Figure("The rate of a copy by what a thread asks for before it waits, on an H200", TOP + len(KERNELS) * LANE + 14, WIDTH)
    picture.text(LEFT, 26, "Rate of a copy on an H200", "strong")
    picture.text(LEFT, 46, "by what a thread asks for before it waits", "small soft")
    for i, (kernel, name, colour) in enumerate(KERNELS):
        share, rate = chart.number(rows[kernel], "share") / 100, chart.number(rows[kernel], "gb_per_s")
        y, length = TOP + i * LANE, share * (RIGHT - LEFT)
        picture.rect(LEFT, y, length, LANE - 10, colour, f"{kernel}: {rate:,.0f} GB/s")
        picture.text(LEFT + 8, y + 20, name, "small")
        inside = share > 0.8
        picture.text(LEFT + length + (-8 if inside else 8), y + 20, f"{rate:,.0f} GB/s", "small strong", "end" if inside else "start")
    bottom = TOP + len(KERNELS) * LANE - 4
    picture.line(RIGHT, TOP - 6, RIGHT, bottom, "dashed")
    first = rows[KERNELS[0][0]]
    driver = 100 * chart.number(first, "gb_per_s") / chart.number(first, "share")
    picture.text(RIGHT, TOP - 14, f"the driver's copy: {driver:,.0f} GB/s", "small soft", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
