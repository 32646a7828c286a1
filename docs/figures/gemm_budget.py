#!/usr/bin/env python3
"""Chapter 12's rest: what each rung takes beyond the tensor cores' own cycles on the long product, by part, from the measurement file."""

import sys

import chart
import svg

# So narrow that a phone shows the whole figure.
WIDTH, LEFT, RIGHT, TOP, STEP, HEIGHT = 366, 104, 270, 92, 24, 18
LONG, SHORT, PACE = "8192 x 8192 x 8192", "8192 x 8192 x 1024", "with pauses"
FIRST = 4  # the number of the first rung that is shown
FINE, FINER, GAP = 7, 4, 26  # from this rung on bars are so many times as long, and how far below the others they are
SPLIT = 8  # from this rung on the two products tell the ends; before it the short one says how many they are at most
SMS, OF_A_CYCLE = 132, 2048  # multiply-adds of bf16 in a cycle of an SM
LEAST = 8192**3 / (SMS * OF_A_CYCLE) / 1000  # thousands of cycles that the tensor cores need for the long product
# Rows and columns of a tile, and how many of them an SM makes that makes most; all other rungs as the first.
TILE, TUNED = (128, 256, 16), (192, 128, 21)
TUNED_TILES = -(-8192 // 192) * (8192 // 128)  # their last row reaches beyond the matrix: with no last wave at all they take more than the least
BEYOND = TUNED_TILES / SMS * 192 * 128 * 8192 / OF_A_CYCLE / 1000 - LEAST
COLOURS = ("wait", "copy", "async")
PARTS = ("last wave", "ends", "steps")
# The part that the next rung attacks, by the rung that has it, as the chapter says; the last rung has no next one.
ATTACKED = {4: "steps", 5: "steps", 6: "steps", 7: "steps", 8: "ends", 9: "clock", 10: "ends", 11: "ends", 12: "last wave"}


def cycles(extent: str) -> dict[str, float]:
    """Thousands of cycles that a launch of each rung takes."""
    return {str(row["kernel"]): chart.number(row, "cycles") for row in chart.table("gemm_burst_clock") if (row["extent"], row["pace"]) == (extent, PACE)}


def parts(name: str, number: int) -> tuple[float, float, float]:
    """The cycles beyond those that the tensor cores need: in the last wave, at the ends of tiles, in the steps, in thousands."""
    rows, columns, tiles = TUNED if name == "tuned" else TILE
    long, short = cycles(LONG)[name], cycles(SHORT)[name]
    waves = tiles * rows * columns * 8192 / OF_A_CYCLE / 1000
    if number >= SPLIT:
        ends = short - (long - short) / 7
    else:  # A bound, in whole thousands, as the text reckons it.
        long = round(long)
        ends = round(short) - round(waves / 8)
    return waves - LEAST, ends, long - waves - ends


def mark(picture: svg.Figure, x: float, y: float) -> None:
    """A small diamond with its middle there."""
    picture.path(f"M{round(x - 4, 1):g} {y:g} l4 -4 l4 4 l-4 4 z", "head")


def figure() -> svg.Figure:
    clock = {str(row["kernel"]): chart.number(row, "sm_mhz") for row in chart.table("gemm_burst_clock") if (row["extent"], row["pace"]) == (LONG, PACE)}
    names = [name for name in clock if name not in ("cuBLAS", "warp_products")]
    bottom = TOP + STEP * len(names) + GAP
    picture = svg.Figure("What each rung of the matrix product takes beyond the tensor cores' own cycles, on an H200", bottom + 98, WIDTH)
    picture.text(8, 22, "The rest: cycles beyond 2034 thousand", "strong")
    picture.text(8, 40, "8192 × 8192 × 8192, one H200, in bursts with pauses", "small soft")
    chart.legend(picture, 8, 62, list(zip(COLOURS, PARTS, strict=True)), 92)
    picture.text(WIDTH - 8, TOP - 8, "thousands | MHz", "small soft", "end")
    picture.text(8, TOP + STEP * (FINE - FIRST) + 16, f"rungs {FINE} to 13, drawn {FINER} times as long", "small soft")
    for i, name in enumerate(names):
        number, left = FIRST + i, float(LEFT)
        y = TOP + STEP * i + (GAP if number >= FINE else 0)
        scale = (RIGHT - LEFT) / 1400 * (FINER if number >= FINE else 1)
        shown = parts(name, number)
        picture.text(LEFT - 6, y + 14, f"{number} {name}", "code small", "end")
        for part, words, colour in zip(shown, PARTS, COLOURS, strict=True):
            least = {"ends": "at most ", "steps": "at least "}.get(words, "") if number < SPLIT else ""
            length = max(part, 0) * scale
            if length > 0:
                beyond = f", {BEYOND:.0f} of them for rows beyond the matrix" if (name, words) == ("tuned", "last wave") else ""
                picture.rect(left, y, length, HEIGHT, colour, f"{number} {name}, {words}: {least}{part:.0f} thousand cycles{beyond}")
                if ATTACKED.get(number) == words:
                    mark(picture, left + length / 2, y + HEIGHT / 2)
            left += length
        if ATTACKED.get(number) == "clock":
            mark(picture, WIDTH - 45, y + HEIGHT / 2)
        picture.text(WIDTH - 54, y + 14, f"{round(cycles(LONG)[name]) - round(LEAST)}", "small strong", "end")
        picture.text(WIDTH - 8, y + 14, f"{clock[name]:.0f}", "small", "end")
    middle = TOP + STEP * (FINE - FIRST)
    picture.line(LEFT, TOP - 4, LEFT, middle - 2)
    picture.line(LEFT, middle + GAP - 4, LEFT, bottom - 2)
    mark(picture, 12, bottom + 16)
    picture.text(22, bottom + 20, "what the next rung attacks (after rung 9: the clock)", "small")
    picture.text(8, bottom + 38, "Rungs 4 to 7: ends at most, steps at least, as drawn.", "small soft")
    picture.text(8, bottom + 56, "Steps below zero (rungs 8 and 10) are not drawn.", "small soft")
    picture.text(8, bottom + 74, "Rung 13's last wave: half are rows beyond the matrix.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
