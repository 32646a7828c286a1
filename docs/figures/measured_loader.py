#!/usr/bin/env python3
"""What a warp that only loads gains with one block on each SM: the rise of the rate by the values in each thread's registers.

Up to 160 values the ring with roles is enough; with more, the registers must be shared out again.
"""

import sys

import chart
import svg

PAPER = 366  # so narrow that a phone shows all of it


FITS = 160  # values, in the registers that nine warps get
SECOND, THIRD = ("copy", "a ninth warp loads"), ("compute", "the third version, below")


def gains() -> dict[str, tuple[float, str]]:
    """The rise of the rate in per cent, and the colour of the version: from the rates where they were measured, else from the times."""
    rates = {row["kernel"]: row for row in chart.table("roles_by_work") if row["blocks"] == "1"}
    times = {row["kernel"]: row for row in chart.table("roles_by_registers")}
    by_rate = {name: chart.number(rates["roles_ring"], name) / chart.number(rates["meeting_ring"], name) for name in rates["roles_ring"] if str(name).isdigit()}
    found = {name: (100 * (ratio - 1), SECOND[0]) for name, ratio in by_rate.items()}
    for name in times["meeting_ring"]:
        if not str(name).isdigit() or name in found:
            continue
        kernel, colour = ("roles_ring", SECOND[0]) if int(name) <= FITS else ("registers_moved", THIRD[0])
        found[name] = (100 * (chart.number(times["meeting_ring"], name) / chart.number(times[kernel], name) - 1), colour)
    return found


def figure() -> svg.Figure:
    found = gains()
    counts = sorted(found, key=int)
    picture = svg.Figure("How much faster a kernel with a warp that only loads is than the one without roles, in per cent of the rate", 312, PAPER)
    picture.text(14, 26, "Gained by roles", "strong")
    picture.text(14, 46, "rise of the rate, in per cent, on an H200", "small soft")
    chart.legend(picture, 14, 68, [SECOND, THIRD], 150)
    slot = 26
    y = chart.Axis(0, 13, 252, 104, [(v, f"{v}") for v in (0, 5, 10)])
    x = chart.Axis(0, len(counts), 46, 46 + slot * len(counts), [(i + 0.5, f"{count}") for i, count in enumerate(counts)])
    chart.grid(picture, x, y, "values that each thread keeps", "")
    picture.text(38, 90, "%", "small", "end")
    columns = chart.Columns(x, y, slot, 1, 18, 0)
    for i, count in enumerate(counts):
        gain, colour = found[count]
        columns.draw(picture, i, 0, gain, colour, f"{gain:.0f}" if gain >= 0.9 else f"{gain:.1f}", f"{count} values: {gain:.1f} % faster")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
