#!/usr/bin/env python3
"""Chapter 1: a fast and a slow warp of one block, without the barrier at the end of a round and with it."""

import sys

import svg

WIDTH, LEFT, LANE, BAR = 640, 82, 38, 28
SLOW = [(0, 130, "load, write 0", "copy"), (160, 370, "read tile 0", "compute")]
PANELS = (
    (
        "One barrier for each round",
        [(0, 100, "load, write 0", "copy"), (160, 225, "read 0", "compute"), (225, 345, "load, write 1", "wrong")],
        [(130, 160)],
        "warp 0 overwrites what warp 7 has yet to read",
    ),
    (
        "And a second one, at its end",
        [(0, 100, "load, write 0", "copy"), (160, 225, "read 0", "compute"), (400, 520, "load, write 1", "copy")],
        [(130, 160), (370, 400)],
        "",
    ),
)


def figure() -> svg.Figure:
    picture = svg.Figure("A fast and a slow warp of one block: without a barrier at the end of a round the fast one writes the tile while the slow one reads it", 264, WIDTH)
    for number, (title, fast, barriers, said) in enumerate(PANELS):
        top = 14 + number * 126
        picture.text(14, top + 14, title, "strong")
        if said:
            picture.text(WIDTH - 14, top + 14, said, "small", "end")
        for lane, (name, parts) in enumerate((("warp 0", fast), ("warp 7", SLOW))):
            y = top + 26 + lane * LANE
            picture.text(14, y + 19, name, "small")
            for begin, end, text, colour in parts:
                picture.rect(LEFT + begin, y, end - begin, BAR, colour, f"{name}: {text}")
                picture.text(LEFT + (begin + end) / 2, y + 18, text, "small", "middle")
        for begin, end in barriers:
            picture.rect(LEFT + begin + 11, top + 22, end - begin - 22, 2 * LANE - 2, "wait", "a barrier: nobody passes before all have come")
    picture.text(WIDTH - 14, 256, "time →", "small soft", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
