"""Charts with axes, for the figures that are drawn from measurements."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import svg

MEASUREMENTS = Path(__file__).resolve().parent.parent / "measurements" / "h200.json"
Row = dict[str, str | int | float | None]


def table(name: str) -> list[Row]:
    """The rows of a table of the measurement file, as dictionaries; ends the program where there is none."""
    try:
        found = json.loads(MEASUREMENTS.read_text("utf-8"))["tables"][name]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{MEASUREMENTS.name} has no table '{name}': {error!r}")
    return [dict(zip(found["ids"], row, strict=True)) for row in found["rows"]]


def number(row: Row, name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


@dataclass(frozen=True)
class Axis:
    """A range of values, the marks on it, and where it lies on the paper."""

    low: float
    high: float
    start: float
    end: float
    marks: Sequence[tuple[float, str]]
    logarithmic: bool = False

    def place(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.logarithmic:
            low, high, at = math.log2(low), math.log2(high), math.log2(value)
        return self.start + (self.end - self.start) * (at - low) / (high - low)


def bytes_text(count: float) -> str:
    """A power of two as readers say it."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count:g} B"


def doublings(low: int, high: int, step: int = 2) -> list[tuple[float, str]]:
    """Marks at powers of two from low to high, every `step`-th with its text."""
    marks, i = [], 0
    while low << i <= high:
        marks.append((float(low << i), bytes_text(low << i) if i % step == 0 else ""))
        i += 1
    return marks


def grid(picture: svg.Figure, x: Axis, y: Axis, x_title: str, y_title: str) -> None:
    """Both axes with their marks and titles; y grows upwards."""
    for value, text in y.marks:
        at = y.place(value)
        picture.line(x.start, at, x.end, at, "thin")
        picture.text(x.start - 8, at + 4, text, "small soft", "end")
    for value, text in x.marks:
        at = x.place(value)
        picture.line(at, y.start, at, y.start + (6 if text else 3), "thin")
        picture.text(at, y.start + 20, text, "small soft", "middle")
    picture.line(x.start, y.start, x.end, y.start)
    picture.text((x.start + x.end) / 2, y.start + 40, x_title, "small", "middle")
    picture.text(x.start - 44, y.end - 14, y_title, "small")


def series(
    picture: svg.Figure, x: Axis, y: Axis, points: Sequence[tuple[float, float]], colour: str, name: str, dashed: bool = False
) -> None:
    """A line through the points, with a mark and a tip at each."""
    places = [(x.place(a), y.place(b)) for a, b in points]
    if len(places) > 1:
        picture.path("M" + " L".join(f"{round(a, 1):g} {round(b, 1):g}" for a, b in places), "dashed" if dashed else "")
    for (a, b), (left, top) in zip(points, places, strict=True):
        picture.rect(left - 4, top - 4, 8, 8, colour, f"{name}: {bytes_text(a) if a >= 1024 else f'{a:g}'}, {b:.4g}")


def legend(picture: svg.Figure, x: float, y: float, entries: Sequence[tuple[str, str]], step: float) -> None:
    """Names beside the marks of their series, in a row."""
    for i, (colour, name) in enumerate(entries):
        picture.rect(x + i * step, y - 9, 10, 10, colour)
        picture.text(x + i * step + 16, y, name, "small")


NARROW, NARROW_LEFT, NARROW_RIGHT = 350, 14, 336
"""A figure that a phone shows whole: its width, and where bars begin and where one of 100 % ends."""
LANE = 50
"""From one of its bars to the next."""


def lane(picture: svg.Figure, y: float, names: tuple[str, str], share: float, text: str, colour: str, tip: str) -> None:
    """A bar of a narrow figure, a share in percent with its text; on the line above it its name and what else there is to say."""
    name, detail = names
    picture.text(NARROW_LEFT, y + 12, name, "code")
    picture.text(NARROW_RIGHT, y + 12, detail, "small soft", "end")
    length = (NARROW_RIGHT - NARROW_LEFT) * share / 100
    picture.rect(NARROW_LEFT, y + 18, length, 22, colour, tip)
    inside = share > 45
    picture.text(NARROW_LEFT + length + (-8 if inside else 8), y + 33, text, "small strong", "end" if inside else "start")


def whole(picture: svg.Figure, top: float, bottom: float, text: str) -> None:
    """The line at 100 % of a narrow figure, and what that is; the words above the bars interrupt it."""
    picture.text(NARROW_RIGHT, top - 10, text, "small soft", "end")
    y = top
    while y < bottom:
        picture.line(NARROW_RIGHT, y + 17, NARROW_RIGHT, y + 41, "dashed")
        y += LANE


@dataclass(frozen=True)
class Columns:
    """Groups of columns side by side: how many in a group, how wide each, how far apart, in slots of the axis x."""

    x: Axis
    y: Axis
    slot: float
    many: int
    width: float
    gap: float

    def draw(self, picture: svg.Figure, group: int, place: int, value: float, colour: str, text: str, tip: str) -> None:
        """One column of a group, with a number on it."""
        left = self.x.place(group) + self.slot / 2 + (place - self.many / 2) * (self.width + self.gap)
        top = self.y.place(value)
        picture.rect(left, top, self.width, self.y.start - top, colour, tip)
        picture.text(left + self.width / 2, top - 6, text, "small", "middle")
