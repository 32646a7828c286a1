#!/usr/bin/env python3
"""How many multiply-adds a cycle of an SM makes: mma.sync against wgmma, narrow and wide, from the measurement file."""

import sys

import chart
import svg

PAPER, LEFT, LONGEST, HEIGHT, STEP = 350, 14, 322, 26, 56  # so narrow that a phone shows all of it
MMA = 16 * 64 * 64  # multiply-adds of a warp in a round of the measuring program
WGMMA = 64 * 64  # of a warpgroup, times N


def rates() -> list[tuple[str, float, str]]:
    """What is drawn: its name, multiply-adds in a cycle, the colour of its bar."""
    rows = [row for row in chart.table("issue_rate") if row["type"] == "bf16" and row["data"] == "random"]
    mma = max((row for row in rows if row["instruction"] == "mma.sync"), key=lambda row: chart.number(row, "tflops"))
    warps = chart.number(mma, "warps_per_sm")
    drawn = [(f"mma.sync, {warps:g} warps, operands in registers", MMA * warps / chart.number(mma, "cycles"), "copy")]
    for n in (8, 32, 64, 256):
        row = next(
            row
            for row in rows
            if (row["instruction"], row["n"], row["a"], row["b"], row["mode"], row["warps_per_sm"])
            == ("wgmma", n, "shared memory", "along k", "128 bytes", 4)
        )
        drawn.append((f"wgmma, 4 warps, 64 × {n} sums", WGMMA * n / chart.number(row, "cycles"), "compute"))
    return drawn


def figure() -> svg.Figure:
    drawn = rates()
    most = max(rate for _, rate, _ in drawn)
    picture = svg.Figure("Multiply-adds of bf16 that an SM makes in a cycle, on an H200", 62 + STEP * len(drawn), PAPER)
    picture.text(LEFT, 26, "Multiply-adds in a cycle of one SM", "strong")
    for i, (name, rate, colour) in enumerate(drawn):
        top, length = 56 + STEP * i, LONGEST * rate / most
        picture.text(LEFT, top, name, "small")
        picture.rect(LEFT, top + 6, length, HEIGHT, colour, f"{name}: {rate:.0f} multiply-adds in a cycle")
        inside = length > 60
        picture.text(LEFT + length + (-8 if inside else 8), top + 24, f"{rate:,.0f}", "small strong", "end" if inside else "start")
    picture.text(LEFT, 50 + STEP * len(drawn), "Of bf16, on one H200, nothing loaded.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
