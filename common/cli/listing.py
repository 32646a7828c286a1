"""The exercises as a list that fits the width it is given: which of them, in which order, in which words. Asks no terminal."""

import shutil
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from .chapters import Chapter
from .exercises import Exercise
from .records import Record, Records

ONLY = ("all", "open", "solved")
NARROW = 40
"""Columns that everything fits; where there are fewer, lines are cut by the terminal."""
_WIDEST = 110
_LEAST_TITLE = 26
"""Columns that a title needs beside its name; with fewer it stands below."""


@dataclass(frozen=True)
class Choice:
    """Which exercises are shown: `search` is words that must all be there, `only` one of ONLY."""

    search: str = ""
    only: str = "all"
    chapter: Chapter | None = None

    def takes(self, exercise: Exercise, records: Records) -> bool:
        if self.chapter not in (None, exercise.chapter):
            return False
        if self.only != "all" and (self.only == "solved") != is_solved(exercise, records):
            return False
        text = f"{exercise.name} {exercise.title} {exercise.kind} {exercise.chapter.name}".lower()
        return all(word in text for word in self.search.lower().split())

    @property
    def is_everything(self) -> bool:
        return self == Choice()


def is_solved(exercise: Exercise, records: Records) -> bool:
    return bool(records.get(exercise.name, Record()).solved)


def columns() -> int:
    """The width to write for: the terminal's, $COLUMNS, or 80."""
    return max(NARROW, min(shutil.get_terminal_size((80, 24)).columns, _WIDEST))


def mark(exercise: Exercise, records: Records) -> str:
    return "[x]" if is_solved(exercise, records) else "[ ]"


def heading(chapter: Chapter, title: str, names: int, width: int) -> list[str]:
    """`names` is the length of the longest name of a chapter."""
    lead = f"{chapter.number:2}  {chapter.name:{names}}  "
    return _beside_or_below(lead, f"{chapter.number:2}  {chapter.name}", " " * 5, title, width)


def entry(exercise: Exercise, records: Records, names: int, width: int, *, lead: str = "      ") -> list[str]:
    """`names` is the length of the longest name of an exercise; `lead` stands before the mark."""
    short = f"{lead if width >= 2 * NARROW else lead[-2:]}{mark(exercise, records)} {exercise.name}"
    long = f"{lead}{mark(exercise, records)} {exercise.name:{names}}  "
    return _beside_or_below(long, short, " " * 6, f"{exercise.title} ({exercise.minutes}\xa0min)", width)


def whole(
    known: Iterable[Chapter],
    titles: dict[Chapter, str],
    tasks: Iterable[Exercise],
    records: Records,
    choice: Choice,
    width: int,
) -> list[str]:
    """Chapters with their exercises; with a choice only what it takes."""
    chapters = list(known)
    chosen = [e for e in tasks if choice.takes(e, records)]
    if not chosen and not choice.is_everything:
        return ["No exercise is like that."]
    longest = max((len(e.name) for e in chosen), default=0)
    names = max((len(c.name) for c in chapters), default=0)
    lines: list[str] = []
    for chapter in chapters:
        mine = [e for e in chosen if e.chapter == chapter]
        if mine or choice.is_everything:
            lines += heading(chapter, titles[chapter], names, width)
        for exercise in mine:
            lines += entry(exercise, records, longest, width)
    return lines


def marks(chapter: Chapter, tasks: Iterable[Exercise], records: Records, names: int, width: int) -> list[str]:
    """One chapter of the progress: its exercises side by side, as many as fit."""
    lead = f"{chapter.number:2}  {chapter.name:{names}}  "
    items = [f"{mark(e, records)} {e.name}" for e in tasks]
    if width < 2 * NARROW:
        return [f"{chapter.number:2}  {chapter.name}", *filled(items, "    ", width)]
    first, *rest = filled(items, " " * len(lead), width)
    return [lead + first.strip(), *rest]


def bar(done: int, total: int, width: int) -> str:
    """`[#####.....] 5 of 10 solved`, in `width` columns at most."""
    text = f" {done} of {total} solved"
    room = max(4, min(width - len(text) - 2, 48))
    full = room * done // max(total, 1)
    return f"[{'#' * full}{'.' * (room - full)}]{text}"


def _beside_or_below(lead: str, short: str, indent: str, text: str, width: int) -> list[str]:
    """`text` behind `lead`, or where that leaves too little room for it indented below `short`."""
    if width - len(lead) >= _LEAST_TITLE:
        return _wrapped(text, width, lead, " " * len(lead))
    return [short, *_wrapped(text, width, indent, indent)]


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """What stands on both sides of a no-break space stays together."""
    lines = textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def filled(items: list[str], indent: str, width: int) -> list[str]:
    """The items two blanks apart; none of them is broken."""
    lines = [indent]
    for item in items:
        if lines[-1].strip() and len(lines[-1]) + 2 + len(item) > width:
            lines.append(indent)
        lines[-1] += ("  " if lines[-1].strip() else "") + item
    return lines
