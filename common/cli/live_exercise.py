"""Judges what a reader has written for an exercise in a page that this machine serves to itself, as `./workbook check` does.

The text that a page sends lies in a directory of its own while it is judged. The learner's file in workspace/ changes only
where the reader asks for it, and then the old one is kept as a backup; the progress is that of the command alone.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import judging, live_compile, temporary, verdict
from .backend import Backend
from .errors import UserError
from .exercises import Exercise
from .judging import Outcome
from .learner import Learner
from .setup import Tools


def opened(learner: Learner, request: Any) -> dict[str, Any]:
    """`request`: {"exercise"}. The text that everybody begins with, the learner's file, and what is in it: null if there is none."""
    exercise = _asked(learner, request)
    mine = learner.desk.file(exercise)
    return {
        "text": exercise.skeleton(learner.workspace).read_text("utf-8"),
        "file": learner.desk.shown(exercise),
        "mine": mine.read_text("utf-8", errors="replace") if mine.is_file() else None,
    }


def saved(learner: Learner, request: Any) -> dict[str, Any]:
    """`request`: {"exercise", "source"}. Makes `source` the learner's file: {"file", "backup"}, where the old one went."""
    exercise, source = _asked(learner, request), _source(request)
    backup = learner.desk.save(exercise, (source if source.endswith("\n") else f"{source}\n").encode())
    return {"file": learner.desk.shown(exercise), "backup": learner.workspace.relative(backup) if backup else None}


def checked(learner: Learner, prepare: Callable[[Exercise], Tools], request: Any) -> dict[str, Any]:
    """`request`: {"exercise", "source"}. What `./workbook check` would say of it.

    Returns {"passed", "finding", "said", "marks"}: the name of what the emulator found, the verdict's paragraphs, each {"text",
    "indent", "code"}, and the lines of `source` that it speaks of, each {"line", "text"}. `prepare` builds what is needed.
    """
    exercise, source = _asked(learner, request), _source(request)
    tools = prepare(exercise)
    with temporary.directory("live") as directory:
        file = directory / f"{exercise.name}.cu"
        file.write_text(source, "utf-8")
        outcome = judging.check(learner.workspace, tools, exercise, file, Backend.EMULATOR)
        advice = _advice(learner, exercise, outcome)
        paragraphs = verdict.whole(exercise, outcome, advice, learner.workspace)
    name = _Named(learner, exercise, file)
    return {
        "passed": outcome.passed,
        "finding": outcome.diagnostic["name"] if outcome.diagnostic else None,
        "said": [{"text": name(each.text), "indent": len(each.first), "code": each.is_laid_out} for each in paragraphs],
        "marks": _marks(outcome, name),
    }


def _asked(learner: Learner, request: Any) -> Exercise:
    name = request.get("exercise") if isinstance(request, dict) else None
    found = next((each for each in learner.known if each.name == name), None)
    if found is None:
        raise UserError("expected the name of an exercise")
    return found


def _source(request: dict[str, Any]) -> str:
    source = request.get("source")
    if not isinstance(source, str):
        raise UserError("expected the text of the exercise")
    return source


def _advice(learner: Learner, exercise: Exercise, outcome: Outcome) -> str:
    if outcome.passed:
        return verdict.next_step(learner.following(exercise))
    return verdict.help_for(exercise, learner.desk.record(exercise))


class _Named:
    """The learner's file by its own name, wherever its text lay while it was judged."""

    def __init__(self, learner: Learner, exercise: Exercise, file: Path) -> None:
        self.file = learner.desk.shown(exercise)
        root = learner.workspace.root
        self._names = [os.path.relpath(file, root), os.path.relpath(file.resolve(), root), str(file), str(file.resolve())]

    def __call__(self, text: str) -> str:
        for name in self._names:
            text = text.replace(name, self.file)
        return text


def _marks(outcome: Outcome, name: _Named) -> list[dict[str, Any]]:
    """The lines of the learner's file that the compiler or the emulator names."""
    if outcome.stage == "compile":
        errors = live_compile.messages(name("\n".join(outcome.lines)))
        return [{"line": each["line"], "text": each["text"]} for each in errors if each["file"] == name.file]
    found = []
    for place in outcome.diagnostic["locations"] if outcome.diagnostic else []:
        callers = [(each, "called here") for each in place.get("callers", [])]
        for at, words in ((place, place["role"]), *callers):
            mark = {"line": at["line"], "text": words}
            if os.path.normpath(name(at["file"])) == name.file and mark not in found:
                found.append(mark)
    return found
