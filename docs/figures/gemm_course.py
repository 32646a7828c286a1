#!/usr/bin/env python3
"""The clock from launch to launch of a burst, for some rungs of chapter 12 and cuBLAS, from the measurement file."""

import sys

import chart
import svg

# So narrow that a phone shows the whole figure.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 366, 50, 262, 62, 300
LAUNCHES = 24
# Where a name stands beside the end of its line, in units down.
NAMES = {"warp_products": 4, "ordered": 15, "overlapped": 1, "cuBLAS": -12, "one_stage": 4, "staged": 4}


def figure() -> svg.Figure:
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
    for row in chart.table("gemm_burst_course"):
        lines[str(row["kernel"])].append((chart.number(row, "launch"), chart.number(row, "sm_mhz")))
    picture = svg.Figure("The clock of the SMs in each of 24 launches after a pause, for five rungs and cuBLAS, on an H200", BOTTOM + 54, WIDTH)
    picture.text(8, 22, "Clock of each launch after a pause of 40 ms (MHz)", "strong small")
    picture.text(8, 40, "8192 × 8192 × 8192, one H200", "small soft")
    x = chart.Axis(1, LAUNCHES, LEFT, RIGHT, [(value, str(value)) for value in (1, 4, 8, 12, 16, 20, 24)])
    y = chart.Axis(1400, 1850, BOTTOM, TOP, [(value, str(value)) for value in range(1400, 1801, 100)])
    chart.grid(picture, x, y, "launch", "")
    for name, points in lines.items():
        places = [(x.place(launch), y.place(mhz)) for launch, mhz in points]
        picture.path("M" + " L".join(f"{round(a, 1):g} {round(b, 1):g}" for a, b in places), "dashed" if name == "cuBLAS" else "")
        for (launch, mhz), (a, b) in zip(points, places, strict=True):
            if launch in (1, LAUNCHES):
                picture.rect(a - 3, b - 3, 6, 6, "copy" if name == "cuBLAS" else "async", f"{name}, launch {launch:g}: {mhz:.0f} MHz")
        picture.text(RIGHT + 8, places[-1][1] + NAMES[name], name, "code small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
