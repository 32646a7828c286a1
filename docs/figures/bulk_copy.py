#!/usr/bin/env python3
"""A tile on its way through add_one_ptx of chapter 5: what runs through which proxy, and where the fences are."""

import sys

import svg

# (number, what happens, the call that does it), in program order
STEPS = [
    ("1", "one thread initialises the barrier", "mbarrier_init"),
    ("2a", "the same thread arrives and announces the bytes,", "mbarrier_arrive_expect_tx"),
    ("2b", "and asks for the load", "cp_async_bulk"),
    ("3", "TMA brings the tile and counts its bytes on the barrier", "complete_tx"),
    ("4", "every thread waits for the phase, reads and writes the tile", "mbarrier_try_wait_parity"),
    ("5", "every thread that wrote: proxy fence; then the block's barrier", "fence_proxy_async, __syncthreads"),
    ("6", "one thread asks for the store and closes its group", "cp_async_bulk, commit_group"),
    ("7", "TMA stores the tile; the thread waits until it has been read", "wait_group.read"),
]


def mark(picture: svg.Figure, x: float, y: float, number: str) -> None:
    """The number of a step, in a small frame."""
    picture.rect(x - 10, y - 10, 20, 20, "paper")
    picture.text(x, y + 5, number, "strong", "middle")


def figure() -> svg.Figure:
    """Memory at the left and in the middle, the two proxies above and below, the steps as a list."""
    picture = svg.Figure("A bulk copy in, a computation, a bulk copy out, and the two proxies", height=530)
    picture.rect(12, 16, 696, 92, "plain")
    picture.text(24, 36, "generic proxy", "strong")
    picture.text(24, 54, "ordinary loads and stores", "small soft")
    picture.box(200, 42, 480, 40, "threads of the block", "compute")

    picture.box(24, 136, 150, 84, "global memory\n\ndata[…]", "plain")
    picture.rect(330, 128, 366, 100, "plain")
    picture.text(438, 146, "shared memory", "small soft")
    picture.box(344, 156, 160, 56, "tile", "copy code")
    picture.box(546, 156, 140, 56, "bar", "wait code")

    picture.rect(12, 292, 696, 84, "async")
    picture.text(24, 368, "async proxy", "strong")
    picture.text(136, 368, "bulk copies", "small soft")
    picture.box(190, 306, 160, 50, "TMA", "plain strong")

    # generic side
    picture.arrow(400, 82, 400, 156)
    picture.arrow(424, 156, 424, 82)
    mark(picture, 412, 118, "4")
    picture.arrow(566, 82, 566, 156)
    mark(picture, 566, 118, "1")
    picture.arrow(606, 82, 606, 156)
    mark(picture, 606, 118, "2a")
    picture.arrow(656, 156, 656, 82)
    mark(picture, 656, 118, "4")
    # the requests: from the threads to TMA
    picture.arrow(236, 82, 236, 306)
    mark(picture, 236, 176, "2b")
    picture.path("M288 82 V297", "dashed")
    picture.arrow(288, 292, 288, 306)
    mark(picture, 288, 176, "6")
    # the load: global to TMA to tile, and its count on the barrier
    picture.arrow(130, 220, 204, 306)
    mark(picture, 164, 260, "3")
    picture.arrow(304, 306, 366, 212)
    mark(picture, 345, 243, "3")
    picture.path("M342 306 V278 H650 V221")
    picture.arrow(650, 226, 650, 212)
    mark(picture, 650, 252, "3")
    # the store: tile to TMA to global
    picture.path("M430 212 V332 H359", "dashed")
    picture.arrow(364, 332, 350, 332)
    mark(picture, 430, 312, "7")
    # the fence: a bar across the way from the threads' writes to the store
    picture.rect(390, 240, 230, 24, "compute")
    picture.text(402, 257, "5", "strong")
    picture.text(420, 257, "proxy fence of each writer", "small")
    picture.path("M190 338 H60 V229", "dashed")
    picture.arrow(60, 234, 60, 220)
    mark(picture, 60, 272, "7")

    for row, (number, text, call) in enumerate(STEPS):
        y = 400 + 16 * row
        picture.text(24, y, number, "small strong")
        picture.text(48, y, text, "small")
        picture.text(430, y, call, "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
