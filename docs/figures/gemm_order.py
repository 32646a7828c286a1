#!/usr/bin/env python3
"""Which tiles of a result 132 blocks make at the same time, row after row and in bands, and what of a and b they need.

8192 x 8192 in tiles of 128 x 256, in the order of TileOrder, chapters/12_gemm/tiles.cuh.
"""

import sys

import svg

DOWN, ACROSS, BLOCKS, BAND = 64, 32, 132, 8
SHOWN = 16  # rows of tiles of the result
CELL_WIDTH, CELL_HEIGHT, TOP = 8, 12, 74


def at(i: int, band: int) -> tuple[int, int]:
    """Row and column of the tile that comes i-th: TileOrder::at."""
    first = i // (band * ACROSS) * band
    rows = min(DOWN - first, band)
    in_band = i - first * ACROSS
    return first + in_band % rows, in_band // rows


def panel(picture: svg.Figure, left: float, title: str, band: int) -> None:
    tiles = [at(i, band) for i in range(BLOCKS)]
    rows, columns = {row for row, _ in tiles}, {column for _, column in tiles}
    width, height = ACROSS * CELL_WIDTH, SHOWN * CELL_HEIGHT
    picture.text(left, 24, title, "strong")
    picture.text(left, 44, f"{len(rows)} tiles of a, {len(columns)} of b: {len(rows) + 2 * len(columns)} times 128 rows", "small soft")
    picture.rect(left, TOP, width, height, "plain", f"the first {SHOWN} of the {DOWN} rows of tiles")
    for row, column in tiles:
        picture.rect(left + column * CELL_WIDTH, TOP + row * CELL_HEIGHT, CELL_WIDTH, CELL_HEIGHT, "compute", f"tile ({row}, {column})")
    for column in columns:  # b lies above the result, a beside it
        picture.rect(left + column * CELL_WIDTH, TOP - 16, CELL_WIDTH, 10, "async", f"tile {column} of b")
    for row in rows:
        picture.rect(left - 16, TOP + row * CELL_HEIGHT, 10, CELL_HEIGHT, "copy", f"tile {row} of a")
    picture.text(left - 20, TOP + len(rows) * CELL_HEIGHT / 2 + 4, "a", "code", "end")
    picture.text(left + width + 8, TOP - 7, "b", "code")
    picture.text(left + width / 2, TOP + height / 2 + 30, f"the result: {SHOWN} of {DOWN} rows of tiles", "small soft", "middle")


def figure() -> svg.Figure:
    picture = svg.Figure("132 tiles that are made at the same time, row after row and in bands of eight rows", TOP + SHOWN * CELL_HEIGHT + 16)
    panel(picture, 60, "Row after row", 1)
    panel(picture, 420, f"In bands of {BAND}, column by column", BAND)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
