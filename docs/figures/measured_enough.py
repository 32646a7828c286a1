#!/usr/bin/env python3
"""The ring of cp.async by its bytes in flight, where each thread asks for 16 bytes of a tile: blocks that stay, and blocks that end."""

import sys
from collections import defaultdict

import chart
import svg

SERIES = ((16, "copy", "end after 16 tiles"), (0, "wait", "stay"))
"""Tiles that a block takes, 0: it stays; colour and name."""


def shares(tiles: int) -> dict[float, list[float]]:
    """By bytes in flight, of blocks each of whose threads asks for 16 bytes of a tile."""
    found: dict[float, list[float]] = defaultdict(list)
    for row in chart.table("cp_async_early"):
        same = (row["kernel"], row["tiles_per_block"]) == ("groups_in_flight", tiles)
        if same and chart.number(row, "tile_bytes") == 16 * chart.number(row, "threads"):
            found[chart.number(row, "in_flight")].append(chart.number(row, "share"))
    return dict(sorted(found.items()))


def figure() -> svg.Figure:
    picture = svg.Figure("Bandwidth of a ring by its bytes in flight: blocks that stay, and blocks that end, on an H200", 392, 640)
    picture.text(20, 28, "Share of the driver's copy; the axis begins at 50 %", "strong")
    x = chart.Axis(7 << 10, 220 << 10, 72, 620, [(float(each << 10), f"{each}") for each in (8, 16, 24, 32, 48, 64, 96, 128, 192)], logarithmic=True)
    y = chart.Axis(50, 100, 340, 84, [(float(each), f"{each} %") for each in range(50, 101, 10)])
    chart.grid(picture, x, y, "KiB in flight on an SM: tile × stages × blocks", "of the copy")
    for tiles, colour, name in SERIES:
        found = shares(tiles)
        means = [(x.place(count), y.place(sum(each) / len(each))) for count, each in found.items()]
        picture.path("M" + " L".join(f"{round(a, 1):g} {round(b, 1):g}" for a, b in means), "" if tiles == 0 else "dashed")
        for count, each in found.items():
            for share in each:
                tip = f"blocks {name}: {chart.bytes_text(count)}, {share:.0f} %"
                picture.rect(x.place(count) - 4, y.place(share) - 4, 8, 8, colour, tip)
    picture.text(92, 54, "blocks that", "small soft")
    chart.legend(picture, 166, 54, [(colour, name) for _, colour, name in SERIES], 150)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
