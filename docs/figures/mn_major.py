#!/usr/bin/env python3
"""Where an operand across k lies in shared memory under the 128-byte swizzle, and what its two offsets lead to.

Addresses are those of mn_major, common/include/workbook/matrix_layout.hpp: 64 of k, 128 columns of bf16.
"""

import sys

import svg

DEPTH, CHUNKS, SHOWN = 64, 8, 16  # of k in the tile; chunks of 16 bytes in a row; of k that are drawn
LEFT, TOP, WIDTH, HEIGHT, GAP = 62, 92, 40, 15, 330


def place(k: int, column: int) -> int:
    """Byte of the chunk that begins with B(k, column): panels of 64 columns, one after the other, each of DEPTH rows of 128 bytes."""
    panel, chunk = column // 64, column % 64 // 8
    return panel * DEPTH * 128 + k * 128 + (chunk ^ k % 8) * 16


def panel(picture: svg.Figure, left: float, first: int) -> None:
    picture.text(left, TOP - 8, f"columns {first} to {first + 7}", "small soft")
    picture.text(left + CHUNKS * WIDTH, TOP - 8, f"{first + 56} to {first + 63}", "small soft", "end")
    for k in range(SHOWN):
        for chunk in range(CHUNKS):
            column = first + 8 * chunk
            x, y = left + chunk * WIDTH, TOP + k * HEIGHT + (6 if k >= 8 else 0)
            tip = f"k = {k}, columns {column} to {column + 7} of B: at {place(k, column)}"
            picture.rect(x, y, WIDTH, HEIGHT, "copy" if k < 8 else "compute", tip)
            picture.text(x + WIDTH / 2, y + 12, str(place(k, column)), "small", "middle")
        if first == 0 and k in (0, 7, 8, 15):
            picture.text(left - 8, TOP + k * HEIGHT + (18 if k >= 8 else 12), f"k = {k}", "small soft", "end")


def figure() -> svg.Figure:
    picture = svg.Figure("Addresses of 16 of k and 128 columns of an operand across k, in the 128-byte swizzle", TOP + SHOWN * HEIGHT + 62)
    picture.text(20, 22, "B as K × N, 128-byte swizzle: panels of 64 columns", "strong")
    picture.text(20, 42, f"stride {place(8, 0)}: to the next 8 of k, from blue to green", "small soft")
    picture.text(20, 59, f"leading {place(0, 64)}: to the next 64 columns, from the left panel to the right", "small soft")
    panel(picture, LEFT, 0)
    panel(picture, LEFT + GAP, 64)
    bottom = TOP + SHOWN * HEIGHT + 26
    picture.text(20, bottom, "A line is one k, a cell a chunk of 16 bytes with 8 neighbouring columns of B, a number the byte where it lies.", "small soft")
    picture.text(20, bottom + 17, "All that is drawn is what one wgmma with N = 128 takes. The next wgmma begins 16 lines further down.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
