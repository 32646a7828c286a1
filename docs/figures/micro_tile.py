#!/usr/bin/env python3
"""Rung 7 of chapter 8: a micro-tile, and where eight lanes write their chunks in the shared tile."""

import sys

import svg

TOP, CELL = 92, 24
ROWS = 8
DOWN = 2  # eight lanes that go together have one `down`, and across = 0 to 7
COLOURS = ("copy", "compute", "wait", "async")


def micro(figure: svg.Figure, left: float, top: float, transposed: bool) -> None:
    """Four chunks of four floats; a float keeps the colour of the chunk that it came in."""
    for row in range(4):
        for column in range(4):
            r, c = (column, row) if transposed else (row, column)
            x, y = left + CELL * column, top + CELL * row
            figure.rect(x, y, CELL, CELL, COLOURS[r], f"element ({r}, {c}) of the micro-tile")
            figure.text(x + CELL / 2, y + 16, f"{r}{c}", "small", "middle")


def places(figure: svg.Figure, left: float, heading: str, swizzled: bool) -> int:
    """Eight lanes write chunk 0 of theirs, each to another row; returns how many groups of banks they meet."""
    figure.text(left, TOP - 46, heading, "strong small")
    for place in range(8):
        figure.text(left + CELL * place + CELL / 2, TOP - 8, str(place), "small soft", "middle")
    taken = set()
    for lane in range(ROWS):
        place = DOWN ^ lane if swizzled else DOWN
        taken.add(place)
        y = TOP + CELL * lane
        figure.text(left - 6, y + 16, str(4 * lane), "small soft", "end")
        for other in range(8):
            figure.rect(left + CELL * other, y, CELL, CELL, "copy" if other == place else "paper thin")
            figure.line(left + CELL * other, y, left + CELL * other + CELL, y, "thin")
            figure.line(left + CELL * other, y, left + CELL * other, y + CELL, "thin")
        figure.text(left + CELL * place + CELL / 2, y + 16, str(lane), "small", "middle")
    return len(taken)


def figure() -> svg.Figure:
    bottom = TOP + CELL * ROWS
    picture = svg.Figure("A micro-tile in registers, and the places where eight lanes write their chunks", bottom + 62)
    picture.text(20, 24, "What a thread holds, and where eight lanes (across = 0 to 7, down = 2) write their first chunk", "soft")
    picture.text(20, TOP - 46, "a chunk is a row of four", "strong small")
    micro(picture, 20, TOP - 6, False)
    picture.arrow(20 + 2 * CELL, TOP - 6 + 4 * CELL + 4, 20 + 2 * CELL, TOP - 6 + 4 * CELL + 26)
    picture.text(20 + 2 * CELL + 12, TOP - 6 + 4 * CELL + 20, "in registers", "small")
    micro(picture, 20, TOP - 6 + 4 * CELL + 30, True)
    for left, heading, swizzled in ((210, "place = down", False), (480, "place = down ^ across", True)):
        groups = places(picture, left, heading, swizzled)
        waves = ROWS // groups
        picture.text(left, TOP - 26, "place in the row = group of four banks", "small soft")
        ending = f"{groups} group{'s' if groups > 1 else ''} of banks: {waves} wavefront{'s' if waves > 1 else ''}"
        picture.text(left, bottom + 22, ending, "small strong")
    picture.text(20, bottom + 46, "Left of each row is its number in the tile. Places 8 to 15 lie in the same banks and are not drawn.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
