#!/usr/bin/env python3
"""What a warp that only loads gains with one block on each SM: the rise of the rate by the values in each thread's registers.

The kernel without roles is `meeting_ring`, as everywhere in the chapter's text.
"""

import sys

import chart
import svg

PAPER = 366  # so narrow that a phone shows all of it


def gains() -> dict[str, float]:
    """The rise of the rate in per cent, by the values."""
    times = {(row["kernel"], row["prints"]): chart.number(row, "median_ms") for row in chart.table("roles_work") if row["blocks"] == "1"}
    return {str(prints): 100 * (time / times["roles_ring", prints] - 1) for (kernel, prints), time in times.items() if kernel == "meeting_ring"}


def figure() -> svg.Figure:
    found = gains()
    counts = sorted(found, key=int)
    picture = svg.Figure("How much faster a kernel with a warp that only loads is than one without roles, in per cent of the rate", 292, PAPER)
    picture.text(14, 26, "Gained by roles", "strong")
    picture.text(14, 46, "rise of the rate, in per cent, on an H200", "small soft")
    slot = 38
    y = chart.Axis(0, 13, 232, 84, [(v, f"{v}") for v in (0, 5, 10)])
    x = chart.Axis(0, len(counts), 46, 46 + slot * len(counts), [(i + 0.5, f"{count}") for i, count in enumerate(counts)])
    chart.grid(picture, x, y, "values that each thread keeps", "")
    picture.text(38, 70, "%", "small", "end")
    columns = chart.Columns(x, y, slot, 1, 24, 0)
    for i, count in enumerate(counts):
        gain = found[count]
        columns.draw(picture, i, 0, gain, "copy", f"{gain:.0f}" if gain >= 0.9 else f"{gain:.1f}", f"{count} values: {gain:.1f} % faster")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
