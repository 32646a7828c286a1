#!/usr/bin/env python3
"""Who copies and who computes in a block of chapter 4: all threads, even and odd threads, or whole warps.

Each warp has two strips of lanes, one for each loop. A lane is filled where its thread has work in the loop; a strip without a filled lane is a
loop that the warp does not run. The roles are those of n_stages, with_specialized_staging_unified and specialized_warps in
chapters/04_pipeline/pipeline.cuh.
"""

import sys
from collections.abc import Callable

import svg

WARPS, LANES = 8, 32
LEFT, STRIP, GAP, PANEL = 58, 96, 8, 218  # of a panel: its strips' place, their width and distance, and its own width
TOP, LANE = 62, 20
CELL = STRIP / LANES

Role = Callable[[int, int], bool]
"""Whether a lane of a warp has work in a loop."""

PANELS: tuple[tuple[str, Role, Role], ...] = (
    ("all threads do both", lambda warp, lane: True, lambda warp, lane: True),
    ("even and odd threads", lambda warp, lane: lane % 2 == 0, lambda warp, lane: lane % 2 == 1),
    ("whole warps", lambda warp, lane: warp == 0, lambda warp, lane: warp > 0),
)


def strip(picture: svg.Figure, x: float, y: float, role: Role, warp: int, colour: str) -> int:
    """The lanes of one warp in one loop; how many of them have work."""
    filled = [lane for lane in range(LANES) if role(warp, lane)]
    if not filled:
        return 0
    if len(filled) == LANES:
        picture.rect(x, y, STRIP, LANE - 5, colour, f"warp {warp}: all lanes have work")
    else:
        for lane in filled:
            picture.rect(x + lane * CELL, y, CELL, LANE - 5, colour, f"warp {warp}, lane {lane}")
    return len(filled)


def figure() -> svg.Figure:
    picture = svg.Figure("The loops that each warp of a block runs, and the lanes that work in them", TOP + WARPS * LANE + 34, 48 + 3 * PANEL)
    for number, (title, copies, computes) in enumerate(PANELS):
        x = LEFT + number * PANEL
        picture.text(x, 24, title, "strong")
        for place, (loop, role, colour) in enumerate((("copy", copies, "copy"), ("compute", computes, "compute"))):
            left = x + place * (STRIP + GAP)
            picture.text(left, TOP - 12, loop, "small soft")
            lanes = [strip(picture, left, TOP + warp * LANE, role, warp, colour) for warp in range(WARPS)]
            run = sum(count > 0 for count in lanes)
            text = f"{run} × {max(lanes)} lanes"
            picture.text(left, TOP + WARPS * LANE + 16, text, "small")
    for warp in range(WARPS):
        picture.text(LEFT - 8, TOP + warp * LANE + 12, f"warp {warp}", "small soft", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
