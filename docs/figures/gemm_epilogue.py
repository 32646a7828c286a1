#!/usr/bin/env python3
"""Two tiles of a block, by four rungs of chapter 12, as a simple model gives them: what runs at the same time as what.

A tile has MULTIPLY units of products, whose loads run AHEAD units before them: so much fits into the ring. A block that stays asks
for the next tile as soon as stages become empty, which is during the last products; more has no room before the next begin. The
result of a tile has PANELS panels; a panel is filled in FILL units and read by its copy in COPY. Stores of threads, without panels,
take as long as all that. The rungs are ordered, staying, stored and overlapped; the model has no clock of a GPU.
"""

import sys

import svg

MULTIPLY, AHEAD, PANELS, FILL, COPY = 8.0, 2.0, 4, 0.5, 1.0
EPILOGUE = PANELS * (FILL + COPY)
LEFT, UNIT, LANE = 96, 19, 20
Bars = list[tuple[float, float, int]]  # begin, end, tile
LANES = (("loads", "copy"), ("products", "compute"), ("threads store", "wait"), ("copies store", "async"))


def rung(stays: bool, buffers: int) -> dict[str, Bars]:
    """The bars of two tiles. `buffers`: panels that there are; 0 where threads store to memory."""
    bars: dict[str, Bars] = {name: [] for name, _ in LANES}
    now, copies = AHEAD, []
    for tile in range(2):
        ahead = 0.0 if tile and stays else AHEAD  # the ring was filled during the products of the tile before
        bars["loads"].append((now - ahead, now + MULTIPLY - AHEAD, tile))
        bars["products"].append((now, now + MULTIPLY, tile))
        now += MULTIPLY
        if tile == 0 and stays:
            bars["loads"].append((now - AHEAD, now, 1))
        if buffers == 0:
            bars["threads store"].append((now, now + EPILOGUE, tile))
            now += EPILOGUE
        for _ in range(PANELS if buffers else 0):
            if len(copies) >= buffers:
                now = max(now, copies[-buffers][1])  # the copy from this panel has read it
            bars["threads store"].append((now, now + FILL, tile))
            now += FILL
            begin = max(now, copies[-1][1] if copies else 0.0)
            copies.append((begin, begin + COPY, tile))
        if buffers == 1:
            now = copies[-1][1]  # this rung waits for its last panel too
        if tile == 0 and not stays:
            now += AHEAD  # a new block has nothing in its stages yet
    bars["copies store"] = copies
    return bars


def end_of(bars: dict[str, Bars]) -> float:
    return max(end for lane in bars.values() for _, end, _ in lane)


def panel(picture: svg.Figure, top: float, title: str, bars: dict[str, Bars]) -> float:
    picture.text(12, top, title, "strong")
    picture.text(svg.WIDTH - 12, top, f"{end_of(bars):g} units", "small soft", "end")
    y = top + 8
    for name, colour in LANES:
        if not bars[name]:
            continue
        picture.text(LEFT - 8, y + 14, name, "small soft", "end")
        for begin, end, tile in bars[name]:
            picture.rect(LEFT + begin * UNIT, y, (end - begin) * UNIT, LANE - 4, colour, f"{name}, tile {tile}: from {begin:g} to {end:g}")
            if end - begin > 2:
                picture.text(LEFT + (begin + end) / 2 * UNIT, y + 13, f"tile {tile}", "small", "middle")
        y += LANE
    return y + 26


def figure() -> svg.Figure:
    picture = svg.Figure("Two tiles of a block in four rungs of the ladder: loads, products and stores", 428)
    top = 24.0
    for title, stays, buffers in (
        ("8, ordered: a block for each tile", False, 0),
        ("9, staying: the next loads begin during the products", True, 0),
        ("11, stored: one panel", True, 1),
        ("12, overlapped: two panels", True, 2),
    ):
        top = panel(picture, top, title, rung(stays, buffers))
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
