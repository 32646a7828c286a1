#!/usr/bin/env python3
"""The box of tensor_box.py, stored: what changes in memory.

The rule is one of chapter 6: a store leaves alone the rows below the matrix, and cuts a row off at the next multiple of 16 bytes
(observed on an H200, see docs/measurements/h200_behaviour.md), so that the padding behind a row's last element is overwritten.
"""

import sys

import svg
import tensor_box
from tensor_box import BOX_HEIGHT, BOX_WIDTH, CELL, HEIGHT, STEP, WIDTH, X, Y


def stored(x: int, y: int) -> str:
    """What a store of the box does to place (x, y) of memory: 'copy' to an element, 'wrong' to padding, or nothing."""
    last = (WIDTH + STEP - 1) // STEP * STEP  # a row is cut off here
    if not (X <= x < min(X + BOX_WIDTH, last) and Y <= y < min(Y + BOX_HEIGHT, HEIGHT)):
        return ""
    return "copy" if x < WIDTH else "wrong"


def figure() -> svg.Figure:
    """The matrix, where the store changes it."""
    picture = svg.Figure("A store of a box over the corner of a matrix: clipped at the next multiple of 16 bytes", height=296)
    left, top = 92, 62
    picture.text(left, 22, "global memory", "strong")
    picture.text(left + 124, 22, "after a store of the box, on an H200", "small soft")
    tensor_box.matrix(picture, left, top, stored)
    y = top + (Y + BOX_HEIGHT) * CELL + 58
    for x, colour, text in ((left, "copy", "an element that changes"), (left + 200, "wrong", "padding that changes")):
        picture.rect(x, y, 16, 12, colour)
        picture.text(x + 22, y + 11, text, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
