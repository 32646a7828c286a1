#!/usr/bin/env python3
"""What one copy for a tile saves where threads compute: three rings, with the time that each takes and the stages that it needs for it."""

import sys

import chart
import svg

TOP, STEP, STAGE = 68, 76, 44
WORK = "64"
RINGS = [  # the ring as the measurements call it, its stages, how the chapter says it, what is issued for a tile, colour
    ("256 copies, two block barriers", 2, "cp.async", "each tile: 256 copies, two block barriers", "copy"),
    ("256 copies, one block barrier", 4, "cp.async", "each tile: 256 copies, one block barrier", "copy"),
    ("1 copy", 2, "cp.async.bulk", "each tile: 1 copy, one block barrier", "async"),
]


def figure() -> svg.Figure:
    rows = {(row["ring"], row["stages"]): chart.number(row, WORK) for row in chart.table("spared_copies")}
    times = [rows[ring, stages] for ring, stages, *_ in RINGS]
    title = "Three rings that compute: their time, and the stages that they need for it, on an H200"
    picture = svg.Figure(title, TOP + STEP * len(RINGS) + 4, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "Read, compute with and write 1 GiB", "strong")
    picture.text(chart.NARROW_LEFT, 46, f"H200, {WORK} multiply-adds for each word", "small soft")
    for i, ((ring, stages, name, issued, colour), time) in enumerate(zip(RINGS, times, strict=True)):
        y = TOP + STEP * i
        chart.lane(picture, y, (name, issued), 100 * time / max(times), f"{time:.0f} µs", colour, f"{ring}, {stages} stages: {time:.0f} µs")
        for stage in range(stages):
            picture.rect(chart.NARROW_LEFT + STAGE * stage, y + 45, STAGE - 4, 15, "wait", "a stage of 4 KiB")
            picture.text(chart.NARROW_LEFT + STAGE * stage + STAGE / 2 - 2, y + 57, "4 KiB", "small", "middle")
        picture.text(chart.NARROW_LEFT + STAGE * stages + 4, y + 57, f"{'two' if stages == 2 else 'four'} stages", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
