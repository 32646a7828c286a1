#!/usr/bin/env python3
"""Copies by way of shared memory: the share of the copy ceiling against the size of a tile, as measured."""

import sys

import chart
import svg

SERIES = (
    ("registers, 16 bytes", 1, "wait", "registers", True),
    ("cp.async, 16 bytes", 1, "plain", "cp.async, 1 stage", True),
    ("cp.async, 16 bytes", 3, "copy", "cp.async, 3 stages", False),
    ("bulk load", 3, "async", "bulk, 3 stages", False),
)


def figure() -> svg.Figure:
    rows = chart.table("copy_paths")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["path"]).startswith("copy"))
    picture = svg.Figure("Copies by way of shared memory against the size of a tile, on an H200", 402)
    picture.text(20, 28, "Share of the device-to-device copy, blocks that stay, 16 bytes per access", "strong")
    x = chart.Axis(1024, 65536, 80, 690, chart.doublings(1024, 65536, 1), logarithmic=True)
    y = chart.Axis(0, 100, 350, 80, [(v, f"{v} %") for v in range(0, 101, 20)])
    chart.grid(picture, x, y, "size of a tile", "of the copy")
    for path, stages, colour, name, dashed in SERIES:
        points = [
            (chart.number(row, "tile_bytes"), 100 * chart.number(row, "gb_per_s") / ceiling)
            for row in rows
            if row["path"] == path and row["stages"] == stages and not row.get("tiles_per_block")
        ]
        chart.series(picture, x, y, points, colour, name, dashed)
    chart.legend(picture, 80, 49, [(colour, name) for _, _, colour, name, _ in SERIES], 150)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
