#!/usr/bin/env python3
"""Copies by way of shared memory: the share of the copy ceiling against the bytes that the stages of an SM hold, as measured."""

import sys

import chart
import svg

BLOCKS_TAKE = 16  # tiles; the one grid of blocks that end with which every number of stages was tried
TICKS = (4, 8, 12, 16, 24, 32, 48, 64, 128)  # KiB; the chapter speaks of 12, 24 and 48
NAMES = (
    ("plain", "dashed: chapter 1's copy, blocks stay"),
    ("wait", "registers"),
    ("wrong", "bulk, 1 KiB"),
    ("async", "bulk, 2 to 16 KiB"),
)


def threads() -> list[tuple[float, float]]:
    """Chapter 1's copy with one load per thread, by bytes in flight: the better of its widths of a load, as a rate in GB/s."""
    best: dict[float, float] = {}
    for row in chart.table("turnover_flight"):
        in_flight = chart.number(row, "in_flight")
        best[in_flight] = max(best.get(in_flight, 0), 2 * chart.number(row, "copy"))
    return sorted(best.items())


def figure() -> svg.Figure:
    rows = chart.table("copy_paths")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["path"]).startswith("copy"))
    picture = svg.Figure("Copies by way of shared memory against the bytes that the stages of an SM hold, on an H200", 402)
    picture.text(20, 28, f"Share of the driver's copy; solid lines: blocks take {BLOCKS_TAKE} tiles, 16 bytes per access", "strong")
    x = chart.Axis(4096, 131072, 80, 690, [(1024.0 * kib, f"{kib}") for kib in TICKS], logarithmic=True)
    y = chart.Axis(0, 100, 350, 80, [(v, f"{v} %") for v in range(0, 101, 20)])
    chart.grid(picture, x, y, "KiB in the stages of all blocks on an SM (dashed line: on their way to registers)", "of the copy")

    def line(points: list[tuple[float, float]], colour: str, name: str, dashed: bool = False) -> None:
        kept = [(a, 100 * rate / ceiling) for a, rate in points if x.low <= a <= x.high]
        chart.series(picture, x, y, kept, colour, name, dashed)

    def measured(path: str, tile: float | None = None) -> list[tuple[float, float]]:
        found: dict[float, float] = {}
        for row in rows:
            if row["path"] == path and row["tiles_per_block"] == BLOCKS_TAKE and tile in (None, row["tile_bytes"]):
                found[chart.number(row, "in_flight")] = chart.number(row, "gb_per_s")
        return sorted(found.items())

    line(threads(), "plain", "one load per thread", dashed=True)
    line(measured("registers, 16 bytes"), "wait", "registers")
    for tile in (16384, 8192, 4096, 2048, 1024):
        line(measured("bulk load", tile), "async" if tile > 1024 else "wrong", f"bulk, tiles of {chart.bytes_text(tile)}")
    for (colour, name), left in zip(NAMES, (80, 346, 442, 548), strict=True):
        chart.legend(picture, left, 49, [(colour, name)], 0)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
