#!/usr/bin/env python3
"""Little's curve: the bandwidth of reading against the bytes that are on their way, as measured."""

import sys

import chart
import svg


def figure() -> svg.Figure:
    rows = chart.table("little")
    latency = next(chart.number(row, "ns") for row in chart.table("latencies") if row["memory"] == "global memory")
    picture = svg.Figure("Bandwidth of reading against bytes in flight per SM, on an H200", 402)
    picture.text(20, 28, "Reading global memory: rate against bytes in flight per SM", "strong")
    x = chart.Axis(128, 262144, 80, 690, chart.doublings(128, 262144), logarithmic=True)
    y = chart.Axis(0, 5000, 350, 80, [(v, f"{v:g}") for v in range(0, 5001, 1000)])
    chart.grid(picture, x, y, "bytes in flight per SM (threads × loads × bytes of a load)", "GB/s")
    law = [(float(b), 132 * b / latency) for b in (128 << i for i in range(12)) if 132 * b / latency <= 5000]
    places = [(x.place(a), y.place(b)) for a, b in law]
    picture.path("M" + " L".join(f"{a:.1f} {b:.1f}" for a, b in places), "dashed")
    picture.text(places[-1][0] - 8, places[-1][1] - 2, f"bytes in flight ÷ {latency:.0f} ns", "small soft", "end")
    for colour, load in (("wait", 4), ("copy", 16)):
        for row in rows:
            if row["load_bytes"] == load and row.get("gb_per_s") is not None:
                a, b = chart.number(row, "in_flight"), chart.number(row, "gb_per_s")
                tip = f"{row['threads_per_sm']} threads, {row['loads']} loads of {load} bytes: {b:.0f} GB/s"
                picture.rect(x.place(a) - 4, y.place(b) - 4, 8, 8, colour, tip)
    chart.legend(picture, 80, 49, [("wait", "loads of 4 bytes"), ("copy", "loads of 16 bytes")], 160)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
