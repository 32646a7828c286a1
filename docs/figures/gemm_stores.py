#!/usr/bin/env python3
"""What reaches the result at once in chapter 12: a store of a warp, until rung 10, and a part of rung 11's tensor copy."""

import sys

import svg

ROWS, SECTORS, SECTOR, LANE_BYTES = 8, 4, 32, 4  # the rows shown; of each 128 bytes, in sectors of 32; what a lane stores
LANES_OF_ROW = 4
BYTE, LANE_HEIGHT, TOP = 2.2, 22, 66


def rows(picture: svg.Figure, left: float, title: str, below: str) -> None:
    """The sectors that 8 rows of the result have at the place of one panel, all empty."""
    picture.text(left, 24, title, "strong")
    for row in range(ROWS):
        for sector in range(SECTORS):
            picture.rect(left + sector * SECTOR * BYTE, TOP + row * LANE_HEIGHT, SECTOR * BYTE, LANE_HEIGHT - 6, "plain", "a sector, 32 bytes")
        picture.text(left - 8, TOP + row * LANE_HEIGHT + 12, f"row {row}", "small soft", "end")
    picture.text(left, TOP - 8, "a sector", "small soft")
    picture.text(left, TOP + ROWS * LANE_HEIGHT + 18, below, "small")


def figure() -> svg.Figure:
    picture = svg.Figure("Stores of a warp fill half sectors of eight rows; a tensor copy of a panel fills whole rows of 128 bytes", TOP + ROWS * LANE_HEIGHT + 34)
    left, right = 64, 424
    rows(picture, left, "Until rung 10: one store of a warp", "4 lanes, 16 bytes of each row: half of a sector")
    for row in range(ROWS):
        for lane in range(LANES_OF_ROW):
            tip = f"lane {row * LANES_OF_ROW + lane}: 4 bytes"
            picture.rect(left + lane * LANE_BYTES * BYTE, TOP + row * LANE_HEIGHT, LANE_BYTES * BYTE, LANE_HEIGHT - 6, "wait", tip)
    rows(picture, right, "Rung 11: a copy of a panel", "each of its 64 rows: 4 whole sectors")
    for row in range(ROWS):
        for sector in range(SECTORS):
            picture.rect(right + sector * SECTOR * BYTE, TOP + row * LANE_HEIGHT, SECTOR * BYTE, LANE_HEIGHT - 6, "async", "a whole sector")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
