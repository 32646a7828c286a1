#!/usr/bin/env python3
"""The staircase of latencies: the time of a load against the bytes that are followed through, as measured."""

import sys

import chart
import svg


def figure() -> svg.Figure:
    rows = [row for row in chart.table("latency_by_size") if row.get("cycles") is not None]
    picture = svg.Figure("Latency of a load against the bytes that are followed through, on an H200", 392)
    picture.text(20, 28, "One load after the other, past L1: cycles of each against the bytes followed through", "strong")
    low, high = int(chart.number(rows[0], "bytes")), int(chart.number(rows[-1], "bytes"))
    x = chart.Axis(low, high, 80, 690, chart.doublings(low, high), logarithmic=True)
    y = chart.Axis(0, 800, 340, 70, [(v, f"{v:g}") for v in range(0, 801, 200)])
    chart.grid(picture, x, y, "bytes followed through, a node per line of 128 bytes, in random order", "cycles")
    points = [(chart.number(row, "bytes"), chart.number(row, "cycles")) for row in rows]
    chart.series(picture, x, y, points, "copy", "cycles")
    l2 = 60 << 20
    if low < l2 < high:
        picture.line(x.place(l2), y.start, x.place(l2), y.end, "dashed")
        picture.text(x.place(l2) - 6, y.end + 18, "L2: 60 MiB", "small soft", "end")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
