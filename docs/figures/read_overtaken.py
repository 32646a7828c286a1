#!/usr/bin/env python3
"""Chapter 5: a read of a tile, and the copy of the next tile into its place, without a proxy fence and with one.

A model, not to scale. The reader's LDS takes READ units from its issue to its value; the copy has landed LAND units after thread 0
has asked for it. A barrier of the block waits until the reader has asked, the reader's fence until its value is there.
"""

import sys

import svg

READ, LAND, STORE, UNITS = 14, 8, 2, 27
LEFT, UNIT, LANE, BAR = 96, 22.4, 28, 21


def panel(picture: svg.Figure, top: float, title: str, fence: bool) -> float:
    value = 1 + READ  # LDS is issued at 1, the instruction behind it at 2
    meet = value if fence else 2
    landed = meet + 1 + LAND

    def bar(lane: int, begin: float, wide: float, colour: str, text: str, tip: str) -> None:
        picture.rect(LEFT + begin * UNIT, top + 26 + lane * LANE, wide * UNIT, BAR, colour, tip)
        picture.text(LEFT + (begin + wide / 2) * UNIT, top + 41 + lane * LANE, text, "small", "middle")

    picture.text(12, top, title, "strong")
    for lane, name in enumerate(("a reader", "its fence", "thread 0", "the TMA")):
        picture.text(LEFT - 8, top + 41 + lane * LANE, name, "small soft", "end")
        picture.line(LEFT, top + 26 + BAR + lane * LANE, LEFT + UNITS * UNIT, top + 26 + BAR + lane * LANE, "thin")
    x = LEFT + meet * UNIT
    picture.line(x, top + 16, x, top + 26 + 4 * LANE - 7, "dashed")
    picture.text(x + 5, top + 20, "all meet", "small soft")
    says = "the new tile's value" if landed < value else "this tile's value"
    bar(0, 1, READ, "wrong" if landed < value else "compute", f"LDS asks … and gets {says}", "from LDS to its value")
    bar(0, value, STORE, "plain", "STG", "the value is used")
    if fence:
        bar(1, 2, value - 2, "wait", "waits for the read", "the proxy fence of the reader")
    bar(2, meet, 1, "plain", "", "thread 0 asks for the next tile")
    picture.text(LEFT + (meet + 1) * UNIT + 6, top + 41 + 2 * LANE, "asks for the next tile", "small")
    bar(3, meet + 1, LAND, "async", "writes the next tile", "the copy of the next tile into the same place")
    return top + 4 * LANE + 54


def figure() -> svg.Figure:
    picture = svg.Figure("A read and the copy that overwrites what it reads: without a proxy fence the copy may be there first", 340)
    y = panel(picture, 24, "No fence: the copy is there before the value", False)
    panel(picture, y, "A proxy fence of each reader, before the barrier", True)
    picture.text(svg.WIDTH - 12, 24, "time →, not to scale", "small soft", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
