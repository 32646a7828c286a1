#!/usr/bin/env python3
"""Chapter 9's opening: what each block of a stream from L2 gets, if it loads for itself and if a pair shares its loads."""

import sys

import chart
import svg

TOP, MOST = 40, 115  # GB/s: where a bar would end at the right edge
BATCH, STAGES, PAIR = 32768, 3, 2
WAYS = (  # the loads in the table; what they are; the colour of the bar
    ("each block loads", "each block loads all of it", "wait"),
    ("multicast", "in a pair, each block loads half for both", "async"),
)


def figure() -> svg.Figure:
    rates = {
        str(row["loads"]): chart.number(row, "gb_per_s")
        for row in chart.table("ring_begins")
        if row["kernel"] == "stream_begins" and (row["cluster"], row["alike"], row["batch"], row["stages"]) == (PAIR, PAIR, BATCH, STAGES)
    }
    picture = svg.Figure("What each block gets of a stream from L2, alone and in a pair, on an H200", TOP + chart.LANE * len(WAYS) + 16, chart.NARROW)
    picture.text(chart.NARROW_LEFT, 26, "What each block gets, on an H200", "strong")
    for i, (loads, name, colour) in enumerate(WAYS):
        y, rate = TOP + chart.LANE * i, rates[loads]
        picture.text(chart.NARROW_LEFT, y + 12, name, "small")
        length = (chart.NARROW_RIGHT - chart.NARROW_LEFT) * rate / MOST
        picture.rect(chart.NARROW_LEFT, y + 18, length, 22, colour, f"{name}: {rate:.0f} GB/s")
        picture.text(chart.NARROW_LEFT + length - 8, y + 33, f"{rate:.0f} GB/s", "small strong", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
