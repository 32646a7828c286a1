#!/usr/bin/env python3
"""Two rings that two blocks fill for each other, in time, as a simple model gives it: chapters/09_clusters/multicast_ring.cuh.

A copy takes COPY units and any number of copies may be under way. A producer asks for its share of batch k when the warps of both blocks have handed
back batch k - STAGES. LATE_WARPS of block 1 take SLOW units for batch 0, all other reading takes READ. Block 1's producer asks for batch 2 LATE units
after it might.
"""

import sys

import svg

COPY, READ, SLOW, LATE, STAGES, BATCHES = 3, 2, 5, 4, 2, 3
WARPS, LATE_WARPS = 8, 3
UNITS = 17  # of time that are shown
LEFT, UNIT, LANE = 92, 35, 28
SHARES = ("copy", "async")  # by the block that asks
GROUPS = (("warps 0–7", 0, READ), ("warps 0–4", 1, READ), ("warps 5–7", 1, SLOW))
"""Warps that keep together: their name, their block, and what they take for batch 0."""


def schedule() -> tuple[list[list[int]], list[list[tuple[int, int]]]]:
    """When each producer asks for each batch, and (begin, end) of each batch for each group of warps."""
    asked: list[list[int]] = [[], []]
    reads: list[list[tuple[int, int]]] = [[] for _ in GROUPS]
    for k in range(BATCHES):
        empty = 0 if k < STAGES else max(read[k - STAGES][1] for read in reads)
        for block in range(2):
            late = LATE if block == 1 and k >= STAGES else 0
            asked[block].append(max(empty + late, asked[block][-1] if k else 0))
        full = max(asked[0][k], asked[1][k]) + COPY
        for read, (_, _, first) in zip(reads, GROUPS, strict=True):
            begin = max(full, read[-1][1] if read else 0)
            read.append((begin, begin + (first if k == 0 else READ)))
    return asked, reads


def name(picture: svg.Figure, y: float, text: str) -> None:
    picture.text(LEFT - 8, y + 15, text, "small soft", "end")


def bar(picture: svg.Figure, y: float, times: tuple[int, int], text: str, colour: str, tip: str, height: float = LANE - 6) -> None:
    begin, end = times
    if begin < end:
        picture.rect(LEFT + begin * UNIT, y, (end - begin) * UNIT, height, colour, f"{tip}, from {begin} to {end}")
        picture.text(LEFT + (begin + end) / 2 * UNIT, y + height / 2 + 4, text, "small", "middle")


def stage(picture: svg.Figure, y: float, block: int, index: int, asked: list[list[int]], reads: list[list[tuple[int, int]]]) -> None:
    """What is under way to a stage, and how long it is held."""
    for k in range(index, BATCHES, STAGES):
        landed = [asked[sender][k] + COPY for sender in range(2)]
        for sender, colour in enumerate(SHARES):
            tip = f"batch {k}, the half that block {sender} asked for"
            bar(picture, y + 11 * sender, (asked[sender][k], landed[sender]), "", colour, f"{tip}, under way", 11)
            bar(picture, y + 11 * sender, (landed[sender], max(landed)), "", "plain", f"{tip}, is there", 11)
        here = max(read[k][1] for read, (_, of, _) in zip(reads, GROUPS, strict=True) if of == block)
        both = max(read[k][1] for read in reads)
        bar(picture, y, (max(landed), here), f"batch {k}", "plain", f"batch {k} in the stage")
        bar(picture, y, (here, both), f"{2 * WARPS - LATE_WARPS} of {2 * WARPS}", "wait", f"batch {k} is handed back by {2 * WARPS - LATE_WARPS} warps of {2 * WARPS}")


def panel(picture: svg.Figure, top: float, block: int) -> float:
    asked, reads = schedule()
    picture.text(12, top, f"block {block}", "strong")
    y = top + 8
    name(picture, y, "producer")
    empty = max(read[BATCHES - 1 - STAGES][1] for read in reads)
    bar(picture, y, (0, empty), "waits at its empty 0", "wait", "the producer waits for the warps of both blocks")
    bar(picture, y, (empty, asked[block][2]), "comes late", "plain", "the stage is empty, and the producer has not looked yet")
    at, first = LEFT + asked[block][2] * UNIT, y
    picture.text(at + 8, y + 15, "asks for its half of batch 2", "small")
    for index in range(STAGES):
        y += LANE
        name(picture, y, f"stage {index}")
        stage(picture, y, block, index, asked, reads)
    picture.line(at, first - 3, at, first + 2 * LANE - 2)
    picture.text(max(at, LEFT + max(read[1][1] for read in reads) * UNIT) + 8, y + 15, "batch 3 is left out", "small soft")
    for (text, of, _), read in zip(GROUPS, reads, strict=True):
        if of != block:
            continue
        y += LANE
        name(picture, y, text)
        for k, times in enumerate(read):
            bar(picture, y, times, f"read {k}", "compute", f"{text} of block {block} read batch {k}")
    return y + LANE + 24


def figure() -> svg.Figure:
    picture = svg.Figure("Two rings that two blocks fill for each other: who waits for whom", 344)
    top = 22.0
    for block in range(2):
        top = panel(picture, top, block)
    y = top - 20
    entries = (("copy", "half of block 0 under way", 0), ("async", "half of block 1 under way", 190), ("compute", "warps read", 380), ("wait", "waits", 480))
    for colour, text, along in entries:
        picture.rect(LEFT + along, y, 12, 12, colour)
        picture.text(LEFT + along + 18, y + 11, text, "small")
    end = LEFT + UNITS * UNIT
    picture.arrow(end - 60, 17, end, 17, "thin")
    picture.text(end - 66, 21, "time", "small soft", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
