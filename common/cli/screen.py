"""What `watch` shows, as a function of its state: lines of text for a number of rows and columns. Asks no terminal."""

import textwrap
from dataclasses import dataclass, field, replace
from enum import Enum

from . import listing
from .exercises import Exercise
from .listing import ONLY, Choice
from .records import Records
from .verdict import Paragraph, lay_out

KEYS = "h hint   n next   l list   r run again   c check all   x reset   q quit"
LIST_KEYS = "↑↓ move   Enter choose   / search   o open   s solved   x reset   Esc back   q quit"
SEARCH_KEYS = "Enter done   Esc no search"
STOP_KEYS = "q quit"
_TALL = 14
"""Rows from which on there is room for blank lines and the progress."""


class View(Enum):
    """What stands between head and foot."""

    VERDICT = "verdict"
    LIST = "list"


class Style(Enum):
    """How a line looks; the words say the same without it."""

    PLAIN = ""
    BOLD = "1"
    DIM = "2"
    GOOD = "1;32"
    BAD = "1;31"
    CURSOR = "7"


@dataclass(frozen=True)
class Line:
    """One row."""

    text: str = ""
    style: Style = Style.PLAIN


@dataclass(frozen=True)
class State:
    """Everything that the screen depends on."""

    exercise: Exercise
    file: str
    """The learner's file as one would type it."""
    tasks: tuple[Exercise, ...]
    records: Records = field(default_factory=dict)
    view: View = View.VERDICT
    verdict: tuple[Paragraph, ...] = ()
    passed: bool | None = None
    """What the verdict says; None while there is none."""
    notes: tuple[str, ...] = ()
    """Below the verdict: hints, what happened to files."""
    busy: str = ""
    """What is being done, with how far it is."""
    question: str = ""
    """Waits for y or n."""
    scroll: int = 0
    """Lines of the verdict that are above the screen."""
    choice: Choice = Choice()
    searching: bool = False
    """Letters go to the search."""
    cursor: int = 0
    """In the list: number of the chosen one of `shown`."""

    @property
    def shown(self) -> list[Exercise]:
        """The exercises of the list."""
        return [e for e in self.tasks if self.choice.takes(e, self.records)]

    @property
    def chosen(self) -> Exercise | None:
        """The exercise under the cursor."""
        shown = self.shown
        return shown[min(self.cursor, len(shown) - 1)] if shown else None

    def moved(self, by: int) -> "State":
        """The cursor so many exercises further down."""
        return replace(self, cursor=max(0, min(self.cursor + by, len(self.shown) - 1)))

    def narrowed(self, **change: str) -> "State":
        """Another choice, the cursor still on the same exercise if it is in there."""
        before = self.chosen
        after = replace(self, choice=replace(self.choice, **change))
        shown = after.shown
        return replace(after, cursor=shown.index(before) if before in shown else 0)


def lines(state: State, rows: int, columns: int) -> list[Line]:
    """At most `rows` lines of at most `columns` characters; what does not fit can be scrolled to."""
    head, foot = _head(state, rows, columns), _foot(state, rows, columns)
    room = max(1, rows - len(head) - len(foot))
    body = _list(state, room, columns) if state.view is View.LIST else _verdict(state, room, columns)
    gap = [Line()] * (room - len(body)) if rows >= _TALL else []
    result = [*head, *body, *gap, *foot]
    return [replace(line, text=line.text[:columns]) for line in (result if rows > 1 else foot)[-rows:]]


def farthest(state: State, rows: int, columns: int) -> int:
    """The most that the verdict can be scrolled by."""
    room = max(1, rows - len(_head(state, rows, columns)) - len(_foot(state, rows, columns)))
    every = _body(state, columns)
    return max(0, len(every) - room + 1) if len(every) > room else 0


def farewell(state: State, columns: int) -> list[str]:
    """What is left in the terminal at the end: the last verdict, and how far the learner is."""
    result = lay_out(state.verdict, columns)
    return [*result, _bar(state, columns)]


def _head(state: State, rows: int, columns: int) -> list[Line]:
    exercise = state.exercise
    if state.view is View.LIST:
        words = [f"showing: {state.choice.only}" if state.choice.only != ONLY[0] else "all exercises"]
        if state.searching or state.choice.search:
            words.append(f"search: {state.choice.search}{'_' if state.searching else ''}")
        head = [Line("   ".join(words), Style.BOLD)]
    else:
        title = f"{exercise.title} ({exercise.kind}, {exercise.minutes} min)"
        head = [Line(text, Style.BOLD) for text in _wrapped(f"{exercise.name}: {title}", columns)[:2]]
        head.append(Line(f"Edit and save {state.file}"))
    return [*head, Line()] if rows >= _TALL else head[-1:] if rows < 6 else head


def _foot(state: State, rows: int, columns: int) -> list[Line]:
    if state.question:
        asked = [Line(text, Style.BOLD) for text in _wrapped(f"{state.question} (y/n)", columns)]
        return [Line(), *asked] if rows >= _TALL else asked
    keys = SEARCH_KEYS if state.searching else LIST_KEYS if state.view is View.LIST else KEYS
    last = [Line(text, Style.DIM) for text in _keys(STOP_KEYS if state.busy else keys, columns)]
    if state.busy:
        last = [Line(state.busy, Style.BOLD), *last]
    if rows < _TALL:
        return last[: max(1, rows - 2)]
    return [Line(), Line(_bar(state, columns)), *last]


def _bar(state: State, columns: int) -> str:
    solved = sum(listing.is_solved(e, state.records) for e in state.tasks)
    return listing.bar(solved, len(state.tasks), columns)


def _body(state: State, columns: int) -> list[Line]:
    """The verdict and the notes, all of them."""
    head, *rest = lay_out(state.verdict, columns) or [""]
    style = {None: Style.PLAIN, True: Style.GOOD, False: Style.BAD}[state.passed]
    result = [Line(head, style), *map(Line, rest)] if state.verdict else []
    for note in state.notes:
        result += [Line(), *map(Line, _wrapped(note, columns))] if result else [*map(Line, _wrapped(note, columns))]
    return result


def _verdict(state: State, room: int, columns: int) -> list[Line]:
    every = _body(state, columns)
    if len(every) <= room:
        return every
    at = max(0, min(state.scroll, len(every) - room + 1))
    below = len(every) - at - (room - 1)
    more = f"-- {below} more below: ↓ --" if below > 0 else "-- the end: ↑ --"
    return [*every[at : at + room - 1], Line(more, Style.DIM)]


def _list(state: State, room: int, columns: int) -> list[Line]:
    """The part of the list around the cursor, chapters included."""
    shown = state.shown
    if not shown:
        return [Line("No exercise is like that.")]
    longest = max(len(e.name) for e in shown)
    every: list[Line] = []
    at = 0
    for number, exercise in enumerate(shown):
        if number == 0 or shown[number - 1].chapter != exercise.chapter:
            every.append(Line(f"{exercise.chapter.number:2}  {exercise.chapter.name}", Style.BOLD))
        is_chosen = exercise == state.chosen
        if is_chosen:
            at = len(every)
        lead = "  > " if is_chosen else "    "
        entry = listing.entry(exercise, state.records, longest, columns, lead=lead)
        every += [Line(text, Style.CURSOR if is_chosen else Style.PLAIN) for text in entry]
    first = max(0, min(at - room // 2, len(every) - room))
    return every[first : first + room]


def _keys(text: str, columns: int) -> list[str]:
    """As many keys in a line as fit; none is parted from its word."""
    return listing.filled(text.split("   "), "", columns)


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(text, max(columns, 1), break_on_hyphens=False) or [""]
