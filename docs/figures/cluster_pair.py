#!/usr/bin/env python3
"""What two blocks, one above the other in the result of a matrix product, ask of L2: each for itself, and as a pair with multicast."""

import sys

import svg

ROWS, COLUMNS, BLOCKS = 128, 256, 2  # of a block's tile of the result
LABEL, UNIT, PANEL = 62, 78, 350  # UNIT: the width of 128 rows or columns
TOP, L2, HEIGHT = (52, 204), 128, 34
ASKED_BY = ("copy", "async")  # the colour of the block that asks

Part = tuple[float, float, str, tuple[int, ...]]
"""Where a read of L2 begins and how wide it is, in units; what it reads; the blocks that ask for it."""

ALONE: tuple[Part, ...] = ((0, 1, "own rows", (0, 1)), (1.1, 2, "shared tile", (0, 1)))
PAIR: tuple[Part, ...] = ((0, 1, "own rows", (0, 1)), (1.1, 1, "half 0", (0,)), (2.1, 1, "half 1", (1,)))


def panel(picture: svg.Figure, left: float, title: str, parts: tuple[Part, ...], asked: str) -> None:
    picture.text(left + 12, 26, title, "strong")
    for block, y in enumerate(TOP):
        picture.text(left + LABEL - 6, y + HEIGHT / 2 + 5, f"block {block}", "small soft", "end")
    picture.text(left + LABEL - 6, L2 + HEIGHT / 2 + 5, "L2", "small soft", "end")
    for begin, width, name, asking in parts:
        x, wide = left + LABEL + begin * UNIT, width * UNIT - 4
        middle = x + wide / 2
        for block, y in enumerate(TOP):
            colour = ASKED_BY[block if len(asking) > 1 else asking[0]]
            picture.rect(x, y, wide, HEIGHT, colour, f"{name}, in block {block}")
            picture.text(middle, y + HEIGHT / 2 + 4, name, "small", "middle")
            if block == 0:
                picture.arrow(middle, L2, middle, y + HEIGHT)
            else:
                picture.arrow(middle, L2 + HEIGHT, middle, y)
        for i, block in enumerate(asking):
            height = HEIGHT / len(asking)
            picture.rect(x, L2 + i * height, wide, height, ASKED_BY[block], f"{name}, asked for by block {block}")
            picture.text(middle, L2 + (i + 0.5) * height + 4, f"for {block}" if len(asking) > 1 else "for both", "small", "middle")
    picture.text(left + 12, TOP[1] + HEIGHT + 34, asked, "small")


def figure() -> svg.Figure:
    picture = svg.Figure("A tile that two blocks need, read twice from L2, and read once", 288)
    alone, pair = ROWS + COLUMNS, ROWS + COLUMNS // BLOCKS
    panel(picture, 0, "Each block for itself", ALONE, f"each asks for {ROWS} rows and {COLUMNS} columns: {alone}")
    panel(picture, PANEL, "In a pair", PAIR, f"each asks for {ROWS} and half of {COLUMNS}: {pair}, and gets {alone}")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
