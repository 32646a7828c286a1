#!/usr/bin/env python3
"""The opening of chapter 6: three rows of the matrix of `lost_columns` (mistakes.cu), before and after it adds one through a map of 30 columns."""

import sys

import svg

FIRST, LAST, EDGE = 26, 35, 30  # the columns that are drawn, and the first one behind the map
CELL, ROW = 28, 26
LOST = -(-EDGE * 4 // 16) * 16 // 4  # a store is cut here: at the next multiple of 16 bytes
WIDTH = 48  # of the matrix
ROWS = (8, 9, 10)  # the first rows of the kernel's tile
BEFORE = [[y * WIDTH + x for x in range(FIRST, LAST + 1)] for y in ROWS]


def after(column: int, value: int) -> tuple[int, str]:
    """What an element is after the kernel, and its colour."""
    if column < EDGE:
        return value + 1, "copy"
    return (1, "wrong") if column < LOST else (value, "plain")


def _part(picture: svg.Figure, above: float, title: str, changed: bool) -> None:
    left, top = 62, above + 64
    picture.text(left, above + 26, title, "strong")
    for i in range(LAST - FIRST + 1):
        column = FIRST + i
        picture.text(left + (i + 0.5) * CELL, top - 8, str(column), "small soft", "middle")
        for j, row in enumerate(BEFORE):
            value, colour = after(column, row[i]) if changed else (row[i], "plain")
            picture.rect(left + i * CELL, top + j * ROW, CELL, ROW, colour, f"column {column}: {value}")
            picture.text(left + (i + 0.5) * CELL, top + j * ROW + 18, str(value), "small", "middle")
    for j, y in enumerate(ROWS):
        picture.text(left - 8, top + j * ROW + 18, f"row {y}", "small soft", "end")
    edge = left + (EDGE - FIRST) * CELL
    picture.line(edge, top - 22, edge, top + ROW * len(BEFORE) + 10)
    picture.text(edge, top + ROW * len(BEFORE) + 26, "the 30 columns end here", "small soft", "middle")


def figure() -> svg.Figure:
    picture = svg.Figure("A kernel adds one through a map of 30 columns, and columns 30 and 31 are lost", 350, 360)
    _part(picture, 0, "before", False)
    _part(picture, 172, "after", True)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
