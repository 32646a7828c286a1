#!/usr/bin/env python3
"""A warp that fetches and three uneven warps that use, all meeting for each tile and with full and empty barriers.

Both time lines are a model: filling a buffer takes FILL units of time, and USE says how long each warp uses each tile. Above, all
warps meet after each tile, and meanwhile the next one is fetched. Below, a buffer is filled again when all have used it, and a warp
uses a tile when it is there.
"""

import sys

import svg

FILL, BUFFERS = 2, 2
USE = [[5, 2, 5, 2], [2, 5, 2, 5], [2, 3, 2, 3]]
TILES = len(USE[0])
LEFT, UNIT, LANE, WIDTH = 54, 13, 24, 350

Span = tuple[int, int]
Spans = list[Span]


def meeting() -> tuple[Spans, list[Spans]]:
    """(begin, end) of the fillings, and of each warp's uses, where all meet for each tile."""
    fills: Spans = [(0, FILL)]
    uses: list[Spans] = [[] for _ in USE]
    met = FILL
    for k in range(TILES):
        if k + 1 < TILES:
            fills.append((met, met + FILL))
        for spans, times in zip(uses, USE, strict=True):
            spans.append((met, met + times[k]))
        met = max(fills[-1][1], *(spans[k][1] for spans in uses))
    return fills, uses


def pair() -> tuple[Spans, list[Spans]]:
    """The same with full and empty barriers for each buffer."""
    fills: Spans = []
    uses: list[Spans] = [[] for _ in USE]
    for k in range(TILES):
        empty = max(spans[k - BUFFERS][1] for spans in uses) if k >= BUFFERS else 0
        begin = max(fills[-1][1] if fills else 0, empty)
        fills.append((begin, begin + FILL))
        for spans, times in zip(uses, USE, strict=True):
            begin = max(spans[-1][1] if spans else 0, fills[k][1])
            spans.append((begin, begin + times[k]))
    return fills, uses


def end(schedule: tuple[Spans, list[Spans]]) -> int:
    return max(spans[-1][1] for spans in schedule[1])


def lane(picture: svg.Figure, y: float, name: str, spans: Spans, colour: str, until: int) -> None:
    """The tiles of one warp, and its waits between them."""
    picture.text(LEFT - 8, y + 16, name, "small", "end")
    last = 0
    for k, (begin, stop) in enumerate([*spans, (until, until)]):
        if last < begin:
            picture.rect(LEFT + last * UNIT, y, (begin - last) * UNIT, LANE - 2, "wait", f"{name} waits")
        if begin < stop:
            picture.rect(LEFT + begin * UNIT, y, (stop - begin) * UNIT, LANE - 2, colour, f"{name}, tile {k}")
            picture.text(LEFT + (begin + stop) / 2 * UNIT, y + 16, str(k), "small", "middle")
        last = stop


def figure() -> svg.Figure:
    picture = svg.Figure("Uneven warps, all meeting for each tile, and with full and empty barriers: a model", 352, WIDTH)
    halves = ((24, "All meet for each tile", meeting()), (164, "Full and empty barriers", pair()))
    for top, title, schedule in halves:
        fills, uses = schedule
        meets = top == 24  # after the last tile too
        until = end(schedule)
        picture.text(8, top, f"{title}: {until} units", "strong")
        lane(picture, top + 14, "fetches", fills, "copy", until if meets else fills[-1][1])
        for number, spans in enumerate(uses):
            last = until if meets else spans[-1][1]
            lane(picture, top + 14 + LANE * (number + 1), f"warp {number}", spans, "compute", last)
        if meets:
            for time in (max(spans[k][1] for spans in uses) for k in range(TILES)):
                at = LEFT + time * UNIT
                picture.line(at, top + 10, at, top + 14 + LANE * (len(uses) + 1), "dashed")
    x, y = 8, 286
    for colour, label, room in (("copy", "fills a buffer", 118), ("compute", "uses a tile", 104), ("wait", "waits", 70)):
        picture.rect(x, y, 16, 14, colour)
        picture.text(x + 22, y + 12, label, "small soft")
        x += room
    picture.line(16, y + 20, 16, y + 36, "dashed")
    picture.text(30, y + 33, "all meet; the numbers are tiles", "small soft")
    model = f"A model of {TILES} tiles: a filling takes {FILL} units, a use {min(map(min, USE))} to {max(map(max, USE))}."
    picture.text(8, y + 54, model, "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
