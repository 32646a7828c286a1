#!/usr/bin/env python3
"""The box of box_filter_3x3 for the tile at (0, 0): which of its elements are the tile, its halo, zeros, or brought for nothing.

The sizes are those of chapters/06_tma_2d/tma_2d.cuh: a tile of 64 × 16 ints, and a margin of four columns, because a box begins and
ends at a multiple of 16 bytes.
"""

import sys

import svg

TILE_WIDTH, TILE_HEIGHT = 64, 16
MARGIN = 4  # columns on each side: 16 bytes of ints
WIDTH = TILE_WIDTH + 2 * MARGIN  # of the box
COLUMNS = (range(-MARGIN, 4), range(TILE_WIDTH - 3, TILE_WIDTH + MARGIN))
ROWS = (range(-1, 3), range(TILE_HEIGHT - 1, TILE_HEIGHT + 1))
CELL_WIDTH, CELL_HEIGHT = 40, 24
GAP_X, GAP_Y = 34, 22  # where columns and rows are left out
LEFT, TOP = 52, 76


def colour(x: int, y: int) -> str:
    """What element (x, y) of the matrix is to the tile at (0, 0)."""
    if not -1 <= x <= TILE_WIDTH:
        return "paper thin"  # brought because a box has whole 16 bytes
    if x < 0 or y < 0:
        return "wait"
    return "copy" if x < TILE_WIDTH and y < TILE_HEIGHT else "compute"


def place(index: int, first: int, parts: tuple[range, range], cell: int, gap: int) -> float:
    """Where a column or a row of the picture begins."""
    if index in parts[0]:
        return first + cell * (index - parts[0].start)
    return first + cell * (len(parts[0]) + index - parts[1].start) + gap


def left(x: int) -> float:
    return place(x, LEFT, COLUMNS, CELL_WIDTH, GAP_X)


def top(y: int) -> float:
    return place(y, TOP, ROWS, CELL_HEIGHT, GAP_Y)


def figure() -> svg.Figure:
    low = top(TILE_HEIGHT) + CELL_HEIGHT
    picture = svg.Figure("The box of 72 by 18 that brings a tile of 64 by 16 with its halo", low + 72)
    picture.text(20, 26, "The box for the tile at (0, 0), with the index of each element in halo[]", "strong")
    for part in COLUMNS:
        for x in part:
            picture.text(left(x) + CELL_WIDTH / 2, TOP - 8, f"x = {x}" if x == -MARGIN else str(x), "small soft", "middle")
            for rows in ROWS:
                for y in rows:
                    index = (y + 1) * WIDTH + x + MARGIN
                    picture.rect(left(x), top(y), CELL_WIDTH, CELL_HEIGHT, colour(x, y), f"element ({x}, {y})")
                    picture.text(left(x) + CELL_WIDTH / 2, top(y) + 16, str(index), "small", "middle")
    for rows in ROWS:
        for y in rows:
            picture.text(LEFT - 8, top(y) + 16, f"y = {y}" if y == -1 else str(y), "small soft", "end")
            picture.text(left(COLUMNS[1].start) - GAP_X / 2, top(y) + 16, "…", "soft", "middle")
    for part in COLUMNS:
        for x in part:
            picture.text(left(x) + CELL_WIDTH / 2, top(ROWS[1].start) - 7, "⋮", "soft", "middle")
    # The nine elements of the first sum.
    picture.path(f"M{left(-1) + 2} {top(-1) + 2} h{3 * CELL_WIDTH - 4} v{3 * CELL_HEIGHT - 4} h{4 - 3 * CELL_WIDTH} z", "dashed")
    for at, name, text in (
        (20, "copy", "the tile"),
        (130, "compute", "halo from the matrix"),
        (310, "wait", "halo outside of it: zeros"),
        (510, "paper thin", "brought, never read"),
    ):
        picture.rect(at, low + 20, 16, 12, name)
        picture.text(at + 22, low + 31, text, "small")
    picture.path(f"M20 {low + 44} h16 v12 h-16 z", "dashed")
    picture.text(42, low + 55, "the nine elements of the first sum", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
