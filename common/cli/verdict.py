"""A verdict as the learner reads it: at most one screen, what is wrong first, what to do last."""

import shutil
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .exercises import Exercise
from .judging import Outcome, quoted
from .records import Record
from .workspace import Workspace

_WIDEST = 110
_NARROWEST = 40
_WIDE_ENOUGH = 80
_MOST_LINES = 22
_LEAST_PRINTED = 3
_ADVICE = "What to do:"


@dataclass(frozen=True)
class Paragraph:
    """A part of a verdict before anybody knows how wide it will be shown."""

    text: str
    first: str = ""
    """What stands before the first line."""
    rest: str = ""
    """And before the others."""
    is_laid_out: bool = False
    """What a compiler or a program printed: its lines are as they are."""

    def lines(self, width: int) -> list[str]:
        if self.is_laid_out:
            return [self.first + self.text]
        return textwrap.wrap(
            self.text,
            width,
            initial_indent=self.first,
            subsequent_indent=self.rest,
            break_long_words=False,
            break_on_hyphens=False,
        )


def lay_out(paragraphs: Iterable[Paragraph], width: int) -> list[str]:
    """The lines of a verdict that is shown in so many columns. What cannot be broken may be longer."""
    return [line for paragraph in paragraphs for line in paragraph.lines(width)]


_HEADS = {
    "compile": "it does not compile yet",
    "run": "not yet",
    "result": "not yet",
    "counters": "right, but not yet as asked",
}


def render(exercise: Exercise, outcome: Outcome, advice: str, workspace: Workspace) -> str:
    """The whole verdict, without a line break at its end; `advice` says what to do now."""
    width = _width()
    lines = lay_out(said(exercise, outcome, workspace), width)
    last = lay_out([Paragraph(advice)], width)
    most = _MOST_LINES if width >= _WIDE_ENOUGH else _MOST_LINES * _WIDE_ENOUGH // width
    lines += _printed(outcome.printed, most - len(lines) - len(last) - 1)
    return "\n".join(_fitted([*lines, *last], most))


def whole(exercise: Exercise, outcome: Outcome, advice: str, workspace: Workspace) -> list[Paragraph]:
    """The verdict for a screen that can be scrolled: nothing is left out, and it can be laid out anew."""
    printed = [Paragraph(text) for text in _printed(outcome.printed, len(outcome.printed))]
    return [*said(exercise, outcome, workspace), *printed, Paragraph(advice)]


def said(exercise: Exercise, outcome: Outcome, workspace: Workspace) -> list[Paragraph]:
    """What came of the check. Quotes lines of the files as they are now."""
    if outcome.passed:
        return [Paragraph(f"{exercise.name}: solved."), Paragraph(exercise.learned)]
    parts = [Paragraph(f"{exercise.name}: {_HEADS[outcome.stage]}.")]
    parts += [Paragraph(text, is_laid_out=outcome.stage == "compile") for text in outcome.lines]
    if outcome.diagnostic is not None:
        parts += _diagnosis(exercise, outcome.diagnostic, workspace)
        if outcome.more_diagnostics:
            parts.append(Paragraph(f"(and {outcome.more_diagnostics} more; this one came first)"))
    return parts


def next_step(following: Exercise | None, *, keys: bool = False) -> str:
    """What to do after a success."""
    if following is None:
        return "That was the last one: every exercise is solved."
    how = "press n" if keys else f"./workbook check {following.name}"
    return f"Next: {following.name} ({following.title}; about {following.minutes} min): {how}"


def help_for(exercise: Exercise, record: Record, *, keys: bool = False) -> str:
    """Where help is to be had."""
    left = len(exercise.hints) - record.hints
    if left <= 0:
        return f"./workbook solution {exercise.name}  shows the solution."
    which = "a hint" if record.hints == 0 else "one more hint" if left > 1 else "the last hint"
    return f"Press h for {which}." if keys else f"./workbook hint {exercise.name}  gives {which}."


def _printed(lines: list[str], room: int) -> list[str]:
    """The last of what the program printed, as much as there is room for."""
    if not lines:
        return []
    return ["It printed:", *(f"    {text[:_WIDEST]}" for text in lines[-max(room, _LEAST_PRINTED) :])]


def _diagnosis(exercise: Exercise, diagnostic: dict[str, Any], workspace: Workspace) -> list[Paragraph]:
    message = f"{diagnostic['name']}: {diagnostic['message']}".splitlines()
    parts = [Paragraph(text.strip(), first="  " if number else "") for number, text in enumerate(message)]
    for location in diagnostic["locations"]:
        parts += _location(location, workspace)
    if advice := _advice(exercise, diagnostic["name"], diagnostic.get("advice") or ""):
        parts.append(Paragraph(f"{_ADVICE} {advice}"))
    return parts


def _location(location: dict[str, Any], workspace: Workspace) -> list[Paragraph]:
    """One's own line, then what it calls in headers, then who called it."""
    chain = [(each["file"], each["line"]) for each in (location, *location.get("callers", []))]
    own = location.get("own", 0)
    place, _, text = quoted(*chain[own], workspace).partition(": ")
    parts = [Paragraph(f"{place}  {location['role']}", "  ", "    ")]
    if text:
        parts.append(Paragraph(text, first="      ", is_laid_out=True))
    parts += [Paragraph(f"in {quoted(*at, workspace)}", "      ", "      ") for at in reversed(chain[:own])]
    for at in chain[own + 1 :]:
        parts.append(Paragraph(f"called from {quoted(*at, workspace).partition(': ')[0]}", "      ", "      "))
    return parts


def _advice(exercise: Exercise, finding: str, emulators: str) -> str:
    """The exercise's own advice if it has one: what is right for any kernel may be what this exercise forbids."""
    for own in exercise.advice:
        if own.finding == finding and own.instead_of in emulators:
            return own.says
    return emulators


def _width() -> int:
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns - 1))


def _fitted(lines: list[str], most: int) -> list[str]:
    """No more than a screen; what is left out is in the middle, the head and the advice stay, the advice up to half of the screen."""
    if len(lines) <= most:
        return lines
    advice = next((at for at, line in enumerate(lines) if line.startswith(_ADVICE)), len(lines))
    kept = min(max(len(lines) - advice, 3), most // 2)
    return [*lines[: most - kept - 1], "    ...", *lines[-kept:]]
