#!/usr/bin/env python3
"""A map whose rows are every third row of a matrix: how the map counts, beside how the memory lies, and where both end.

The matrix of 155 × 77 ints with rows of 624 bytes is that of chapter 6.
"""

import sys

import svg

HEIGHT, PITCH = 77, 624  # rows, and bytes from one to the next
FIRST, STEP = 1, 3
TAKEN = len(range(FIRST, HEIGHT, STEP))  # rows of the map
SHOWN = (range(8), range(HEIGHT - 5, HEIGHT + 3))  # rows of the memory, and where the next would be
ROW, GAP, TOP = 22, 24, 72
MEMORY, MAP, LENGTH = 90, 450, 200


def top(row: int) -> float:
    if row in SHOWN[0]:
        return TOP + ROW * row
    return TOP + ROW * (len(SHOWN[0]) + row - SHOWN[1].start) + GAP


def figure() -> svg.Figure:
    end = top(SHOWN[1][-1]) + ROW
    picture = svg.Figure("Every third row of a matrix as the rows of a map", end + 66)
    picture.text(MEMORY, 26, "the memory", "strong")
    picture.text(MEMORY, 46, f"{HEIGHT} rows, {PITCH} bytes apart", "small soft")
    picture.text(MAP, 26, "the matrix of the map", "strong")
    picture.text(MAP, 46, f"{TAKEN} rows, {STEP * PITCH:,} bytes apart", "small soft")
    for row in (row for part in SHOWN for row in part):
        taken = row % STEP == FIRST
        colour = ("copy" if taken else "plain") if row < HEIGHT else "wrong" if taken else ""
        if colour:
            picture.rect(MEMORY, top(row), LENGTH, ROW, colour, f"row {row}" if row < HEIGHT else "no memory of the matrix")
        if colour or row < HEIGHT:
            picture.text(MEMORY - 8, top(row) + 16, f"row {row}", "small" if taken else "small soft", "end")
        if taken:
            y = row // STEP
            picture.rect(MAP, top(row), LENGTH, ROW, "copy" if row < HEIGHT else "wait", f"y = {y}")
            picture.text(MAP + LENGTH + 8, top(row) + 16, f"y = {y}", "small")
            if row < HEIGHT:
                picture.arrow(MAP - 6, top(row) + ROW / 2, MEMORY + LENGTH + 6, top(row) + ROW / 2, "thin")
    for left in (MEMORY, MAP):
        picture.text(left + LENGTH / 2, top(SHOWN[1].start) - 8, "⋮", "soft", "middle")
    # The stride of the map, between its first two rows.
    x, y1, y2 = MEMORY + LENGTH + 30, top(FIRST) + ROW / 2 + 4, top(FIRST + STEP) + ROW / 2 - 4
    picture.arrow(x, y1, x, y2)
    picture.text(x + 8, (y1 + y2) / 2 + 4, f"strides[0]: {STEP * PITCH:,} bytes", "small")
    picture.line(MEMORY - 60, top(HEIGHT), MEMORY + LENGTH, top(HEIGHT), "dashed")
    picture.text(MEMORY + LENGTH + 8, top(HEIGHT) + 14, "end of the memory", "small soft")
    for x, name, text in (
        (20, "copy", "counted by the map"),
        (180, "wait", f"y = {TAKEN} is outside: zeros, if dims[1] is {TAKEN}"),
        (470, "wrong", f"read and written if dims[1] is {HEIGHT}"),
    ):
        picture.rect(x, end + 28, 16, 12, name)
        picture.text(x + 22, end + 39, text, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
