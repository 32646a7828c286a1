#!/usr/bin/env python3
"""Chapter 9: what the size of a cluster does to reading kernels, and multicast against loads by each block."""

import sys

import chart
import svg

SIZES = (1, 2, 4, 8, 16)


def panel(picture: svg.Figure, left: float, title: str, y: chart.Axis, unit: str, lines: dict[str, tuple[str, list]]) -> None:
    """Lines over the size of the cluster."""
    x = chart.Axis(1, 16, left, left + 260, [(float(s), str(s)) for s in SIZES], logarithmic=True)
    picture.text(left - 44, 30, title, "strong")
    chart.grid(picture, x, y, "blocks of a cluster", unit)
    for i, (name, (colour, points)) in enumerate(lines.items()):
        chart.series(picture, x, y, points, colour, name, dashed=i > 0)
    chart.legend(picture, left - 44, 52, [(colour, name) for name, (colour, _) in lines.items()], 130)


def figure() -> svg.Figure:
    picture = svg.Figure("Reading kernels and multicast against the size of a cluster, on an H200", 340)
    sizes, casts = chart.table("cluster_size"), chart.table("multicast")

    def points(rows: list[chart.Row], column: str, scale: float, **wanted: str) -> list[tuple[float, float]]:
        return [
            (chart.number(row, "cluster"), chart.number(row, column) * scale)
            for row in rows
            if all(row.get(key) == value for key, value in wanted.items()) and row.get(column) is not None
        ]

    histogram, sums = (points(sizes, "median_ms", 1, kernel=kernel) for kernel in ("histogram", "cluster_sum"))
    top = max(value for _, value in (*histogram, *sums))
    time = chart.Axis(0, 1.1 * top, 270, 90, [(v, f"{v:g}") for v in range(0, int(top) + 2)])
    panel(picture, 66, "Time for 512 MiB", time, "ms", {"histogram": ("wait", histogram), "cluster_sum": ("copy", sums)})
    loads, shared = (points(casts, "l2_bytes", 1e-9, kind=kind) for kind in ("each block loads", "multicast"))
    most = max(value for _, value in loads)
    asked = chart.Axis(0, 1.2 * most, 270, 90, [(v / 2, f"{v / 2:g}") for v in range(0, int(2 * most) + 2)])
    panel(picture, 430, "16 MiB for every block", asked, "GB asked of L2", {"each block loads": ("wait", loads), "multicast": ("async", shared)})
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
