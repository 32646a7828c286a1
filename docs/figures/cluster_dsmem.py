#!/usr/bin/env python3
"""A cluster of four blocks: whose shared memory has which address, and what a dependent load costs where."""

import sys

import chart
import svg

BLOCKS = 4
WINDOW = 1 << 24  # bytes of shared address space per block, as the measurements say
BLOCK_WIDTH, BLOCK_GAP, BLOCK_TOP = 150, 24, 60

# What is measured, as the measurements call it, and as the figure does.
MEMORIES = (
    ("shared memory", "own shared memory"),
    ("shared memory of a neighbour", "a neighbour's, in a pair"),
    ("L2 cache", "L2 cache"),
    ("global memory", "global memory"),
)


def latencies() -> list[tuple[str, float]]:
    """Cycles of one dependent load per memory."""
    measured = {row["memory"]: chart.number(row, "cycles") for row in chart.table("latencies")}
    return [(label, measured[name]) for name, label in MEMORIES]


def draw_cluster(picture: svg.Figure) -> None:
    """The blocks, their windows, the network between them and L2 below."""
    left = (svg.WIDTH - BLOCKS * BLOCK_WIDTH - (BLOCKS - 1) * BLOCK_GAP) / 2
    right = svg.WIDTH - left
    for rank in range(BLOCKS):
        x = left + rank * (BLOCK_WIDTH + BLOCK_GAP)
        middle = x + BLOCK_WIDTH / 2
        picture.rect(x, BLOCK_TOP, BLOCK_WIDTH, 116, "plain")
        picture.text(middle, BLOCK_TOP + 20, f"block rank {rank}", "strong", "middle")
        picture.box(x + 10, BLOCK_TOP + 30, BLOCK_WIDTH - 20, 28, "threads", "compute")
        picture.box(x + 10, BLOCK_TOP + 66, BLOCK_WIDTH - 20, 42, f"shared memory\nfrom 0x{rank * WINDOW:07x}", "copy code")
        picture.line(middle, BLOCK_TOP + 116, middle, BLOCK_TOP + 140)
    picture.box(left, BLOCK_TOP + 140, right - left, 30, "SM-to-SM network: loads, stores, atomics, st.async, bulk copies", "async")
    picture.arrow(left + 60, BLOCK_TOP + 206, left + 60, BLOCK_TOP + 178)
    picture.text(left + 72, BLOCK_TOP + 194, "multicast: one read, a copy for every block of the mask (by which way they go is not documented)", "small")
    picture.box(left, BLOCK_TOP + 206, right - left, 30, "L2 cache and global memory", "plain")


def draw_latencies(picture: svg.Figure, top: float) -> float:
    """A bar per memory; returns the lower edge."""
    measured = latencies()
    longest = max(cycles for _, cycles in measured)
    picture.text(24, top, "One dependent load on an H200, in SM clock cycles", "strong")
    for i, (name, cycles) in enumerate(measured):
        y = top + 16 + 30 * i
        length = 420 * cycles / longest
        picture.text(222, y + 15, name, "", "end")
        picture.rect(232, y, length, 20, "async" if "neighbour" in name else "copy", f"{name}: {cycles:.3g} cycles")
        picture.text(240 + length, y + 15, f"{cycles:.3g}", "strong")
    return top + 16 + 30 * len(measured)


def figure() -> svg.Figure:
    picture = svg.Figure("A cluster of four blocks whose shared memories form one address space, and the latency of each memory", 470)
    picture.text(24, 32, "A cluster of four blocks: one window of shared addresses, a part for each block", "strong")
    draw_cluster(picture)
    draw_latencies(picture, BLOCK_TOP + 272)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
