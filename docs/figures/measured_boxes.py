#!/usr/bin/env python3
"""Tensor copies by blocks of one box: the rate against the bytes of the box, under the two lines that bound it, as measured."""

import sys

import chart
import svg

CHAPTER = {  # kernels of chapter 6 that move a box by each block: the bytes of it, and where its name stands
    "copy_1d": (64, 14, 5, "start"),
    "copy_2d": (320, 12, 22, "start"),
    "copy_3d": (960, 12, 22, "start"),
    "copy_4d": (1920, 0, 24, "middle"),
    "copy_5d": (3840, 0, 24, "middle"),
    "add_one_matrix": (4096, 0, -14, "middle"),
}
ROOM = 32  # blocks on an SM


def roof(per_block: float, ceiling: float, box: float) -> float:
    """What a block every `per_block` ns and the memory allow, in GB/s: each byte of a box comes in and goes out."""
    return min(2 * box / per_block, ceiling)


def figure() -> svg.Figure:
    boxes = [row for row in chart.table("box_ranks") if row["blocks_per_sm"] == ROOM]
    kernels = {str(row["kernel"]): row for row in chart.table("report_tma_2d")}
    whole = kernels["add_one_matrix"]
    ceiling = chart.number(whole, "gb_per_s") / chart.number(whole, "share") * 100
    per_block = min(chart.number(row, "ns_per_block") for row in boxes)
    corner = per_block * ceiling / 2
    picture = svg.Figure("The rate of tensor copies against the bytes of a block's box, on an H200", 420)
    picture.text(20, 28, "Each block moves one box: the rate against the bytes of the box", "strong")
    x = chart.Axis(0, 5000, 80, 690, [(v, f"{v:,}") for v in range(0, 5001, 1000)])
    y = chart.Axis(0, 5000, 366, 92, [(v, f"{v:,}") for v in range(0, 5001, 1000)])
    chart.grid(picture, x, y, "bytes of the box that a block loads and stores", "GB/s")
    line = [(b, roof(per_block, ceiling, b)) for b in (0, corner, x.high)]
    picture.path("M" + " L".join(f"{x.place(a):.1f} {y.place(b):.1f}" for a, b in line), "dashed")
    picture.text(x.place(1300), y.place(ceiling) - 8, f"the driver's copy, {ceiling:,.0f} GB/s", "small")
    picture.text(x.place(480) + 12, y.place(1600) + 4, f"a block every {per_block:.1f} ns", "small")

    def mark(size: float, rate: float, side: float, colour: str, tip: str) -> None:
        left, top = x.place(size), y.place(rate)
        picture.rect(left - side / 2, top - side / 2, side, side, colour, f"{tip}: {rate:,.0f} GB/s")

    def ranks(high: bool, side: float, colour: str) -> None:
        for row in boxes:
            if (row["rank"] == 5) == high:
                tip = f"{row['box']}, rank {row['rank']}"
                mark(chart.number(row, "bytes"), chart.number(row, "gb_per_s"), side, colour, tip)

    ranks(False, 16, "plain")
    for name, (size, right, down, anchor) in CHAPTER.items():
        rate = chart.number(kernels[name], "gb_per_s")
        mark(size, rate, 11, "wait", f"{name}, boxes of {size} bytes")
        picture.text(x.place(size) + right, y.place(rate) + down, name, "code", anchor)
    ranks(True, 6, "async")
    chart.legend(picture, 80, 54, [("plain", "rank 1 to 3")], 0)
    chart.legend(picture, 220, 54, [("async", "the same bytes in rank 5")], 0)
    chart.legend(picture, 420, 54, [("wait", "kernels of the chapter")], 0)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
