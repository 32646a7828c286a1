#!/usr/bin/env python3
"""How the two blocks of a cluster share a tile of b in rungs 10 to 12 of chapter 12: who asks for what, and where it lands."""

import sys

import svg

ROWS, COLUMNS, HALVES, KIB = 128, 256, 2, 16  # a block's rows, the tile's columns, and what each third of a stage has
TOP, BLOCK = 130, 96  # where block 0's rows begin, and how high 128 of them are
OUT_LEFT, OUT_WIDTH, STRIP = 76, 192, 34  # the cluster's tile of the result; a step's strip of a beside it and of b above it
STAGE_LEFT, PITCH, PART = 332, 128, 84  # the stages: from one third to the next, and how wide each is
OWN = ("copy", "async")  # by the block that asks


def matrices(picture: svg.Figure) -> None:
    half = OUT_WIDTH / HALVES
    picture.text(OUT_LEFT, 24, "The cluster's tile of out", "strong")
    for rank, colour in enumerate(OWN):
        x, y = OUT_LEFT + rank * half, TOP + rank * BLOCK
        picture.box(x, TOP - STRIP - 10, half, STRIP, f"half {rank}", f"{colour} small")
        picture.box(OUT_LEFT - STRIP - 10, y, STRIP, BLOCK, "a", f"{colour} code")
        picture.box(OUT_LEFT, y, OUT_WIDTH, BLOCK, f"block {rank}\n{ROWS} × {COLUMNS}", colour)
    picture.text(OUT_LEFT, TOP - STRIP - 18, "b", "code")
    picture.text(OUT_LEFT + 14, TOP - STRIP - 18, "both blocks need all of it", "small soft")
    picture.text(OUT_LEFT, TOP + 2 * BLOCK + 24, "Each block needs its own rows of a.", "small soft")


def stages(picture: svg.Figure) -> None:
    picture.text(STAGE_LEFT, 24, "What lands in a stage of each block", "strong")
    for block in range(HALVES):
        y = TOP + block * BLOCK
        picture.box(STAGE_LEFT, y + 18, PART, 44, f"a\n{KIB} KiB", f"{OWN[block]} small")
        for half, colour in enumerate(OWN):
            picture.box(STAGE_LEFT + (1 + half) * PITCH, y + 18, PART, 44, f"b, half {half}\n{KIB} KiB", f"{colour} small")
        words = f"full of block {block}: 1 arrival, {(1 + HALVES) * KIB} KiB"
        picture.text(STAGE_LEFT, y + 80, words, "small")
    for half, colour in enumerate(OWN):
        x = STAGE_LEFT + (1 + half) * PITCH
        picture.box(x, TOP - STRIP - 50, PART + 32, STRIP, f"block {half} asks", f"{colour} small")
        picture.arrow(x + PART / 2, TOP - 50, x + PART / 2, TOP + 17)
        side, lands = x + PART + 18, TOP + BLOCK + 40
        picture.line(side, TOP - 50, side, lands)
        picture.arrow(side, lands, x + PART + 1, lands)
    picture.text(STAGE_LEFT, TOP - 60, "each asks for", "small soft")
    picture.text(STAGE_LEFT, TOP - 44, "its own a", "small soft")
    picture.arrow(STAGE_LEFT + PART / 2, TOP - 38, STAGE_LEFT + PART / 2, TOP + 17)
    picture.text(STAGE_LEFT, TOP + 2 * BLOCK + 24, "empty, in each block: 8 warps here and 8 there, 16 arrivals", "small")


def figure() -> svg.Figure:
    picture = svg.Figure("Two blocks of a cluster share a tile of b: each asks for half of it, and both halves land in both", TOP + 2 * BLOCK + 40)
    matrices(picture)
    stages(picture)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
