#!/usr/bin/env python3
"""Where 16 rows of a K-major operand lie in shared memory, without a swizzle and with 128 bytes, and what a descriptor says of it.

Addresses are those of k_major and k_major_step, common/include/workbook/matrix_layout.hpp: 64 rows of 64 bf16.
"""

import sys

import svg

LINES, CHUNKS, SHOWN = 64, 8, 16  # rows of the tile; chunks of 16 bytes in a row; rows that are drawn
LEFT, TOP, WIDTH, HEIGHT, GAP = 56, 84, 35, 15, 376


def plain(row: int, chunk: int) -> int:
    """Byte of a chunk in panels of 16 bytes: LINES rows of 16 bytes, one panel after the other."""
    return chunk * LINES * 16 + row * 16


def swizzled(row: int, chunk: int) -> int:
    """Byte of a chunk in rows of 128 bytes under the 128-byte swizzle."""
    return row * 128 + (chunk ^ row % 8) * 16


def panel(picture: svg.Figure, left: float, title: str, words: tuple[str, str], place) -> None:  # noqa: ANN001
    picture.text(left - 36, 22, title, "strong")
    for i, text in enumerate(words):
        picture.text(left - 36, 42 + 17 * i, text, "small soft")
    for row in range(SHOWN):
        for chunk in range(CHUNKS):
            own = chunk < 2  # one wgmma takes 32 bytes of each row
            colour = "plain" if not own else "copy" if row < 8 else "compute"
            x, y = left + chunk * WIDTH, TOP + row * HEIGHT + (6 if row >= 8 else 0)
            picture.rect(x, y, WIDTH, HEIGHT, colour, f"row {row}, bytes {chunk * 16} to {chunk * 16 + 15} of k: at {place(row, chunk)}")
            picture.text(x + WIDTH / 2, y + 12, str(place(row, chunk)), "small", "middle")
        if row in (0, 7, 8, 15):
            picture.text(left - 8, TOP + row * HEIGHT + (18 if row >= 8 else 12), f"row {row}", "small soft", "end")


def figure() -> svg.Figure:
    stride, leading = plain(8, 0), plain(0, 1)
    picture = svg.Figure("Addresses of 16 rows of an operand without a swizzle and in the 128-byte swizzle", TOP + SHOWN * HEIGHT + 62)
    panel(picture, LEFT, "No swizzle: panels of 16 bytes", (f"leading {leading}: to the next 16 bytes along k", f"stride {stride}: to the next 8 rows"), plain)
    panel(
        picture, LEFT + GAP, "128-byte swizzle", ("leading: not used", f"stride {swizzled(8, 0)}: to the next 8 rows"), swizzled
    )
    bottom = TOP + SHOWN * HEIGHT + 26
    picture.text(LEFT - 36, bottom, "A column is a chunk of 16 bytes along k, a number the byte where it lies. Coloured: what one wgmma takes of", "small soft")
    picture.text(LEFT - 36, bottom + 17, "these rows: two core matrices of rows 0 to 7 and two of rows 8 to 15, each 8 rows of 16 bytes.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
