#!/usr/bin/env python3
"""Little's law: the rate of reading against the bytes that are on their way, as measured, for kernels that read and copy."""

import sys

import chart
import svg

PEAK = 4800.0  # GB/s that the data sheet promises


def cross(picture: svg.Figure, x: float, y: float) -> None:
    """A mark that is no measurement."""
    picture.line(x - 5, y - 5, x + 5, y + 5)
    picture.line(x - 5, y + 5, x + 5, y - 5)


def marks(picture: svg.Figure, x: chart.Axis, y: chart.Axis, latency: float) -> None:
    """The law as a line, and on it what reading and copying at the peak would take."""
    low, high = (rate * latency / 132 for rate in (y.low, PEAK))
    picture.path(f"M{x.place(max(low, x.low)):.1f} {y.place(max(low, x.low) * 132 / latency):.1f} L{x.place(high):.1f} {y.place(PEAK):.1f}", "dashed")
    for rate, what, shift in ((PEAK / 2, "copying", -5), (PEAK, "reading", -5)):
        need = rate * latency / 132
        left, top = x.place(need), y.place(rate)
        picture.line(left, top, left, y.start, "thin dashed")
        cross(picture, left, top)
        picture.text(left - 12, top + shift, f"{what}: {need / 1024:.0f} KiB", "small", "end")


def ring(picture: svg.Figure, x: float, y: float, text: str, right: float, down: float, classes: str = "small") -> None:
    """Draws a ring around a point that the chapter speaks of, and its name at the end of a thin line."""
    picture.path(f"M{x - 8:.1f} {y:.1f} a8 8 0 1 0 16 0 a8 8 0 1 0 -16 0")
    picture.line(x + 8, y, x + right - 3, y + down, "thin")
    picture.text(x + right, y + down + 4, text, classes)


def named(picture: svg.Figure, x: chart.Axis, y: chart.Axis) -> None:
    """The slow copy, and the copies that the chapter compares with it; a copy's rate is that of its reading."""
    report = next(row for row in chart.table("report_sync_copy") if row["kernel"] == "one_per_thread")
    rate = chart.number(report, "gb_per_s") / 2
    left, top = x.place(8192), y.place(rate)
    picture.rect(left - 4, top - 4, 8, 8, "wrong", f"the slow copy, 2048 threads, one load of 4 bytes: reads {rate:.0f} GB/s")
    ring(picture, left, top, "the slow copy", 42, 2, "small strong")
    copies = {(row["threads_per_sm"], row["load_bytes"]): row for row in chart.table("turnover_flight")}
    for which, text, right, down in (((2048, 4), "2048 threads × 4 bytes, 512 × 16", 42, 2), ((512, 4), "512 × 4", 18, 3)):
        row = copies[which]
        ring(picture, x.place(chart.number(row, "in_flight")), y.place(chart.number(row, "copy")), text, right, down)


def figure() -> svg.Figure:
    latency = next(chart.number(row, "ns") for row in chart.table("latencies") if row["memory"] == "global memory")
    picture = svg.Figure("Rate of reading against bytes in flight per SM, on an H200", 432)
    picture.text(20, 28, "Reading global memory: rate against bytes in flight per SM", "strong")
    x = chart.Axis(128, 131072, 80, 690, chart.doublings(128, 131072), logarithmic=True)
    y = chart.Axis(40, 6000, 380, 80, [(v, f"{v:g}") for v in (50, 100, 200, 500, 1000, 2000, 5000)], logarithmic=True)
    chart.grid(picture, x, y, "bytes in flight per SM, at most (threads × loads × bytes of a load)", "GB/s read")
    marks(picture, x, y, latency)
    for row in chart.table("little"):
        if row.get("gb_per_s") is not None:
            load, rate = chart.number(row, "load_bytes"), chart.number(row, "gb_per_s")
            tip = f"{row['threads_per_sm']} threads, {row['loads']} loads of {load:g} bytes: {rate:.0f} GB/s"
            left, top = x.place(chart.number(row, "in_flight")), y.place(rate)
            picture.rect(left - 4, top - 4, 8, 8, "wait" if load == 4 else "copy", tip)
    for row in chart.table("turnover_flight"):
        rate = chart.number(row, "copy")
        left, top = x.place(chart.number(row, "in_flight")), y.place(rate)
        tip = f"copy, {row['threads_per_sm']} threads, one load of {row['load_bytes']} bytes: reads {rate:.0f} GB/s"
        picture.rect(left - 4, top - 4, 8, 8, "async", tip)
    named(picture, x, y)
    names = [("wait", "only reads, 4 bytes a load"), ("copy", "only reads, 16 bytes"), ("async", "copies (their reading)")]
    chart.legend(picture, 80, 49, names, 185)
    cross(picture, 80 + 3 * 175 + 5, 45)
    picture.text(80 + 3 * 175 + 16, 49, "Little's law", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
