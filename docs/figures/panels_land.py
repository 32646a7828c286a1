#!/usr/bin/env python3
"""A tile that the map cuts into panels: side by side in the matrix, one after the other in shared memory.

The places come from common/include/workbook/swizzle.hpp, by way of swizzle_banks.cpp.
"""

import sys

import svg
import swizzle_banks
from swizzle_banks import CELL_HEIGHT, GROUPS

LEFT, RIGHT, TOP = 20, 356, 84
CELL = 36
PANEL_ROWS, LINE_BYTES, CHUNK_BYTES = 32, 128, 16
COLOURS = ("copy", "async")
OURS = (5, 3)  # row and chunk of the elements (5, 12) and (5, 28)


def cell(figure: svg.Figure, x: float, y: float, panel: int, row: int, chunk: int) -> None:
    """One chunk of a panel, named row.chunk; ours has a colour of its own."""
    colour = "compute" if (row, chunk) == OURS else COLOURS[panel]
    figure.rect(x, y, CELL, CELL_HEIGHT, colour, f"panel {panel}, row {row}, chunk {chunk}")
    figure.text(x + CELL / 2, y + 16, f"{row}.{chunk}", "code", "middle")


def figure() -> svg.Figure:
    mode = swizzle_banks.places()[1]
    tile, width = mode["swizzled"], mode["width"]
    chunks, rows = width // CHUNK_BYTES, len(tile)
    lines = rows * width // LINE_BYTES
    second = TOP + CELL_HEIGHT * lines + 64
    picture = svg.Figure("A tile of two panels in the matrix and in shared memory", second + CELL_HEIGHT * lines + 36)
    picture.text(LEFT, 24, f"Each cell is a chunk of {CHUNK_BYTES} bytes, named row.chunk; green: elements (5, 12) and (5, 28)", "soft")
    picture.text(LEFT, TOP - 24, "in the matrix: side by side", "strong")
    picture.text(RIGHT, TOP - 24, "in shared memory: one after the other", "strong")
    for panel in range(len(COLOURS)):
        left = LEFT + CELL * chunks * panel
        columns = width // 4
        picture.text(left + CELL * chunks / 2, TOP - 6, f"columns {columns * panel} to {columns * (panel + 1) - 1}", "small soft", "middle")
        top = (TOP, second)[panel]
        picture.text(RIGHT, top - 6, f"panel {panel}", "small soft")
        for row in range(rows):
            for chunk in range(chunks):
                cell(picture, left + CELL * chunk, TOP + CELL_HEIGHT * row, panel, row, chunk)
                place = tile[row][chunk]
                cell(picture, RIGHT + CELL * (place % GROUPS), top + CELL_HEIGHT * (place // GROUPS), panel, row, chunk)
        for line in range(lines):
            byte = panel * PANEL_ROWS * width + line * LINE_BYTES
            picture.text(RIGHT + CELL * GROUPS + 8, top + CELL_HEIGHT * line + 16, f"byte {byte}", "small soft")
        picture.text(RIGHT, top + CELL_HEIGHT * lines + 20, f"… rows {rows} to {PANEL_ROWS - 1} of panel {panel}", "small soft")
    picture.text(LEFT, TOP + CELL_HEIGHT * rows + 20, f"… rows {rows} to {PANEL_ROWS - 1}", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
