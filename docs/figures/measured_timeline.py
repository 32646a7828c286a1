#!/usr/bin/env python3
"""The time line of chapter 4 as the clock recorded it: copies and computations of one block, 1, 2 and 4 stages."""

import sys

import chart
import svg

LEFT, WIDTH, LANE = 92, 600, 22


def panel(picture: svg.Figure, top: float, stages: int, rows: list[chart.Row], scale: float) -> float:
    """One number of stages: a lane per stage, and one for what the threads do. Returns where the next begins."""
    title = f"{stages} stage" + ("s" if stages > 1 else "")
    last = chart.number(rows[-1], "computed")
    picture.text(12, top, title, "strong")
    picture.text(LEFT, top, f"{len(rows)} tiles computed after {last:,.0f} cycles", "small soft")
    top += 8
    for row in rows:
        tile = int(chart.number(row, "tile"))
        y = top + tile % stages * LANE
        issued, landed, computed = (chart.number(row, name) for name in ("issued", "landed", "computed"))
        wait = f"tile {tile}: issued at {issued:.0f}, waited for until {landed:.0f}"
        picture.rect(LEFT + issued * scale, y, (landed - issued) * scale, LANE - 4, "copy", wait)
        picture.text(LEFT + (issued + landed) / 2 * scale, y + 14, str(tile), "small", "middle")
        work = top + stages * LANE
        picture.rect(LEFT + landed * scale, work, (computed - landed) * scale, LANE - 4, "compute", f"tile {tile}: computed")
        picture.text(LEFT + (landed + computed) / 2 * scale, work + 14, str(tile), "small", "middle")
    for stage in range(stages):
        picture.text(LEFT - 8, top + stage * LANE + 14, f"stage {stage}", "small soft", "end")
    picture.text(LEFT - 8, top + stages * LANE + 14, "threads", "small soft", "end")
    return top + (stages + 1) * LANE + 24


def figure() -> svg.Figure:
    rows = chart.table("pipeline_timeline")
    longest = max(chart.number(row, "computed") for row in rows)
    picture = svg.Figure("Copies and computations of one block, recorded by the clock of an H200", 366)
    top = 24.0
    for stages in (1, 2, 4):
        top = panel(picture, top, stages, [row for row in rows if row["stages"] == stages], WIDTH / longest)
    chart.legend(picture, LEFT, top - 4, [("copy", "copy issued, until a thread sees it landed"), ("compute", "computation")], 330)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
