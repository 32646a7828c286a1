#!/usr/bin/env python3
"""Chapter 6's kernels as bars: the share of the copy that tensor copies reach, with the bytes of their boxes."""

import sys

import chart
import svg

BAR_LEFT, BAR_WIDTH, BAR_HEIGHT, STEP, TOP = 150, 330, 22, 32, 70
BOXES = {  # the box that one instruction loads, as the chapter's kernels have it
    "add_one_matrix": "64 × 16: 4096 bytes",
    "gather_rows": "64 × 16: 4096 bytes",
    "box_filter_3x3": "72 × 18: 5184 bytes",
    "copy_3d": "16 × 5 × 3: 960 bytes",
    "copy_2d": "16 × 5: 320 bytes",
    "copy_1d": "16: 64 bytes",
}


def figure() -> svg.Figure:
    rows = {str(row["kernel"]): row for row in chart.table("report_tma_2d")}
    bottom = TOP + STEP * len(BOXES)
    picture = svg.Figure("Bandwidth of chapter 6's kernels as a share of a plain copy, on an H200", bottom + 44)
    picture.text(20, 28, "Share of the device-to-device copy; 100 million ints, one H200", "strong")
    chart.shares(picture, BAR_LEFT, BAR_WIDTH, TOP, bottom)
    picture.text(BAR_LEFT + BAR_WIDTH + 84, TOP - 16, "box of a block", "small soft")
    for i, (name, box) in enumerate(BOXES.items()):
        rate, share = chart.number(rows[name], "gb_per_s"), chart.number(rows[name], "share")
        y, length = TOP + STEP * i, BAR_WIDTH * share / 100
        picture.text(BAR_LEFT - 8, y + 16, name, "code", "end")
        picture.rect(BAR_LEFT, y, length, BAR_HEIGHT, "copy" if name.startswith("copy") else "async", f"{name}: {rate:.0f} GB/s, {share:.1f} %")
        inside = share > 40
        if not inside:  # The lines of the grid stop for the number.
            picture.rect(BAR_LEFT + length + 5, y + 3, 70, BAR_HEIGHT - 6, "paper")
        picture.text(BAR_LEFT + length + (-8 if inside else 8), y + 16, f"{rate:,.0f} GB/s", "small", "end" if inside else "start")
        picture.text(BAR_LEFT + BAR_WIDTH + 12, y + 16, f"{share:.1f} %", "strong")
        picture.text(BAR_LEFT + BAR_WIDTH + 84, y + 16, box, "small")
    chart.legend(picture, BAR_LEFT, bottom + 26, [("async", "a box of 4 KiB or more"), ("copy", "a small box")], 220)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
