#!/usr/bin/env python3
"""The rungs of chapter 8 as bars: the share of the copy ceiling, from the measurement file."""

import sys

import chart
import svg

# So narrow that a phone shows the whole figure.
WIDTH, BAR_LEFT, BAR_WIDTH, BAR_HEIGHT, STEP, TOP = 366, 132, 170, 18, 24, 72


def figure() -> svg.Figure:
    rows = [row for row in chart.table("ladder_large") if row["kernel"] != "device-to-device copy"]
    bottom = TOP + STEP * len(rows)
    picture = svg.Figure("Bandwidth of each rung of the transposition as a share of a plain copy, on an H200", bottom + 72, WIDTH)
    picture.text(8, 22, "Share of a copy of the same bytes", "strong small")
    picture.text(8, 38, "32768 × 32768 float32, one H200", "small soft")
    for percent in (0, 50, 100):
        x = BAR_LEFT + BAR_WIDTH * percent / 100
        picture.line(x, TOP - 10, x, bottom, "thin" if percent < 100 else "dashed")
        picture.text(x, TOP - 16, f"{percent} %", "small soft", "middle")
    for i, row in enumerate(rows):
        name, rate, share = str(row["kernel"]), chart.number(row, "gb_per_s"), chart.number(row, "share")
        y, length = TOP + STEP * i, BAR_WIDTH * share / 100
        colour = "async" if name.startswith("tma") else "plain" if name.startswith("cuBLAS") else "copy"
        picture.text(BAR_LEFT - 6, y + 14, name, "code", "end")
        picture.rect(BAR_LEFT, y, length, BAR_HEIGHT, colour, f"{name}: {rate:.0f} GB/s, {share:.1f} %")
        picture.text(WIDTH - 8, y + 14, f"{share:.1f} %", "small strong", "end")
    entries = [("copy", "loads and stores by threads"), ("async", "tensor copies on both sides"), ("plain", "library")]
    for k, entry in enumerate(entries):
        chart.legend(picture, BAR_LEFT, bottom + 20 + 18 * k, [entry], 200)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
