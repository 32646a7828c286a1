#!/usr/bin/env python3
"""What two blocks, one above the other in the result of a matrix product, ask of L2: each for itself, and as a pair with multicast."""

import sys

import chart
import svg

ROWS, COLUMNS, BLOCKS = 128, 256, 2  # of a block's tile of the result
LABEL, UNIT, PANEL = 62, 78, 282  # UNIT: the width of 128 rows or columns; PANEL: the height of one half of the picture
TOP, L2, HEIGHT = (52, 204), 128, 34
ASKED_BY = ("copy", "async")  # the colour of the block that asks

Part = tuple[float, float, str, tuple[int, ...]]
"""Where a read of L2 begins and how wide it is, in units; what it reads; the blocks that ask for it."""

ALONE: tuple[Part, ...] = ((0, 1, "own rows", (0, 1)), (1.1, 2, "shared tile", (0, 1)))
PAIR: tuple[Part, ...] = ((0, 1, "own rows", (0, 1)), (1.1, 1, "half 0", (0,)), (2.1, 1, "half 1", (1,)))


def panel(picture: svg.Figure, top: float, title: str, parts: tuple[Part, ...], asked: str) -> None:
    tops, l2 = [top + y for y in TOP], top + L2
    picture.text(12, top + 26, title, "strong")
    for block, y in enumerate(tops):
        picture.text(LABEL - 6, y + HEIGHT / 2 + 5, f"block {block}", "small soft", "end")
    picture.text(LABEL - 6, l2 + HEIGHT / 2 + 5, "L2", "small soft", "end")
    for begin, width, name, asking in parts:
        x, wide = LABEL + begin * UNIT, width * UNIT - 4
        middle = x + wide / 2
        for block, y in enumerate(tops):
            colour = ASKED_BY[block if len(asking) > 1 else asking[0]]
            picture.rect(x, y, wide, HEIGHT, colour, f"{name}, in block {block}")
            picture.text(middle, y + HEIGHT / 2 + 4, name, "small", "middle")
            if block == 0:
                picture.arrow(middle, l2, middle, y + HEIGHT)
            else:
                picture.arrow(middle, l2 + HEIGHT, middle, y)
        for i, block in enumerate(asking):
            height = HEIGHT / len(asking)
            picture.rect(x, l2 + i * height, wide, height, ASKED_BY[block], f"{name}, asked for by block {block}")
            picture.text(middle, l2 + (i + 0.5) * height + 4, f"for {block}" if len(asking) > 1 else "for both", "small", "middle")
    picture.text(12, tops[1] + HEIGHT + 34, asked, "small")


def figure() -> svg.Figure:
    picture = svg.Figure("A tile that two blocks need, read twice from L2, and read once", PANEL + 288, chart.NARROW)
    alone, half = ROWS + COLUMNS, COLUMNS // BLOCKS
    panel(picture, 0, "Each block for itself", ALONE, f"each asks for {ROWS} rows + {COLUMNS} columns = {alone}")
    panel(picture, PANEL, "In a pair", PAIR, f"each asks for {ROWS} + {half} = {ROWS + half}, and gets {alone}")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
