#!/usr/bin/env python3
"""Rings of cp.async with tiles of 2 KiB: more stages than enough, for blocks that stay and for blocks that end."""

import sys

import chart
import svg

WAY, TILE = "cp.async, 16 bytes", 2048
SERIES = ((0, "wait", "stay", False), (16, "plain", "end after 16 tiles", True), (4, "copy", "end after 4 tiles", False))


def figure() -> svg.Figure:
    rows = chart.table("copy_paths")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["path"]).startswith("copy"))
    picture = svg.Figure("Bandwidth by bytes in flight with tiles of 2 KiB: blocks that stay, and blocks that end, on an H200", 372, 640)
    picture.text(20, 28, "Share of a plain copy; the axis begins at 65 %", "strong")
    x = chart.Axis(6 << 10, 84 << 10, 72, 620, [(float(each << 10), f"{each} KiB") for each in (12, 24, 36, 48, 60, 80)])
    y = chart.Axis(65, 100, 320, 84, [(float(each), f"{each} %") for each in range(65, 101, 5)])
    chart.grid(picture, x, y, "in flight on an SM: tile × stages × blocks", "of the copy")
    for tiles, colour, name, dashed in SERIES:
        points = [
            (chart.number(row, "in_flight"), 100 * chart.number(row, "gb_per_s") / ceiling)
            for row in rows
            if (row["path"], row["tile_bytes"], row["tiles_per_block"]) == (WAY, TILE, tiles)
        ]
        chart.series(picture, x, y, points, colour, f"blocks {name}", dashed)
        if tiles == 0:
            for bar, (count, _) in zip(("2nd", "3rd", "4th", "5th"), points, strict=False):
                picture.text(x.place(count), y.start - 8, f"{bar} bar", "small soft", "middle")
        if tiles == 4:
            count, share = max(points)
            picture.text(x.place(count) + 10, y.place(share) + 6, "4 stages, 4 tiles", "small soft")
    picture.text(92, 54, "blocks that", "small soft")
    chart.legend(picture, 166, 54, [(colour, name) for _, colour, name, _ in SERIES], 150)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
