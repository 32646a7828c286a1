#!/usr/bin/env python3
"""Some tiles of one block, warp by warp, as the clock recorded them: all meet for each tile, and with roles."""

import sys

import chart
import svg

COUNT, WARPS = 32, 8
CYCLES = 7000  # that are shown
LEFT, WIDTH, LANE = 76, 632, 21
KERNELS = (("meeting_ring", "All meet for each tile; warp 0 loads", True), ("roles_ring", "With roles; a ninth warp loads", False))
LEGEND = (("compute", "multiplies, tile k"), ("wrong", "waits for the slowest"), ("wait", "hands over, goes on"))
UNSEEN = ("copy", "waits for the tile")


def bars(row: chart.Row, slowest: float) -> list[tuple[float, float, str]]:
    """(begin, end, colour) of all that a warp does with one tile."""
    begins, full, used, following = (chart.number(row, name) for name in ("begins", "full", "used", "next"))
    free = max(used, slowest)
    return [(begins, full, "copy"), (full, used, "compute"), (used, free, "wrong"), (free, following, "wait")]


def panel(picture: svg.Figure, top: float, kernel: str, title: str, meet: bool) -> float:
    rows = [row for row in chart.table("roles_course") if row["kernel"] == kernel and row["prints"] == COUNT]
    first = min(int(chart.number(row, "tile")) for row in rows)
    picture.text(12, top, title, "strong")
    for warp in range(WARPS):
        y = top + 10 + warp * LANE
        picture.text(LEFT - 8, y + 14, f"warp {warp}", "small soft", "end")
        for row in rows:
            if row["warp"] != warp:
                continue
            slowest = max(chart.number(other, "used") for other in rows if other["tile"] == row["tile"]) if meet else 0
            for begin, end, colour in bars(row, slowest):
                left, right = max(begin, 0), min(end, CYCLES)
                if right - left < 8:
                    continue
                x1, x2 = (LEFT + WIDTH * at / CYCLES for at in (left, right))
                tile = int(chart.number(row, "tile")) - first
                name = dict(LEGEND + (UNSEEN,))[colour].replace("tile k", f"tile {tile}")
                picture.rect(x1, y, x2 - x1, LANE - 4, colour, f"warp {warp} {name}: {end - begin:.0f} cycles")
                if colour == "compute" and x2 - x1 > 24:
                    picture.text((x1 + x2) / 2, y + 13, str(tile), "small", "middle")
    return top + 10 + WARPS * LANE + 32


def figure() -> svg.Figure:
    picture = svg.Figure("The warps of one block over time, as the clock of an H200 recorded them: without roles and with them", 478)
    picture.text(12, 26, f"{CYCLES:,} cycles of one block, {COUNT} values in each thread, as an H200's clock recorded them", "small soft")
    top = 54.0
    for kernel, title, meet in KERNELS:
        top = panel(picture, top, kernel, title, meet)
    x = LEFT
    for colour, name in LEGEND:
        picture.rect(x, top - 18, 12, 12, colour)
        picture.text(x + 18, top - 8, name, "small")
        x += 190
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
