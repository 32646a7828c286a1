#!/usr/bin/env python3
"""Four stages over time in axpy_ring and axpy_full_empty of chapter 5: who has each stage, and how many loads are on their way.

A model: a load takes LOAD units, the arithmetic of a tile COMPUTE, and a store has read its stage after READ; any number of
copies may be under way. The order is that of the kernels. In axpy_ring thread 0 asks for tile k + 3 in round k, when the store of
tile k - 1 has read its stage. In axpy_full_empty the producer asks for tile k + 4 when the store of tile k has read its stage; the
thread that stores waits for that before its next tile, and the other consumers meet it there.
"""

import sys
from dataclasses import dataclass

import svg

LOAD, COMPUTE, READ, STAGES = 12, 1, 1, 4
START, UNITS, TILES, MANY = 9, 32, 16, 400  # of time, from START on UNITS are shown
LEFT, UNIT, LANE = 92, 19.2, 25
END = START + UNITS


@dataclass
class Tile:
    asked: int
    begin: int = END
    read: int = END

    @property
    def landed(self) -> int:
        return self.asked + LOAD


def schedule(role: bool, count: int = TILES) -> list[Tile]:
    """The life of each tile; `role`: a producer loads."""
    tiles = [Tile(0) for _ in range(STAGES)]
    now = 0
    for k in range(count):
        tile = tiles[k]
        tile.begin = max(now, tile.landed)
        tile.read = tile.begin + COMPUTE + READ
        if role:
            now = tile.read
            tiles.append(Tile(tile.read))
        else:
            now = tile.begin + COMPUTE
            if k > 0:
                now = max(now, tiles[k - 1].read)
                tiles.append(Tile(now))
    return tiles


def long_run(role: bool) -> float:
    """The units of time that a tile takes when many have passed."""
    tiles = schedule(role, MANY)
    return (tiles[MANY - 1].begin - tiles[MANY // 2 - 1].begin) / (MANY // 2)


def bar(picture: svg.Figure, y: float, begin: float, end: float, text: str, colour: str, tip: str) -> None:
    begin, end = max(begin, START) - START, min(end, END) - START
    if begin < end:
        wide = (end - begin) * UNIT
        picture.rect(LEFT + begin * UNIT, y, wide, LANE - 4, colour, tip)
        if text and 8 * len(text) < wide:
            picture.text(LEFT + (begin + end) / 2 * UNIT, y + 15, text, "small", "middle")


def panel(picture: svg.Figure, top: float, title: str, role: bool) -> float:
    tiles = schedule(role)
    picture.text(12, top, title, "strong")
    picture.text(svg.WIDTH - 12, top, f"in the long run {long_run(role):.1f} units for a tile", "small soft", "end")
    y = top + 10
    for stage in range(STAGES):
        picture.text(LEFT - 8, y + 15, f"stage {stage}", "small soft", "end")
        last = 0
        for k in range(stage, len(tiles), STAGES):
            tile = tiles[k]
            bar(picture, y, last, tile.asked, "empty", "wait", f"stage {stage} is empty")
            bar(picture, y, tile.asked, tile.landed, f"load {k}", "copy", f"load of tile {k}, from {tile.asked} to {tile.landed}")
            bar(picture, y, tile.landed, tile.begin, "full", "plain", f"tile {k} is there")
            bar(picture, y, tile.begin, tile.begin + COMPUTE, str(k), "compute", f"threads compute tile {k}")
            bar(picture, y, tile.begin + COMPUTE, tile.read, "", "async", f"the store of tile {k} reads the stage")
            last = tile.read
        y += LANE
    picture.text(LEFT - 8, y + 15, "on their way", "small soft", "end")
    counts = [sum(tile.asked <= t < tile.landed for tile in tiles) for t in range(START, END)]
    for t, count in enumerate(counts):
        picture.text(LEFT + (t + 0.5) * UNIT, y + 15, str(count), "small strong" if count == STAGES else "small", "middle")
    return y + LANE + 26


def figure() -> svg.Figure:
    picture = svg.Figure("A ring of four stages over time: one thread loads between its tiles, or a producer warp loads", 352)
    y = panel(picture, 24, "axpy_ring: the thread that loads also computes", False)
    y = panel(picture, y, "axpy_full_empty: a warp of its own loads", True)
    x = 12.0
    for colour, text, step in (
        ("copy", "its load is on the way", 166),
        ("plain", "full", 64),
        ("compute", "threads compute", 142),
        ("async", "the store reads it", 148),
        ("wait", "empty, and not loaded", 150),
    ):
        picture.rect(x, y - 14, 14, 14, colour)
        picture.text(x + 20, y - 2, text, "small")
        x += step
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
