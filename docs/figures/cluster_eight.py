#!/usr/bin/env python3
"""The rings of cluster_turns.py with a mistake: empty expects the eight warps of its own block alone. Stage 0 only, in the same simple model."""

import sys

import cluster_turns as turns
import svg


def stage(picture: svg.Figure, y: float, read: int, asks: int) -> None:
    """Stage 0 of a block whose last warp has read batch 0 at `read`; block 0 asks for its half of batch 2 at `asks`."""
    for sender, colour in enumerate(turns.SHARES):
        turns.bar(picture, y + 11 * sender, (0, turns.COPY), "", colour, f"batch 0, the half that block {sender} asked for, under way", 11)
    turns.bar(picture, y, (turns.COPY, asks), "batch 0", "plain", "batch 0 in the stage")
    turns.bar(picture, y + 11, (asks, read), "", "plain", "batch 0, the half that block 1 asked for, still in the stage", 11)
    colour, tip = ("wrong", "block 0's half of batch 2 lands on batch 0, which warps still read") if read > asks else ("copy", "block 0's half of batch 2 under way")
    turns.bar(picture, y, (asks, asks + turns.COPY), "", colour, tip, 11)
    picture.text(turns.LEFT + (asks + turns.COPY) * turns.UNIT + 8, y + 11, "half of batch 2", "small")


def panel(picture: svg.Figure, top: float, block: int) -> float:
    groups = [(text, turns.COPY + first) for text, of, first in turns.GROUPS if of == block]
    empty = max(end for _, end in groups)
    asks = turns.COPY + turns.READ
    picture.text(12, top, f"block {block}", "strong")
    y = top + 8
    turns.name(picture, y, "producer")
    waits = "waits at its empty 0" if block == 0 else "waits at its empty 0: 5 of 8 so far"
    turns.bar(picture, y, (0, empty), waits, "wait", "the producer waits for the warps of its own block")
    picture.text(turns.LEFT + empty * turns.UNIT + 8, y + 15, "8 of 8: asks for its half of batch 2", "small")
    y += turns.LANE
    turns.name(picture, y, "stage 0")
    stage(picture, y, empty, asks)
    for text, end in groups:
        y += turns.LANE
        turns.name(picture, y, text)
        turns.bar(picture, y, (turns.COPY, end), "read 0", "compute", f"{text} of block {block} read batch 0")
    return y + turns.LANE + 24


def figure() -> svg.Figure:
    picture = svg.Figure("Two rings whose empty barriers hear from their own block alone: what a multicast overwrites", 290)
    top = 22.0
    for block in range(2):
        top = panel(picture, top, block)
    y = top - 20
    entries = (("copy", "half of block 0 under way", 0), ("async", "half of block 1 under way", 190), ("compute", "warps read", 380), ("wait", "waits", 475), ("wrong", "overwrites", 535))
    for colour, text, along in entries:
        picture.rect(turns.LEFT + along, y, 12, 12, colour)
        picture.text(turns.LEFT + along + 18, y + 11, text, "small")
    end = turns.LEFT + turns.UNITS * turns.UNIT
    picture.arrow(end - 60, 17, end, 17, "thin")
    picture.text(end - 66, 21, "time", "small soft", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
