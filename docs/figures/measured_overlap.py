#!/usr/bin/env python3
"""The front page: one block per SM, one kernel, and nothing changes but the number of stages."""

import sys

import chart
import svg

MOST = 4  # stages: more change nothing (measured_room.py shows them)
WIDTH, LEFT, RIGHT, TOP, LANE = 350, 78, 336, 84, 34  # narrow: a phone shows all of it


def bars(picture: svg.Figure, rates: dict[int, float], ceiling: float) -> None:
    """A bar for each number of stages, as long as its share of the copy."""
    for i, (stages, rate) in enumerate(sorted(rates.items())):
        y, share = TOP + i * LANE, rate / ceiling
        end = LEFT + share * (RIGHT - LEFT)
        name = f"{stages} stage" + ("s" if stages > 1 else "")
        picture.text(LEFT - 10, y + 17, name, "", "end")
        picture.rect(LEFT, y, end - LEFT, LANE - 10, "copy", f"{name}: {rate:.0f} GB/s")
        picture.text(end + 8, y + 17, f"{100 * share:.1f} %", "strong")
    bottom = TOP + len(rates) * LANE - 4
    picture.line(RIGHT, TOP - 6, RIGHT, bottom, "dashed")
    picture.text(RIGHT, TOP - 14, "the copy: 100 %", "small soft", "end")


def figure() -> svg.Figure:
    rows = chart.table("pipeline_stages")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["kernel"]).startswith("copy"))
    rates = {
        int(chart.number(row, "stages")): chart.number(row, "gb_per_s")
        for row in rows
        if row["kernel"] == "four_at_a_time" and row["blocks_per_sm"] == 1 and row["work"] == 1 and chart.number(row, "stages") <= MOST
    }
    title = "The rate of a stream with 1, 2, 3 and 4 stages, one block per SM, on an H200"
    picture = svg.Figure(title, TOP + len(rates) * LANE + 12, WIDTH)
    picture.text(14, 26, "Rate of a stream on an H200", "strong")
    picture.text(14, 46, "one block per SM, one multiply-add per element", "small soft")
    bars(picture, rates, ceiling)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
