#!/usr/bin/env python3
"""The rungs of chapter 8 as bars: share of the copy ceiling, from the measurements of this repository."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import svg

MEASUREMENTS = Path(__file__).resolve().parent.parent / "measurements" / "h200_behaviour.md"
FIRST, LAST = "global_only", "column_walk_bf16"

BAR_LEFT, BAR_WIDTH, BAR_HEIGHT, STEP = 170, 420, 22, 34
TOP = 70


@dataclass(frozen=True)
class Rung:
    """One bar: bandwidth in GB/s, and the share of the same run's device-to-device copy in per cent."""

    name: str
    bandwidth: float
    share: float


def rungs() -> list[Rung]:
    """The rows of the measured table from the first rung to the last, in their order."""
    row = re.compile(r"^\|[^|]*`(\w+)` \| [\d.]+ [kMG]B \| ([\d.]+) \| ([\d.]+) % \|$", re.MULTILINE)
    found = [Rung(name, float(speed), float(share)) for name, speed, share in row.findall(MEASUREMENTS.read_text("utf-8"))]
    names = [rung.name for rung in found]
    if FIRST not in names or LAST not in names:
        raise SystemExit(f"{MEASUREMENTS.name} has no rows from {FIRST} to {LAST}")
    return found[names.index(FIRST) : names.index(LAST) + 1]


def figure() -> svg.Figure:
    bars = rungs()
    bottom = TOP + STEP * len(bars)
    picture = svg.Figure("Bandwidth of each rung of the transposition as a share of a plain copy, on an H200", bottom + 50)
    picture.text(20, 28, "Share of the device-to-device copy of the same bytes; 32768 × 32768, one H200", "strong")
    for percent in (0, 25, 50, 75, 100):
        x = BAR_LEFT + BAR_WIDTH * percent / 100
        picture.line(x, TOP - 10, x, bottom, "thin" if percent < 100 else "dashed")
        picture.text(x, TOP - 16, f"{percent} %", "small soft", "middle")
    for i, rung in enumerate(bars):
        y = TOP + STEP * i
        kind = "async" if rung.name.startswith("tma") else "copy"
        length = BAR_WIDTH * rung.share / 100
        picture.text(BAR_LEFT - 8, y + 16, rung.name, "code", "end")
        picture.rect(BAR_LEFT, y, length, BAR_HEIGHT, kind, f"{rung.name}: {rung.bandwidth:g} GB/s, {rung.share:g} %")
        inside = rung.share > 40
        x = BAR_LEFT + length + (-8 if inside else 8)
        picture.text(x, y + 16, f"{rung.bandwidth:g} GB/s", "small", "end" if inside else "start")
        picture.text(BAR_LEFT + BAR_WIDTH + 16, y + 16, f"{rung.share:.1f} %", "strong")
    picture.rect(BAR_LEFT, bottom + 14, 14, 14, "copy")
    picture.text(BAR_LEFT + 22, bottom + 26, "loads and stores by threads", "small")
    picture.rect(BAR_LEFT + 220, bottom + 14, 14, 14, "async")
    picture.text(BAR_LEFT + 242, bottom + 26, "tensor copies on both sides", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
