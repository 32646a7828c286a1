#!/usr/bin/env python3
"""Rungs 4 to 6 of chapter 8: few and many blocks on an SM over time, and how many loads are under way. A drawing."""

import sys

import svg

LEFT, UNIT, HEIGHT, STEP = 20, 28.0, 14, 18
LIFE = (("copy", 3, "its load is under way"), ("compute", 2, "its threads transpose"), ("async", 1, "its store reads the tile"))
PERIOD = sum(length for _, length, _ in LIFE)
LAG = 0.75  # a block begins so much after the one above
END = 22  # of the time that is drawn
COUNT = 6  # height of the strip for each load


def blocks(picture: svg.Figure, top: float, heading: str, count: int) -> float:
    """The lives of `count` blocks, one after another in each place, and below how many loads are under way."""
    picture.text(LEFT, top, heading, "strong small")
    top += 10
    asked = [0] * (4 * END)  # by quarters of a unit, which LAG is a multiple of
    for block in range(count):
        begin = LAG * block
        while begin < END:
            for colour, length, what in LIFE:
                end = min(begin + length, END)
                if begin < end:
                    picture.rect(LEFT + UNIT * begin, top + STEP * block, UNIT * (end - begin) - 1, HEIGHT, colour, f"block {block}: {what}")
                    if colour == "copy":
                        for quarter in range(round(4 * begin), round(4 * end)):
                            asked[quarter] += 1
                begin += length
    base = top + STEP * count + 30
    bottom = base + COUNT * max(asked)
    picture.line(LEFT, bottom, LEFT + UNIT * END, bottom, "thin")
    first = 0
    for quarter in range(1, len(asked) + 1):
        if quarter == len(asked) or asked[quarter] != asked[first]:
            high = COUNT * asked[first]
            if high:
                width = UNIT * (quarter - first) / 4
                picture.rect(LEFT + UNIT * first / 4, bottom - high, width, high, "copy", f"loads under way: {asked[first]}")
            first = quarter
    late = asked[4 * PERIOD :]
    said = f"{min(late)} to {max(late)}" if min(late) < max(late) else str(max(late))
    picture.text(LEFT, base - 8, f"loads under way: {said}", "small")
    return bottom


def figure() -> svg.Figure:
    picture = svg.Figure("Two and eight blocks on an SM over time, and how many loads are under way", 424)
    picture.text(LEFT, 24, "Blocks on one SM, one after another in each place; time runs to the right. Drawn, not measured.", "soft")
    bottom = blocks(picture, 52, "room for two", 2)
    bottom = blocks(picture, bottom + 30, "room for eight", 8)
    left = LEFT
    for colour, _, what in LIFE:
        picture.rect(left, bottom + 16, 14, 14, colour)
        picture.text(left + 20, bottom + 28, what, "small")
        left += 200
    picture.height = bottom + 44
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
