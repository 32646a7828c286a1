#!/usr/bin/env python3
"""Two tiles with k = 1024 on an SM, by five rungs of chapter 12: what runs at the same time as what, and for how long.

Of a block that stays they are two from the middle: the ring is full when the first begins, and is filled again during the second.

What overlaps is a model of the kernels. How long it takes comes from the measured cycles of two problems, the long one with k = 8192
and the short one with k = 1024: a seventh of the difference are the steps of all tiles, the rest of the short problem their ends
(chapter 12, 'Steps and ends'). An SM makes TILES of them in turn. What a block that stays saves is drawn as the first loads of a
new block, and what two panels save as the time in which the copies read one: panels are PANELS for each tile.
"""

import sys

import chart
import svg

TILES, PANELS = 16, 4
RING = 4 / 16  # four stages hold a quarter of the 16 steps of a tile: so far loads run ahead
LEFT, UNIT, LANE = 100, 9.7, 20
Bars = list[tuple[float, float, int]]  # begin, end, tile
LANES = (("loads", "copy"), ("products", "compute"), ("threads store", "wait"), ("copies read", "async"))


def measured(kernel: str) -> tuple[float, float]:
    """Of one tile with k = 1024 the steps and the end, in thousands of cycles."""
    cycles = {row["extent"]: chart.number(row, "cycles") for row in chart.table("gemm_burst_clock") if (row["kernel"], row["pace"]) == (kernel, "with pauses")}
    long, short = cycles["8192 x 8192 x 8192"], cycles["8192 x 8192 x 1024"]
    steps = (long - short) / 7
    return steps / TILES, (short - steps) / TILES


STAYING_END, STORED_END, OVERLAPPED_END = (measured(kernel)[1] for kernel in ("staying", "stored", "overlapped"))
BEGIN = measured("ordered")[1] - STAYING_END  # the first loads of a new block
FILL, COPY = OVERLAPPED_END / PANELS, (STORED_END - OVERLAPPED_END) / PANELS


def rung(kernel: str, stays: bool, buffers: int) -> dict[str, Bars]:
    """The bars of two tiles. `buffers`: panels that there are; 0 where threads store to memory."""
    bars: dict[str, Bars] = {name: [] for name, _ in LANES}
    multiply, store = measured(kernel)
    store -= 0 if stays else BEGIN
    ahead = 0.0 if stays else BEGIN  # a block that stays filled the ring during the products of the tile before
    now, copies = ahead, []
    for tile in range(2):
        bars["loads"].append((now - ahead, now + multiply * (1 - RING), tile))
        bars["products"].append((now, now + multiply, tile))
        now += multiply
        if stays:
            bars["loads"].append((now - multiply * RING, now, tile + 1))
        if buffers == 0:
            bars["threads store"].append((now, now + store, tile))
            now += store
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
            now += BEGIN  # a new block has nothing in its stages yet
    bars["copies read"] = copies
    return bars


def end_of(bars: dict[str, Bars]) -> float:
    return max(end for lane in bars.values() for _, end, _ in lane)


def panel(picture: svg.Figure, top: float, title: str, bars: dict[str, Bars]) -> float:
    picture.text(12, top, title, "strong")
    picture.text(svg.WIDTH - 12, top, f"{1000 * round(end_of(bars), 1):,.0f} cycles", "small strong", "end")
    y = top + 8
    for name, colour in LANES:
        if not bars[name]:
            continue
        picture.text(LEFT - 8, y + 14, name, "small soft", "end")
        for begin, end, tile in bars[name]:
            tip = f"{name}, tile {tile}: from {begin:.1f} to {end:.1f} thousand cycles"
            picture.rect(LEFT + begin * UNIT, y, (end - begin) * UNIT, LANE - 4, colour, tip)
            if end - begin > 4.7:
                picture.text(LEFT + (begin + end) / 2 * UNIT, y + 13, f"tile {tile}", "small", "middle")
        y += LANE
    return y + 26


RUNGS = (  # title, kernel, whether a block stays, panels of a warpgroup
    ("8, ordered: a block for each tile", "ordered", False, 0),
    ("9, staying: the next loads begin during the products", "staying", True, 0),
    ("10, multicast: the same, with longer ends", "multicast", True, 0),
    ("11, stored: one panel", "stored", True, 1),
    ("12, overlapped: two panels", "overlapped", True, 2),
)


def lanes(title: str, height: float, numbers: slice) -> svg.Figure:
    """Some of the rungs, one below the other."""
    picture = svg.Figure(title, height)
    top = 24.0
    for name, kernel, stays, buffers in RUNGS[numbers]:
        top = panel(picture, top, name, rung(kernel, stays, buffers))
    return picture


def figure() -> svg.Figure:
    return lanes("Two tiles of a block, k = 1024, in five rungs of the ladder: loads, products and stores", 522, slice(None))


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
