#!/usr/bin/env python3
"""Two kernels in a stream, one after the other and with programmatic dependent launch, as a simple model gives it:
mixed_after and mixed_early in chapters/10_roles/dependent.cuh.

The second kernel takes LAUNCH units to begin, WEIGHTS for what it does before its wait, and SUMS for the rest.
"""

import sys

import svg

ENDS = (9, 10, 11, 15)  # of the first kernel's blocks
AHEAD = 4  # units before its end at which a block's producer has asked for its last tile
LAUNCH, WEIGHTS, SUMS = 2, 1, 3
LEFT, UNIT, LANE = 120, 27, 26


def bar(picture: svg.Figure, y: float, begin: int, end: int, text: str, colour: str, tip: str) -> None:
    if begin < end:
        picture.rect(LEFT + begin * UNIT, y, (end - begin) * UNIT, LANE - 4, colour, f"{tip}, from {begin} to {end}")
        picture.text(LEFT + (begin + end) / 2 * UNIT, y + 16, text, "small", "middle")


def part(picture: svg.Figure, top: float, title: str, early: bool) -> float:
    begin = max(ENDS) - AHEAD if early else max(ENDS)
    ready = begin + LAUNCH + WEIGHTS
    results = max(ready, max(ENDS))
    picture.text(12, top, title, "strong")
    picture.text(svg.WIDTH - 12, top, f"both in {results + SUMS} units", "small soft", "end")
    y = top + 12
    for b, end in enumerate(ENDS):
        picture.text(LEFT - 8, y + 16, f"first, block {b}", "small soft", "end")
        bar(picture, y, 0, end, "" if early else "computes", "compute", f"block {b} of the first kernel computes")
        if early:
            x = LEFT + (end - AHEAD) * UNIT
            picture.text((LEFT + x) / 2, y + 16, "computes", "small", "middle")
            picture.line(x, y - 2, x, y + LANE - 2)
            picture.text(x + 5, y + 16, "may begin", "small")
        y += LANE
    picture.text(LEFT - 8, y + 16, "second kernel", "small soft", "end")
    bar(picture, y, begin, begin + LAUNCH, "launch", "plain", "the second kernel is launched")
    bar(picture, y, begin + LAUNCH, ready, "w", "copy", "the second kernel loads the weights")
    bar(picture, y, ready, results, "…", "wait", "the second kernel waits for the first one's end")
    bar(picture, y, results, results + SUMS, "sums", "compute", "the second kernel adds up")
    x = LEFT + max(ENDS) * UNIT
    picture.line(x, top + 8, x, y + LANE + 2, "dashed")
    picture.text(x, y + LANE + 16, "the results are there", "small soft", "middle")
    return y + LANE + 50


def figure() -> svg.Figure:
    picture = svg.Figure("Two kernels in a stream: the second begins at the end of the first, or is let in early", 416)
    top = part(picture, 28, "The end says both", False)
    bottom = part(picture, top, "A trigger says: may begin. The end says: the results are there", True)
    picture.text(12, bottom - 4, "a model, not a measurement", "small soft")
    for x, colour, name in ((250, "copy", "w: loads the weights"), (430, "wait", "…: griddepcontrol.wait")):
        picture.rect(x, bottom - 15, 14, 14, colour)
        picture.text(x + 20, bottom - 4, name, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
