#!/usr/bin/env python3
"""Where chapter 12 begins and ends: four of its rungs as bars, the share of cuBLAS's speed, from the measurement file."""

import sys

import chart
import svg

# So narrow that a phone shows the whole figure.
WIDTH, BAR_LEFT, BAR_WIDTH, BAR_HEIGHT, STEP, TOP = 366, 118, 176, 18, 24, 90
EXTENT, PACE = "8192 x 8192 x 8192", "with pauses"
# The chapter tells what lies between the last two.
SHOWN = ("naive", "warp_products", "one_stage", "overlapped")
# What multiplies in each rung: threads, a warp's tensor cores, or a warpgroup's.
THREADS, WARPS = ("naive",), ("warp_products",)


def speed(name: str) -> tuple[float, float]:
    """Rate, and share of cuBLAS's in %: with pauses by the run with counters, or, where that has no such rung, in the ladder's, without."""
    table, pace = ("gemm_burst_clock", PACE) if name not in THREADS else ("gemm_ladder", "without pauses")
    rate = {str(row["kernel"]): chart.number(row, "tflops") for row in chart.table(table) if (row["extent"], row["pace"]) == (EXTENT, pace)}
    return rate[name], 100 * rate[name] / rate["cuBLAS"]


def figure() -> svg.Figure:
    shown = [(name, *speed(name)) for name in SHOWN]
    bottom = TOP + STEP * len(shown)
    picture = svg.Figure("Speed of four rungs of the matrix product as a share of cuBLAS, on an H200", bottom + 72, WIDTH)
    picture.text(8, 22, "Share of cuBLAS's speed", "strong")
    picture.text(8, 40, "8192 × 8192 × 8192, bf16, one H200", "small soft")
    picture.text(8, 56, "with pauses; ordinary arithmetic: alone, without", "small soft")
    for percent in (0, 50, 100):
        x = BAR_LEFT + BAR_WIDTH * percent / 100
        picture.line(x, TOP - 6, x, bottom, "thin" if percent < 100 else "dashed")
        picture.text(x, TOP - 12, f"{percent} %", "small soft", "middle")
    for i, (name, rate, share) in enumerate(shown):
        y, length = TOP + STEP * i, BAR_WIDTH * share / 100
        colour = "plain" if name in THREADS else "copy" if name in WARPS else "async"
        picture.text(BAR_LEFT - 6, y + 14, name, "code", "end")
        picture.rect(BAR_LEFT, y, length, BAR_HEIGHT, colour, f"{name}: {rate:.1f} TFLOP/s, {share:.1f} %")
        inside = share > 50
        if not inside:  # The lines of the grid stop for the number.
            picture.rect(BAR_LEFT + length + 4, y + 2, 72, BAR_HEIGHT - 4, "paper")
        text = f"{rate:.0f} TFLOP/s" if rate >= 10 else f"{rate:.1f} TFLOP/s"
        picture.text(BAR_LEFT + length + (-6 if inside else 6), y + 13, text, "small", "end" if inside else "start")
        picture.text(WIDTH - 8, y + 14, f"{share:.1f} %", "small strong", "end")
    entries = [("plain", "ordinary arithmetic"), ("copy", "mma.sync"), ("async", "TMA and wgmma")]
    for k, entry in enumerate(entries):
        chart.legend(picture, BAR_LEFT, bottom + 20 + 18 * k, [entry], 200)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
