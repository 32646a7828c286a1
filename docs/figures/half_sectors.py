#!/usr/bin/env python3
"""The first row of a box of 72 and of one of 80 columns: where a tensor copy cuts it, and the sectors that each piece asks for.

The tile of 64 ints begins at a multiple of 256 bytes in global memory, the box `margin` ints before it. In shared memory the row begins
at a line of 128 bytes, and it is cut where such lines end (docs/measurements/h200_behaviour.md, "Memory and caches").
"""

import sys

import svg

TILE = 256  # bytes of a row of the tile
SECTOR, LINE = 32, 128
FIRST = -SECTOR  # the byte at which the picture begins, relative to the tile
SECTORS = 10
UNIT = 56 / SECTOR  # units of the picture for a byte
LEFT, ROW, LANE = 128, 30, 20


def at(byte: int) -> float:
    return LEFT + (byte - FIRST) * UNIT


def pieces(margin: int) -> list[tuple[int, int]]:
    """The pieces of the row, from byte to byte, relative to the tile."""
    begin, end = -4 * margin, TILE + 4 * margin
    return [(cut, min(cut + LINE, end)) for cut in range(begin, end, LINE)]


def asked(piece: tuple[int, int]) -> list[tuple[int, int, int]]:
    """For each sector that the piece touches: where it begins, and the bytes of it that the piece takes."""
    first = piece[0] // SECTOR * SECTOR
    return [(sector, max(sector, piece[0]), min(sector + SECTOR, piece[1])) for sector in range(first, piece[1], SECTOR)]


def _row(picture: svg.Figure, top: float, margin: int) -> float:
    """One box's row with its pieces, and what each asks for; returns where it ends."""
    parts = pieces(margin)
    touched = [sector for part in parts for sector in asked(part)]
    halves = sum(end - begin < SECTOR for _, begin, end in touched)
    picture.text(20, top, f"{64 + 2 * margin} columns: asks for {len(touched)} sectors, {f'{halves} of them for only half of their bytes' if halves else 'all of them whole'}", "strong")
    bar = top + 16
    low = bar + ROW + 14 + LANE * len(parts)
    for i in range(SECTORS + 1):
        picture.line(at(FIRST + SECTOR * i), bar - 6, at(FIRST + SECTOR * i), low, "thin")
    picture.text(20, bar + 20, "the row", "small")
    for i, (begin, end) in enumerate(parts):
        picture.box(at(begin), bar, (end - begin) * UNIT, ROW, f"{end - begin} bytes", "async small")
        lane = bar + ROW + 12 + LANE * i
        picture.text(20, lane + 12, f"piece {i + 1} asks for", "small soft")
        for sector, first, last in asked((begin, end)):
            half = last - first < SECTOR
            if half:
                picture.rect(at(sector), lane, SECTOR * UNIT, LANE - 5, "plain", "a sector that is asked for")
            picture.rect(at(first), lane, (last - first) * UNIT, LANE - 5, "wait" if half else "copy", "half a sector" if half else "a whole sector")
    return low


def figure() -> svg.Figure:
    picture = svg.Figure("Rows of 72 and of 80 columns, and the sectors of 32 bytes that they ask for", 384)
    picture.text(20, 26, "The first row of a box, above the sectors of 32 bytes in global memory (thin lines)", "small soft")
    low = _row(picture, 56, 4)
    low = _row(picture, low + 40, 8)
    for x, name, text in ((20, "copy", "a sector, all of which the piece takes"), (300, "wait", "a half that the piece takes"), (510, "plain", "the half that it leaves")):
        picture.rect(x, low + 24, 16, 12, name)
        picture.text(x + 22, low + 35, text, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
