#!/usr/bin/env python3
"""What a warp that only loads gains once the registers are shared out again: the time saved by the values in each thread's registers."""

import sys

import chart
import svg

PAPER = 350  # so narrow that a phone shows all of it


def figure() -> svg.Figure:
    rows = {row["kernel"]: row for row in chart.table("roles_by_registers")}
    counts = [name for name in rows["meeting_ring"] if str(name).isdigit()]
    picture = svg.Figure("Time that a kernel with a warp that only loads saves, in per cent of that of the one without roles", 290, PAPER)
    picture.text(14, 26, "Time saved by a warp that only loads", "strong")
    picture.text(14, 46, "in per cent of the time without roles, on an H200", "small soft")
    slot = 58
    y = chart.Axis(0, 8, 230, 86, [(v, f"{v}") for v in (0, 4, 8)])
    x = chart.Axis(0, len(counts), 50, 50 + slot * len(counts), [(i + 0.5, f"{count}") for i, count in enumerate(counts)])
    chart.grid(picture, x, y, "values that each thread keeps", "")
    picture.text(42, 74, "%", "small", "end")
    columns = chart.Columns(x, y, slot, 1, 40, 0)
    for i, count in enumerate(counts):
        meeting, moved = (chart.number(rows[kernel], count) for kernel in ("meeting_ring", "registers_moved"))
        saved = 100 * (1 - moved / meeting)
        columns.draw(picture, i, 0, saved, "compute", f"{saved:.0f} %", f"{count} values: {moved:.3f} ms instead of {meeting:.3f} ms")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
