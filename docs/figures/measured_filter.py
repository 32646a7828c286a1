#!/usr/bin/env python3
"""Chapter 6's filter: its share of the driver's copy against the instructions of a block, with a tensor copy and with cp.async, each after a pause."""

import sys

import chart
import svg

# Twins of 80 columns, the instructions that the warps of a block inside the matrix execute on the emulator (of PTX), and where
# the name of the work stands.
SERIES = {
    "async": [
        ("box, 80, columns", 451, "shared sums", 4, -12, "end"),
        ("box, 80, no sums", 620, "no sums", 0, -12, "middle"),
        ("box, 80, columns, plain", 1019, "shared sums, plain stores", 0, -14, "middle"),
        ("box, 80", 1132, "nine additions", 2, -28, "start"),
        ("box, 80, plain", 1483, "nine, plain stores", 6, -12, "start"),
    ],
    "wait": [
        ("chunks, 80, columns", 813, "shared sums", 8, 22, "end"),
        ("chunks, 80, no sums", 986, "no sums", 4, 22, "middle"),
        ("chunks, 80, columns, plain", 1377, "shared sums, plain stores", -10, 28, "end"),
        ("chunks, 80", 1498, "nine additions", -10, 12, "end"),
        ("chunks, 80, plain", 1881, "nine, plain stores", -10, 14, "end"),
    ],
}


def figure() -> svg.Figure:
    shares = {str(row["kernel"]): chart.number(row, "rested_share") for row in chart.table("filter_read")}
    picture = svg.Figure("A 3×3 filter: its share of the driver's copy against the instructions of a block, on an H200", 420)
    picture.text(20, 28, "With nearly as many instructions, the filter with cp.async lies six points lower", "strong")
    x = chart.Axis(0, 2000, 80, 690, [(v, f"{v:,}") for v in range(0, 2001, 500)])
    y = chart.Axis(80, 100, 366, 92, [(v, f"{v}") for v in range(80, 101, 5)])
    chart.grid(picture, x, y, "instructions that the warps of a block execute, on the emulator", "% of the driver's copy, after a pause (from 80)")
    for colour, points in SERIES.items():
        places = [(x.place(many), y.place(shares[name])) for name, many, *_ in points]
        picture.path("M" + " L".join(f"{a:.1f} {b:.1f}" for a, b in places), "dashed")
        for (left, top), (name, many, label, right, down, anchor) in zip(places, points, strict=True):
            share = shares[name]
            picture.rect(left - 5.5, top - 5.5, 11, 11, colour, f"{name}: {many:,} instructions, {share:.1f} %")
            picture.text(left + right, top + down, label, "small", anchor)
    # The two versions with about 1,490 instructions: how far apart they are.
    high, low = (shares[name] for name in ("box, 80, plain", "chunks, 80"))
    middle = x.place((1483 + 1498) / 2)
    picture.path(f"M{middle:.1f} {y.place(high) + 8:.1f} L{middle:.1f} {y.place(low) - 8:.1f}", "thin")
    picture.text(middle + 10, (y.place(high) + y.place(low)) / 2 + 4, f"{high - low:.0f} points", "small soft")
    chart.legend(picture, 80, 54, [("async", "with a tensor copy")], 0)
    chart.legend(picture, 260, 54, [("wait", "with cp.async of 16 bytes")], 0)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
