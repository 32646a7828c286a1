#!/usr/bin/env python3
"""Two tiles with gaps: a box narrower than its swizzle, and a box that a map makes wider than its matrix.

The places come from common/include/workbook/swizzle.hpp, by way of swizzle_banks.cpp.
"""

import sys

import svg
import swizzle_banks
from swizzle_banks import CELL_HEIGHT, CELL_WIDTH, GROUPS, PANELS

TOP = 84


def gaps(figure: svg.Figure, left: float, tile: list[list[int]], end: int, tip: str, colour: str) -> None:
    """Draws the places before `end` that hold no chunk of the tile."""
    taken = {place for row in tile for place in row}
    for place in set(range(end)) - taken:
        x, y = left + CELL_WIDTH * (place % GROUPS), TOP + CELL_HEIGHT * (place // GROUPS)
        figure.rect(x, y, CELL_WIDTH, CELL_HEIGHT, colour, tip)


def figure() -> svg.Figure:
    mode = swizzle_banks.places()[-1]
    narrow, padded = mode["narrow"], mode["padded"]
    padded_end = padded[-1][-1] + 2  # the last row has a pad too
    lines = (padded_end + GROUPS - 1) // GROUPS
    picture = svg.Figure("Where the chunks of eight rows lie in two tiles with gaps", TOP + CELL_HEIGHT * lines + 64)
    picture.text(20, 24, "Each cell is a chunk of 16 bytes, named row.chunk; each line is 128 bytes; above: its banks", "soft")
    gaps(picture, PANELS[0], narrow, GROUPS * len(narrow), "a gap: the copy writes nothing here", "paper thin")
    swizzle_banks.panel(picture, PANELS[0], TOP, "rows of 64 bytes, 128-byte swizzle", narrow)
    gaps(picture, PANELS[1], padded, padded_end, "the pad: the copy writes zeros here", "wait")
    swizzle_banks.panel(picture, PANELS[1], TOP, "rows of 128 bytes, padded to 144", padded)
    low = TOP + CELL_HEIGHT * lines + 40
    for x, colour, text in ((PANELS[0], "paper thin", "gap: left as it was"), (PANELS[1], "wait", "pad: filled with zeros")):
        picture.rect(x, low, 16, 12, colour)
        picture.text(x + 22, low + 11, text, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
