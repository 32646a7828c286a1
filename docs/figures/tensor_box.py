#!/usr/bin/env python3
"""A box that hangs over the right and the lower edge of a matrix: what a load brings. tensor_box_store.py has what a store changes.

The rule is one of chapter 6: a load writes the whole box, zeros where the matrix has no element.
"""

import sys
from collections.abc import Callable

import svg

WIDTH, HEIGHT = 18, 5  # the matrix, in ints
PITCH = 20  # ints from row to row: the row of 72 bytes is padded to 80
BOX_WIDTH, BOX_HEIGHT = 12, 4
X, Y = 12, 2  # where the box begins; X is a multiple of 4 ints = 16 bytes
CELL = 24
STEP = 16 // 4  # ints in 16 bytes


def loaded(i: int, j: int) -> str:
    """What a load writes into element (i, j) of the tile: the number of the matrix element, or 0."""
    x, y = X + i, Y + j
    return str(y * WIDTH + x) if x < WIDTH and y < HEIGHT else "0"


def read(x: int, y: int) -> str:
    """The colour of place (x, y) of memory: 'copy' for an element that the load brings."""
    inside = X <= x < min(X + BOX_WIDTH, WIDTH) and Y <= y < min(Y + BOX_HEIGHT, HEIGHT)
    return "copy" if inside else ""


def matrix(picture: svg.Figure, left: float, top: float, colour_of: Callable[[int, int], str]) -> None:
    """The matrix with its padding, coloured where a copy reads or writes it, and the box."""
    for y in range(HEIGHT):
        for x in range(PITCH):
            colour = colour_of(x, y) or ("plain" if x < WIDTH else "paper thin")
            kind = f"element ({x}, {y})" if x < WIDTH else "padding"
            picture.rect(left + x * CELL, top + y * CELL, CELL, CELL, colour, kind)
            if x < WIDTH and (x % STEP == 0 or colour_of(x, y)):
                shade = "small" if colour_of(x, y) else "small soft"
                picture.text(left + (x + 0.5) * CELL, top + y * CELL + 16, str(y * WIDTH + x), shade, "middle")
    for x in range(0, X + BOX_WIDTH + 1, STEP):
        picture.text(left + x * CELL, top - 6, str(x), "small soft", "middle")
    x1, y1 = left + X * CELL, top + Y * CELL
    picture.path(f"M{x1} {y1} h{BOX_WIDTH * CELL} v{BOX_HEIGHT * CELL} h{-BOX_WIDTH * CELL} z", "dashed")
    picture.text(left - 8, top + 16, "y = 0", "small soft", "end")
    picture.text(left - 8, top + Y * CELL + 16, f"y = {Y}", "small soft", "end")
    picture.text(left, top + HEIGHT * CELL + 40, "one row: 72 bytes of elements, 8 bytes of padding", "small soft")


def tile(picture: svg.Figure, left: float, top: float) -> None:
    """What the load wrote."""
    for j in range(BOX_HEIGHT):
        for i in range(BOX_WIDTH):
            value = loaded(i, j)
            colour = "wait" if value == "0" else "copy"
            picture.rect(left + i * CELL, top + j * CELL, CELL, CELL, colour, f"tile[{j * BOX_WIDTH + i}]")
            picture.text(left + i * CELL + CELL / 2, top + j * CELL + 16, value, "small", "middle")


def figure() -> svg.Figure:
    """The matrix above, the tile and the tensor map below."""
    picture = svg.Figure("A load of a box over the corner of a matrix: zeros where it has no element", height=446)
    left, top = 92, 62
    picture.text(left, 22, "global memory", "strong")
    picture.text(left + 124, 22, f"matrix of {WIDTH} × {HEIGHT} ints, box at (x, y) = ({X}, {Y})", "small soft")
    matrix(picture, left, top, read)

    low = top + (Y + BOX_HEIGHT) * CELL + 72
    picture.text(left, low - 12, "shared memory", "strong")
    picture.text(left + 130, low - 12, "after the load", "small soft")
    tile(picture, left, low)
    counted = f"{BOX_WIDTH} × {BOX_HEIGHT} × 4 = {BOX_WIDTH * BOX_HEIGHT * 4} bytes"
    inside = f"{(WIDTH - X) * (HEIGHT - Y) * 4} of them lie inside"
    picture.text(left, low + BOX_HEIGHT * CELL + 20, f"counted on the barrier: {counted} ({inside})", "small")
    right = 410
    fields = (
        ("dims", f"{{{WIDTH}, {HEIGHT}}}", "elements, x first"),
        ("strides", f"{{{PITCH * 4}}}", "bytes from row to row"),
        ("box", f"{{{BOX_WIDTH}, {BOX_HEIGHT}}}", "elements, x first"),
        ("coordinates", f"{{{X}, {Y}}}", "given in each copy"),
    )
    picture.text(right, low - 12, "tensor map", "strong")
    for row, (name, value, unit) in enumerate(fields):
        picture.text(right, low + 14 + 22 * row, name, "code")
        picture.text(right + 92, low + 14 + 22 * row, value, "code")
        picture.text(right + 152, low + 14 + 22 * row, unit, "small soft")
    y = low + BOX_HEIGHT * CELL + 44
    for x, colour, text in (
        (left, "copy", "loaded"),
        (left + 150, "wait", "filled with zero"),
    ):
        picture.rect(x, y, 16, 12, colour)
        picture.text(x + 22, y + 11, text, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
