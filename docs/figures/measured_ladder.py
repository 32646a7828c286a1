#!/usr/bin/env python3
"""The rungs of chapter 8 as bars: the share of the copy ceiling, from the measurement file."""

import sys

import chart
import svg

BAR_LEFT, BAR_WIDTH, BAR_HEIGHT, STEP, TOP = 170, 420, 22, 32, 70


def figure() -> svg.Figure:
    rows = [row for row in chart.table("ladder_large") if row["kernel"] != "device-to-device copy"]
    bottom = TOP + STEP * len(rows)
    picture = svg.Figure("Bandwidth of each rung of the transposition as a share of a plain copy, on an H200", bottom + 44)
    picture.text(20, 28, "Share of the device-to-device copy of the same bytes; 32768 × 32768 float32, one H200", "strong")
    for percent in (0, 25, 50, 75, 100):
        x = BAR_LEFT + BAR_WIDTH * percent / 100
        picture.line(x, TOP - 10, x, bottom, "thin" if percent < 100 else "dashed")
        picture.text(x, TOP - 16, f"{percent} %", "small soft", "middle")
    for i, row in enumerate(rows):
        name, rate, share = str(row["kernel"]), chart.number(row, "gb_per_s"), chart.number(row, "share")
        y, length = TOP + STEP * i, BAR_WIDTH * share / 100
        colour = "async" if name.startswith("tma") else "plain" if name.startswith("cuBLAS") else "copy"
        picture.text(BAR_LEFT - 8, y + 16, name, "code", "end")
        picture.rect(BAR_LEFT, y, length, BAR_HEIGHT, colour, f"{name}: {rate:.0f} GB/s, {share:.1f} %")
        inside = share > 40
        if not inside:  # The lines of the grid stop for the number.
            picture.rect(BAR_LEFT + length + 5, y + 3, 62, BAR_HEIGHT - 6, "paper")
        picture.text(BAR_LEFT + length + (-8 if inside else 8), y + 16, f"{rate:.0f} GB/s", "small", "end" if inside else "start")
        picture.text(BAR_LEFT + BAR_WIDTH + 16, y + 16, f"{share:.1f} %", "strong")
    entries = [("copy", "loads and stores by threads"), ("async", "tensor copies on both sides"), ("plain", "library")]
    chart.legend(picture, BAR_LEFT, bottom + 26, entries, 200)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
