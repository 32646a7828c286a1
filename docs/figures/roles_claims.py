#!/usr/bin/env python3
"""Uneven panels, dealt out beforehand and claimed one by one, as a simple model gives it: dealt_panels and claimed_panels
in chapters/10_roles/scheduler.cuh.

A panel takes as many units as it is high. Dealt, block b takes panels b, b + BLOCKS and so on; claimed, the next panel
goes to the block that is free first.
"""

import sys

import svg

BLOCKS = 4
HEIGHTS = [1, 8, 1, 1, 1, 8, 1, 1, 1, 1, 1, 1, 8, 1, 1, 1]
LEFT, UNIT, LANE = 84, 32, 26


def schedule(claimed: bool) -> list[list[tuple[int, int, int]]]:
    """(panel, begin, end) for each block."""
    blocks: list[list[tuple[int, int, int]]] = [[] for _ in range(BLOCKS)]
    for panel, height in enumerate(HEIGHTS):
        free = [block[-1][2] if block else 0 for block in blocks]
        taker = free.index(min(free)) if claimed else panel % BLOCKS
        blocks[taker].append((panel, free[taker], free[taker] + height))
    return blocks


def part(picture: svg.Figure, top: float, title: str, claimed: bool) -> float:
    blocks = schedule(claimed)
    end = max(block[-1][2] for block in blocks)
    picture.text(12, top, title, "strong")
    picture.text(svg.WIDTH - 12, top, f"the last block ends after {end} units", "small soft", "end")
    y = top + 12
    for b, block in enumerate(blocks):
        picture.text(LEFT - 8, y + 16, f"block {b}", "small soft", "end")
        for panel, begin, done in block:
            colour = "compute" if done - begin > 1 else "copy"
            picture.rect(LEFT + begin * UNIT, y, (done - begin) * UNIT, LANE - 4, colour, f"block {b}: panel {panel}, from {begin} to {done}")
            picture.text(LEFT + (begin + done) / 2 * UNIT, y + 16, str(panel), "small", "middle")
        free = block[-1][2]
        if free < end:
            picture.rect(LEFT + free * UNIT, y, (end - free) * UNIT, LANE - 4, "wait", f"block {b} has ended, from {free} to {end}")
        y += LANE
    even = sum(HEIGHTS) / BLOCKS
    picture.line(LEFT + even * UNIT, top + 8, LEFT + even * UNIT, y + 4, "dashed")
    picture.text(LEFT + even * UNIT, y + 18, "an even share", "small soft", "middle")
    return y + 50


def figure() -> svg.Figure:
    picture = svg.Figure("Panels of uneven height, dealt out beforehand and claimed one by one", 386)
    top = part(picture, 28, "Dealt: block b takes panels b, b + 4, b + 8, b + 12", False)
    bottom = part(picture, top, "Claimed: whoever is free takes the next panel", True)
    picture.text(12, bottom - 4, "a model, not a measurement", "small soft")
    picture.text(12, bottom + 16, "the program's producers claim up to a ring's depth before their consumers are free", "small soft")
    for x, colour, name in ((250, "copy", "a short panel"), (360, "compute", "a tall panel"), (474, "wait", "nothing left to do")):
        picture.rect(x, bottom - 15, 14, 14, colour)
        picture.text(x + 20, bottom - 4, name, "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
