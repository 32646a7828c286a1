#!/usr/bin/env python3
"""Chapter 9: what the size of a cluster does to reading kernels, and multicast against loads by each block in a ring of few stages."""

import sys

import chart
import svg

SIZES = (1, 2, 4, 8, 16)


def panel(
    picture: svg.Figure, x: chart.Axis, title: str, y: chart.Axis, labels: tuple[str, str], lines: dict[str, tuple[str, list]], width: float
) -> None:
    """Lines, with a title and a legend above them; `labels` are those of the axes."""
    left = x.start - 44
    picture.text(left, 30, title, "strong")
    chart.grid(picture, x, y, *labels)
    for i, (name, (colour, points)) in enumerate(lines.items()):
        chart.series(picture, x, y, points, colour, name, dashed=i > 0)
    chart.legend(picture, left, 52, [(colour, name) for name, (colour, _) in lines.items()], width)


def figure() -> svg.Figure:
    picture = svg.Figure("Reading kernels against the size of a cluster, and multicast against the number of stages, on an H200", 340)
    sizes, limits = chart.table("cluster_size"), chart.table("stream_limits")

    def points(rows: list[chart.Row], across: str, column: str, scale: float, **wanted: str | int) -> list[tuple[float, float]]:
        return [
            (chart.number(row, across), chart.number(row, column) * scale)
            for row in rows
            if all(row.get(key) == value for key, value in wanted.items()) and row.get(column) is not None
        ]

    histogram, sums = (points(sizes, "cluster", "median_ms", 1, kernel=kernel) for kernel in ("histogram", "cluster_sum"))
    top = max(value for _, value in (*histogram, *sums))
    time = chart.Axis(0, 1.1 * top, 270, 90, [(v, f"{v:g}") for v in range(0, int(top) + 2)])
    blocks = chart.Axis(1, 16, 66, 326, [(float(s), str(s)) for s in SIZES], logarithmic=True)
    panel(picture, blocks, "Time for 512 MiB", time, ("blocks of a cluster", "ms"), {"histogram": ("wait", histogram), "cluster_sum": ("copy", sums)}, 130)
    wanted: dict[str, str | int] = {"batch": 32768, "reads": "all"}
    streams = {
        "multicast": ("async", points(limits, "stages", "gb_per_s", 1e-3, loads="multicast", **wanted)),
        "each block loads": ("wait", points(limits, "stages", "gb_per_s", 1e-3, loads="each block loads", **wanted)),
    }
    most = max(value for _, line in streams.values() for _, value in line)
    rate = chart.Axis(0, 1.1 * most, 270, 90, [(float(v), f"{v}") for v in range(0, int(most) + 2, 4)])
    stages = chart.Axis(2, 6, 430, 690, [(float(s), str(s)) for s in (2, 3, 4, 6)])
    panel(picture, stages, "A ring for pairs, batches of 32 KiB", rate, ("stages", "TB/s"), streams, 130)
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
