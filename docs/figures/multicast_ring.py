#!/usr/bin/env python3
"""One stage of a ring that two blocks of a cluster fill together, and who arrives where: chapters/09_clusters/multicast_ring.cuh."""

import sys

import svg

BLOCKS, WARPS, SHARE_WIDTH, BLOCK_WIDTH = 2, 8, 300, 330
TOP_PRODUCER, TOP_STAGE, TOP_WARPS, TOP_BRACKET, TOP_EMPTY = 60, 150, 290, 324, 392
SHARES = ("copy", "async")  # by the block that asks


def left_of(block: int) -> float:
    return 20 + block * (BLOCK_WIDTH + 20)


def block(picture: svg.Figure, rank: int) -> None:
    left = left_of(rank)
    picture.rect(left, 30, BLOCK_WIDTH, 440, "paper")
    picture.path(f"M {left} 30 h {BLOCK_WIDTH} v 440 h -{BLOCK_WIDTH} z", "thin dashed")
    picture.text(left + 10, 48, f"block {rank}", "strong")
    picture.rect(left + 15, TOP_PRODUCER, SHARE_WIDTH, 34, SHARES[rank], f"the producer of block {rank}")
    picture.text(left + 15 + SHARE_WIDTH / 2, TOP_PRODUCER + 22, f"producer: asks for share {rank}, for both", "", "middle")
    for share, colour in enumerate(SHARES):
        y = TOP_STAGE + share * 32
        picture.rect(left + 15, y, SHARE_WIDTH, 32, colour, f"share {share}, asked for by block {share}")
        picture.text(left + 15 + SHARE_WIDTH / 2, y + 21, f"stage: share {share}", "small", "middle")
    picture.text(left + 15, TOP_STAGE + 86, f"full: 1 arrival, and the bytes of {BLOCKS} shares", "small")
    step = SHARE_WIDTH / WARPS
    for warp in range(WARPS):
        picture.rect(left + 15 + warp * step, TOP_WARPS, step - 4, 30, "compute", f"warp {warp} reads both shares")
        picture.text(left + 13 + (warp + 0.5) * step, TOP_WARPS + 20, str(warp), "small", "middle")
    picture.text(left + 15, TOP_WARPS - 8, f"{WARPS} warps read all of it, once it is full", "small")
    picture.path(f"M {left + 15} {TOP_BRACKET} v 8 h {SHARE_WIDTH - 4} v -8")
    picture.rect(left + 15, TOP_EMPTY, SHARE_WIDTH, 34, "wait", f"the empty barrier of block {rank}")
    picture.text(left + 15 + SHARE_WIDTH / 2, TOP_EMPTY + 22, f"empty: {BLOCKS * WARPS} arrivals, {WARPS} from each block", "", "middle")
    picture.text(left + 15, TOP_EMPTY + 56, f"the producer of block {rank} waits here", "small soft")
    picture.path(f"M {left + 15} {TOP_EMPTY + 17} h -10 V {TOP_PRODUCER + 17} h 5", "thin")
    picture.arrow(left + 5, TOP_PRODUCER + 17, left + 15, TOP_PRODUCER + 17, "thin")


def figure() -> svg.Figure:
    picture = svg.Figure("A stage that two blocks fill by multicast: who asks, who counts, who gives it back", 484)
    for rank in range(BLOCKS):
        block(picture, rank)
    for sender in range(BLOCKS):
        for receiver in range(BLOCKS):
            begin = left_of(sender) + 15 + SHARE_WIDTH / 2 + (receiver - 0.5) * 60
            end = left_of(receiver) + 15 + SHARE_WIDTH / 2 + (sender - 0.5) * 90
            picture.arrow(begin, TOP_PRODUCER + 34, end, TOP_STAGE)
            picture.arrow(left_of(sender) + 15 + SHARE_WIDTH / 2, TOP_BRACKET + 8, end, TOP_EMPTY)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
