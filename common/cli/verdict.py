"""A verdict as the learner reads it: at most one screen, what is wrong first, what to do last."""

import shutil
import textwrap
from typing import Any

from .exercises import Exercise
from .judging import Outcome, quoted
from .records import Record
from .workspace import Workspace

_WIDEST = 110
_MOST_LINES = 22
_LEAST_PRINTED = 3
_NO_BREAKS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}

_HEADS = {
    "compile": "it does not compile yet",
    "run": "not yet",
    "result": "not yet",
    "counters": "right, but not yet as asked",
}


def render(exercise: Exercise, outcome: Outcome, advice: str, workspace: Workspace) -> str:
    """The whole verdict, without a line break at its end; `advice` says what to do now."""
    if outcome.passed:
        lines = [f"{exercise.name}: solved.", *_wrapped(exercise.learned)]
    else:
        lines = _failed(exercise, outcome, workspace)
    last = _wrapped(advice)
    lines += _printed(outcome.printed, _MOST_LINES - len(lines) - len(last) - 1)
    return "\n".join(_fitted([*lines, *last]))


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


def _failed(exercise: Exercise, outcome: Outcome, workspace: Workspace) -> list[str]:
    lines = [f"{exercise.name}: {_HEADS[outcome.stage]}."]
    for text in outcome.lines:
        # What a compiler says is laid out already.
        lines += [text] if outcome.stage == "compile" else _wrapped(text)
    if outcome.diagnostic is not None:
        lines += _diagnosis(outcome.diagnostic, workspace)
        if outcome.more_diagnostics:
            lines.append(f"(and {outcome.more_diagnostics} more; this one came first)")
    return lines


def _printed(lines: list[str], room: int) -> list[str]:
    """The last of what the program printed, as much as there is room for."""
    if not lines:
        return []
    return ["It printed:", *(f"    {text[:_WIDEST]}" for text in lines[-max(room, _LEAST_PRINTED) :])]


def _diagnosis(diagnostic: dict[str, Any], workspace: Workspace) -> list[str]:
    lines = []
    for number, text in enumerate(f"{diagnostic['name']}: {diagnostic['message']}".splitlines()):
        lines += textwrap.wrap(text.strip(), _width(), initial_indent="  " if number else "", **_NO_BREAKS)
    for location in diagnostic["locations"]:
        place, _, text = quoted(location["file"], location["line"], workspace).partition(": ")
        lines += [f"  {place}  {location['role']}", *([f"      {text}"] if text else [])]
        for caller in location.get("callers", []):
            lines.append(f"      called from {quoted(caller['file'], caller['line'], workspace).partition(': ')[0]}")
    if advice := diagnostic.get("advice"):
        lines += _wrapped(f"What to do: {advice}")
    return lines


def _width() -> int:
    return max(40, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns - 1))


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _width(), **_NO_BREAKS)


def _fitted(lines: list[str]) -> list[str]:
    """No more than a screen; what is left out is in the middle, the head and the advice stay."""
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 4], "    ...", *lines[-3:]]
