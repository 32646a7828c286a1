#!/usr/bin/env python3
"""Chapter 4's opening: a block alone on its SM, with more stages and then with larger tiles."""

import sys

import chart
import svg

MOST = 4  # stages of the smaller tiles: more change nothing (measured_room.py shows them)
THREADS, PIECES, STAGES = 512, 1, 8  # of the eighth kernel, at its best
WIDTH, LEFT, RIGHT, TOP, LANE = 364, 84, 350, 104, 34  # narrow: a phone shows all of it


def name(stages: int) -> str:
    return f"{stages} stage" + ("s" if stages > 1 else "")


def bar(picture: svg.Figure, y: float, stages: int, share: float, colour: str) -> None:
    """A bar as long as its share of the copy, in per cent, which stands behind it, or in it where there is no room behind."""
    end = LEFT + share / 100 * (RIGHT - LEFT)
    inside = end + 56 > RIGHT
    picture.text(LEFT - 10, y + 17, name(stages), "", "end")
    picture.rect(LEFT, y, end - LEFT, LANE - 10, colour, f"{name(stages)}: {share:.1f} % of the copy")
    picture.text(end + (-8 if inside else 8), y + 17, f"{share:.1f} %", "strong", "end" if inside else "start")


def shares() -> dict[int, float]:
    """By the number of stages of the smaller tiles: the rate in per cent of the copy's."""
    rows = chart.table("pipeline_stages")
    ceiling = max(chart.number(row, "gb_per_s") for row in rows if str(row["kernel"]).startswith("copy"))
    return {
        int(chart.number(row, "stages")): 100 * chart.number(row, "gb_per_s") / ceiling
        for row in rows
        if row["kernel"] == "four_at_a_time" and row["blocks_per_sm"] == 1 and row["work"] == 1 and chart.number(row, "stages") <= MOST
    }


def smaller(title: str, below: float = 0) -> tuple[svg.Figure, float]:
    """The bars of the smaller tiles, with as much room `below`; and where they end."""
    found = shares()
    end = TOP + len(found) * LANE
    picture = svg.Figure(title, end + below + 12, WIDTH)
    picture.text(14, 26, "Rate of a stream on an H200", "strong")
    picture.text(14, 46, "one block per SM, one multiply-add per element", "small soft")
    picture.text(RIGHT, 72, "the copy: 100 %", "small soft", "end")
    picture.text(14, TOP - 10, "256 threads, tiles of 4 KiB", "small")
    for i, (stages, share) in enumerate(sorted(found.items())):
        bar(picture, TOP + i * LANE, stages, share, "copy")
    picture.line(RIGHT, 80, RIGHT, end + below - 4, "dashed")
    return picture, end


def figure() -> svg.Figure:
    wanted = {"kernel": "of_width", "blocks_per_sm": 1, "threads": THREADS, "each": PIECES, "stages": STAGES}
    larger = next(chart.number(row, "share") for row in chart.table("pipeline_wide") if all(row[key] == value for key, value in wanted.items()))
    picture, end = smaller("The rate of a stream with one block per SM on an H200: 1 to 4 stages, then larger tiles", 26 + LANE)
    picture.text(14, end + 16, f"{THREADS} threads, tiles of {THREADS * PIECES * 16 // 1024} KiB", "small")
    bar(picture, end + 26, STAGES, larger, "async")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
