#!/usr/bin/env python3
"""The same tiles used by four warps that meet for each tile, and by four with a producer, as a simple model gives it.

A copy takes COPY units and any number of copies may be under way. How long a warp takes for a tile varies (WORK). With a
barrier of the block all begin a tile together; with roles a warp begins when the tile is there, and a stage is asked for
again when its last reader is done: meeting_ring and roles_ring in chapters/10_roles/roles.cuh.
"""

import sys

import svg

COPY, STAGES, WARPS, TILES = 3, 3, 4, 8
# Units that warp w takes for tile k.
WORK = [[1, 3, 1, 2, 1, 1, 3, 1], [2, 1, 1, 3, 1, 2, 1, 1], [1, 1, 3, 1, 2, 1, 1, 3], [3, 1, 1, 1, 1, 3, 1, 1]]
UNITS = 26  # of time that are shown
LEFT, UNIT, LANE = 84, 24, 24
LEGEND = (("copy", "a copy is under way"), ("compute", "a warp uses tile k"), ("wait", "a warp waits"))


def schedule(meet: bool) -> tuple[list[tuple[int, int]], list[list[tuple[int, int]]]]:
    """(asked, landed) of each tile, and (begin, end) of each tile for each warp."""
    copies: list[tuple[int, int]] = []
    uses: list[list[tuple[int, int]]] = [[] for _ in range(WARPS)]
    for k in range(TILES):
        asked = 0 if k < STAGES else max(use[k - STAGES][1] for use in uses)
        if copies:
            asked = max(asked, copies[-1][0])
        copies.append((asked, asked + COPY))
        met = max((use[-1][1] for use in uses if use), default=0)
        for w in range(WARPS):
            free = met if meet else uses[w][-1][1] if uses[w] else 0
            begin = max(free, copies[k][1])
            uses[w].append((begin, begin + WORK[w][k]))
    return copies, uses


def lane(picture: svg.Figure, y: float, name: str, bars: list[tuple[int, int, str, str]]) -> None:
    """A name, and bars (begin, end, text, colour)."""
    picture.text(LEFT - 8, y + 15, name, "small soft", "end")
    for begin, end, text, colour in bars:
        if begin < end <= UNITS:
            picture.rect(LEFT + begin * UNIT, y, (end - begin) * UNIT, LANE - 4, colour, f"{name}: {text or 'waits'}, from {begin} to {end}")
            picture.text(LEFT + (begin + end) / 2 * UNIT, y + 15, text, "small", "middle")


def panel(picture: svg.Figure, top: float, title: str, meet: bool) -> float:
    copies, uses = schedule(meet)
    end = max(use[-1][1] for use in uses)
    picture.text(12, top, title, "strong")
    picture.text(svg.WIDTH - 12, top, f"{TILES} tiles in {end} units of time", "small soft", "end")
    y = top + 10
    for stage in range(STAGES):
        lane(picture, y, f"stage {stage}", [(*copies[k], f"copy {k}", "copy") for k in range(stage, TILES, STAGES)])
        y += LANE
    for w, use in enumerate(uses):
        bars = [(begin, done, str(k), "compute") for k, (begin, done) in enumerate(use)]
        waits = [(done, begin, "", "wait") for (_, done), (begin, _) in zip(use, use[1:], strict=False)]
        lane(picture, y, f"warp {w}", bars + waits)
        y += LANE
    return y + 26


def figure() -> svg.Figure:
    picture = svg.Figure("A ring at which all warps meet for each tile, and the same ring with roles", 462)
    top = panel(picture, 30, "All meet for each tile", True)
    top = panel(picture, top, "A producer, and warps that wait for tiles only", False)
    x = LEFT
    for colour, name in LEGEND:
        picture.rect(x, top - 14, 12, 12, colour)
        picture.text(x + 18, top - 4, name, "small")
        x += 180
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
