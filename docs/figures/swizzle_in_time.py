#!/usr/bin/env python3
"""Chapter 7's column sums on one SM over time, to scale: tiles arrive, warps queue at the banks; from the measurement file."""

import sys

import chart
import svg

LEFT, SCALE, LANE = 72, 0.6, 20
TILES = 2  # that are drawn
WARPS, FREE, QUEUED = 8, 4, 32  # accesses for a tile, and the wavefronts of each with and without the swizzle
TILES_OF_SM = 8 * 256  # of the eight blocks that most SMs have
BYTES, CLOCK = 1 << 30, 1980e6


def cycles(milliseconds: float) -> float:
    """Of the SM, for each tile."""
    return milliseconds * 1e-3 * CLOCK / TILES_OF_SM


def panel(picture: svg.Figure, top: float, name: str, arrival: float, queue: float, measured: float) -> float:
    """Both ends for one layout, nothing hidden and all hidden, with the measured time through both. Returns the lower edge."""
    picture.text(12, top, name, "strong")
    whole, hidden = arrival + queue, max(arrival, queue)
    y, step = top + 38, 2 * LANE + 26
    at = LEFT + SCALE * measured * TILES
    picture.line(at, top + 14, at, y + 2 * step - 20, "dashed")  # first, so that it passes behind the bars and their numbers
    picture.text(at, top + 8, f"measured: {measured:.0f} cycles a tile", "small strong", "middle")
    for words, period, later, first in (("nothing hidden", whole, arrival, 1), ("all hidden", hidden, 0.0, 0)):
        picture.text(LEFT, y - 6, f"{words}: {period:.0f} cycles a tile", "small")
        picture.text(LEFT - 10, y + 15, "copies", "small", "end")
        picture.text(LEFT - 10, y + 15 + LANE, "banks", "small", "end")
        for tile in range(TILES):
            begin = LEFT + SCALE * period * tile
            picture.rect(begin, y, SCALE * arrival, LANE, "copy", f"tile {tile + 1} arrives: {arrival:.0f} cycles")
            picture.text(begin + SCALE * arrival / 2, y + 15, f"{tile + 1}", "small", "middle")
            begin += SCALE * later
            picture.rect(begin, y + LANE, SCALE * queue, LANE, "wait", f"the accesses to tile {tile + first}: {queue:.0f} cycles")
            picture.text(begin + SCALE * queue / 2, y + 15 + LANE, f"{tile + first}", "small", "middle")
        y += step
    return y


def figure() -> svg.Figure:
    sums = {row["layout"]: row for row in chart.table("column_sums") if row["access"] == "16 bytes"}
    plain, swizzled = sums["no swizzle"], sums["128 bytes"]
    copy = chart.number(plain, "gb_per_s") / chart.number(plain, "share") * 100
    arrival = cycles(BYTES / copy / 1e6)
    picture = svg.Figure("Column sums on an SM over time, without and with the swizzle: the cycles for each tile", 400)
    bottom = panel(picture, 24, "no swizzle", arrival, WARPS * QUEUED, cycles(chart.number(plain, "median_ms")))
    bottom = panel(picture, bottom + 12, "128-byte swizzle", arrival, WARPS * FREE, cycles(chart.number(swizzled, "median_ms")))
    picture.rect(12, bottom, 14, 14, "copy")
    picture.text(32, bottom + 12, f"a tile arrives, at the rate of a copy: {arrival:.0f} cycles", "small")
    picture.rect(330, bottom, 14, 14, "wait")
    picture.text(350, bottom + 12, "its eight accesses, a wavefront a cycle", "small")
    picture.text(12, bottom + 36, "To scale, for an SM with eight blocks. In the bars: which tile. Dashed: two tiles at the measured pace.", "small soft")
    picture.height = bottom + 48
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
