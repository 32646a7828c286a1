#!/usr/bin/env python3
"""A rate is busy cycles times clock: the rungs of chapter 12 on the plane of both, with lines of equal rate, from the measurement file."""

import sys

import chart
import svg

# So narrow that a phone shows the whole figure.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 366, 50, 346, 76, 372
EXTENT, PACE = "8192 x 8192 x 8192", "with pauses"
OPERATIONS_OF_A_CYCLE = 132 * 4096  # of bf16, all SMs of an H200
FIRST = 4  # the number of the first rung that is shown
# Where a name stands beside its point, in units: right and down, and how it is anchored.
BESIDE = {
    "cuBLAS": (10, 4, "start"),
    "tuned": (0, -10, "middle"),
    "overlapped": (9, -3, "start"),
    "stored": (9, 12, "start"),
    "multicast": (9, 10, "start"),
    "staying": (-9, 1, "end"),
    "ordered": (2, 19, "middle"),
    "wide_tile": (-9, 5, "end"),
    "staged": (-9, 5, "end"),
}
RATES = (500, 600, 700, 800)  # TFLOP/s


def busy(row: chart.Row) -> float:
    """The share of the cycles that the tensor cores need at their full rate, in per cent."""
    return 100 * 2 * 8192**3 / (OPERATIONS_OF_A_CYCLE * 1000 * chart.number(row, "cycles"))


def figure() -> svg.Figure:
    rows = [row for row in chart.table("gemm_burst_clock") if (row["extent"], row["pace"]) == (EXTENT, PACE) and row["kernel"] != "warp_products"]
    picture = svg.Figure("Rate is busy cycles times clock: rungs 4 to 13 of the matrix product and cuBLAS, on an H200", BOTTOM + 98, WIDTH)
    picture.text(8, 22, "Rate = busy × clock", "strong")
    picture.text(8, 40, "8192 × 8192 × 8192, one H200, with pauses", "small soft")
    x = chart.Axis(1500, 1750, LEFT, RIGHT, [(value, str(value)) for value in range(1500, 1751, 50)])
    y = chart.Axis(55, 103, BOTTOM, TOP, [(value, f"{value} %") for value in (60, 70, 80, 90, 100)])
    chart.grid(picture, x, y, "clock of the SMs (MHz)", "")
    picture.text(8, TOP - 14, "cycles in which the tensor cores are busy", "small")
    for rate in RATES:
        curve = [(mhz, 100 * rate * 1e6 / (OPERATIONS_OF_A_CYCLE * mhz)) for mhz in range(1500, 1751, 5)]
        points = [f"{round(x.place(mhz), 1):g} {round(y.place(share), 1):g}" for mhz, share in curve if 55 <= share <= 100]
        picture.path("M" + " L".join(points), "thin dashed")
        if curve[-1][1] > 55:
            picture.text(RIGHT - 2, y.place(curve[-1][1]) - 5, str(rate), "small soft", "end")
        else:
            picture.text(LEFT + 4, y.place(curve[0][1]) - 2, str(rate), "small soft")
    rungs = [row for row in rows if row["kernel"] != "cuBLAS"]
    places = [(x.place(chart.number(row, "sm_mhz")), y.place(busy(row))) for row in rungs]
    picture.path("M" + " L".join(f"{round(a, 1):g} {round(b, 1):g}" for a, b in places))
    for row in rows:
        name = str(row["kernel"])
        number = "cuBLAS" if name == "cuBLAS" else str(FIRST + rungs.index(row))
        a, b = x.place(chart.number(row, "sm_mhz")), y.place(busy(row))
        tip = f"{name}: {chart.number(row, 'sm_mhz'):.0f} MHz, {busy(row):.1f} % busy, {chart.number(row, 'tflops'):.0f} TFLOP/s"
        picture.rect(a - 4, b - 4, 8, 8, "copy" if name == "cuBLAS" else "async", tip)
        right, down, anchor = BESIDE.get(name, (10, 4, "start"))
        picture.text(a + right, b + down, number, "small strong", anchor)
    chart.legend(picture, LEFT, BOTTOM + 66, [("async", "rungs, by number"), ("copy", "cuBLAS")], 150)
    picture.line(LEFT - 4, BOTTOM + 83, LEFT + 14, BOTTOM + 83, "thin dashed")
    picture.text(LEFT + 20, BOTTOM + 87, "equal rates, in TFLOP/s", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
