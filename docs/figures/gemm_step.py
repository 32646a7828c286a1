#!/usr/bin/env python3
"""What one block of chapter 12 loads in a step along k, and where its tile of the result lies."""

import sys

import svg

EDGE, TILE, STEP, TOP = 150, 38, 19, 62
A_LEFT, B_LEFT, OUT_LEFT = 40, 270, 510
ROW, COLUMN, WALKED = 57, 76, 57  # where the block's rows and columns begin, and how far along k it is


def figure() -> svg.Figure:
    picture = svg.Figure("A step of a block: a tile of a, a tile of b, and the tile of the result that they add to", TOP + EDGE + 62)
    for left, name, size in ((A_LEFT, "a", "m × k"), (B_LEFT, "b", "k × n"), (OUT_LEFT, "out", "m × n")):
        picture.text(left, TOP - 34, name, "code strong")
        picture.text(left + 14 + 9 * len(name), TOP - 34, size, "small soft")
        picture.rect(left, TOP, EDGE, EDGE, "plain", f"{name}, {size}")
    picture.rect(A_LEFT, TOP + ROW, EDGE, TILE, "copy", "the block's rows of a")
    picture.rect(A_LEFT + WALKED, TOP + ROW, STEP, TILE, "wait", "this step's tile of a")
    picture.rect(B_LEFT + COLUMN, TOP, TILE, EDGE, "copy", "the block's columns of b")
    picture.rect(B_LEFT + COLUMN, TOP + WALKED, TILE, STEP, "wait", "this step's tile of b")
    picture.rect(OUT_LEFT + COLUMN, TOP + ROW, TILE, TILE, "compute", "the block's tile of the result")
    picture.arrow(A_LEFT + WALKED - 40, TOP + ROW - 12, A_LEFT + WALKED + 60, TOP + ROW - 12)
    picture.text(A_LEFT + WALKED + 66, TOP + ROW - 8, "k", "code")
    picture.arrow(B_LEFT + COLUMN + TILE + 14, TOP + WALKED - 40, B_LEFT + COLUMN + TILE + 14, TOP + WALKED + 60)
    picture.text(B_LEFT + COLUMN + TILE + 10, TOP + WALKED + 76, "k", "code")
    picture.text(A_LEFT + EDGE + 28, TOP + EDGE / 2 + 5, "·", "strong", "middle")
    picture.text(B_LEFT + EDGE + 42, TOP + EDGE / 2 + 5, "=", "strong", "middle")
    below = TOP + EDGE + 34
    for left, colour, words in ((A_LEFT, "copy", "the block's strips"), (B_LEFT, "wait", "what one step loads: 64 of k"), (OUT_LEFT, "compute", "the block's tile")):
        picture.rect(left, below - 12, 16, 14, colour)
        picture.text(left + 24, below, words, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
