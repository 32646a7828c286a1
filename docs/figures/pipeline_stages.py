#!/usr/bin/env python3
"""The time line of one block with 1, 2 and 4 stages, as a simple model gives it.

A copy takes COPY units and any number of copies may be under way; a computation takes COMPUTE units and there is one at a
time. The copy of tile k starts when the stage it goes to is free, that is, when tile k - stages was computed: the order of
n_stages in chapters/04_pipeline/pipeline.cuh.
"""

import sys

import svg

COPY, COMPUTE = 3, 1
TILES = 20
UNITS = 18  # of time that are shown
LEFT, UNIT, LANE = 92, 34, 24


def schedule(stages: int) -> list[tuple[int, int, int]]:
    """(issued, landed, computed) of each tile."""
    tiles: list[tuple[int, int, int]] = []
    for k in range(TILES):
        issued = 0 if k < stages else tiles[k - stages][2]
        landed = issued + COPY
        begin = max(landed, tiles[k - 1][2] if k > 0 else 0)
        tiles.append((issued, landed, begin + COMPUTE))
    return tiles


def bar(picture: svg.Figure, y: float, begin: int, end: int, text: str, colour: str, tip: str) -> None:
    """One bar of a lane, cut off at the end of the time that is shown."""
    end = min(end, UNITS)
    if begin < end:
        picture.rect(LEFT + begin * UNIT, y, (end - begin) * UNIT, LANE - 4, colour, tip)
        fits = 8 * len(text) <= (end - begin) * UNIT
        picture.text(LEFT + (begin + end) / 2 * UNIT, y + 15, text if fits else "", "small", "middle")


def panel(picture: svg.Figure, top: float, stages: int) -> float:
    """Draws the lanes of one number of stages; returns where the next panel begins."""
    tiles = schedule(stages)
    done = sum(1 for _, _, computed in tiles if computed <= UNITS)
    title = f"{stages} stage" + ("s" if stages > 1 else "")
    picture.text(12, top, title, "strong")
    picture.text(LEFT, top, f"{done} tiles computed after {UNITS} units of time", "small soft")
    top += 10
    for stage in range(stages):
        y = top + stage * LANE
        picture.text(LEFT - 8, y + 15, f"stage {stage}", "small soft", "end")
        for k in range(stage, TILES, stages):
            issued, landed, computed = tiles[k]
            bar(picture, y, issued, landed, f"copy {k}", "copy", f"tile {k}: copy from {issued} to {landed}")
            if computed - COMPUTE > landed:
                bar(picture, y, landed, computed - COMPUTE, "", "plain", f"tile {k} has landed and waits for the threads")
            bar(picture, y, computed - COMPUTE, computed, str(k), "compute", f"tile {k}: computed until {computed}")
    y = top + stages * LANE
    picture.text(LEFT - 8, y + 15, "threads", "small soft", "end")
    busy = 0
    for k, (_, _, computed) in enumerate(tiles):
        if computed - COMPUTE > busy:
            bar(picture, y, busy, computed - COMPUTE, "", "wait", f"the threads wait for tile {k}")
        bar(picture, y, computed - COMPUTE, computed, str(k), "compute", f"tile {k}")
        busy = computed
    return y + LANE + 26


def figure() -> svg.Figure:
    """The three panels and the legend."""
    picture = svg.Figure("Copies and computations of one block with 1, 2 and 4 stages", height=386)
    top = 24.0
    for stages in (1, 2, 4):
        top = panel(picture, top, stages)
    y = top - 14
    for x, colour, text in (
        (LEFT, "copy", "copy under way"),
        (LEFT + 128, "plain", "tile has landed"),
        (LEFT + 252, "compute", "computation"),
        (LEFT + 356, "wait", "threads wait"),
    ):
        picture.rect(x, y, 16, 12, colour)
        picture.text(x + 22, y + 11, text, "small")
    picture.arrow(LEFT + 470, y + 6, LEFT + 540, y + 6, "thin")
    picture.text(LEFT + 548, y + 11, "time", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
