"""Checks your file each time you save it. Keys: h hint, n next exercise, l list, q quit.

Without EXERCISE it begins with the one that `./workbook next` names. Where there is no terminal there are no keys: it
goes on to the next exercise by itself, and ends when all are solved.
"""

import argparse
import os
import select
import sys
import termios
import textwrap
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import backend, chapters, judging
from ..backend import Backend
from ..exercises import Exercise
from ..learner import Learner
from ..workspace import Workspace
from . import list_chapters

NAME = "watch"
HELP = "check an exercise each time you save it"
_KEYS = "h hint   n next   l list   q quit"
_POLL_SECONDS = 0.2
_SETTLED_SECONDS = 0.05
_GONE_POLLS = 5
"""An editor has a file out of the way for less."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EXERCISE")
    backend.add_option(parser, judging.DEFAULT_BACKEND)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    exercise = learner.chosen(options.exercise)
    where = backend.select(options.backend, judging.DEFAULT_BACKEND)
    with _keyboard() as keys:
        _Watch(learner, exercise, where, keys).run()
    return 0


class _Watch:
    def __init__(self, learner: Learner, exercise: Exercise, where: Backend, keys: "_Keys") -> None:
        self.learner, self.where, self.keys = learner, where, keys
        self.exercise: Exercise | None = exercise

    def run(self) -> None:
        while self.exercise is not None:
            self.exercise = self._one(self.exercise)
        _say("Every exercise is solved.")

    def _one(self, exercise: Exercise) -> Exercise | None:
        """Watches one exercise and returns the one to go on with."""
        file = self.learner.desk.touch(exercise)
        tools = judging.prepare(self.learner.workspace, [exercise], self.where)
        _say(f"Watching {self.learner.desk.shown(exercise)}: edit and save it.")
        seen: object = None
        missing = 0
        while True:
            state = _state(file)
            missing = missing + 1 if state is None else 0
            if missing == _GONE_POLLS:
                _say(
                    f"{self.learner.desk.shown(exercise)} is gone: save it again, or call ./workbook reset {exercise.name} "
                    "in another terminal for the untouched exercise."
                )
            if state is not None and state != seen:
                seen = _settled(file)
                _say(f"Checking {exercise.name} ...")
                outcome, text = self.learner.check(tools, exercise, self.where, keys=self.keys.there)
                _say(text)
                if self.keys.there:
                    _say(f"\n{_KEYS}")
                elif outcome.passed:
                    return self.learner.unsolved()
            key = self.keys.pressed()
            if key == "q":
                raise SystemExit(0)
            if key == "n" and (following := self.learner.following(exercise)):
                return following
            self._answer(key, exercise)

    def _answer(self, key: str, exercise: Exercise) -> None:
        if key == "h":
            _say(textwrap.fill(self.learner.next_hint(exercise), 100, break_on_hyphens=False))
        elif key == "n":
            _say("There is no other exercise left to solve.")
        elif key == "l":
            workspace = self.learner.workspace
            known, records = chapters.all_chapters(workspace), self.learner.desk.book.read()
            _say(list_chapters.text(known, self.learner.known, records, workspace))
        elif key:
            _say(_KEYS)


def _say(text: str) -> None:
    print(text, flush=True)


def _state(file: Path) -> tuple[int, int, int] | None:
    """Changes when the file is saved; None while an editor has it out of the way."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _settled(file: Path) -> tuple[int, int, int] | None:
    """The state of the file when nobody has written to it for a moment."""
    state = _state(file)
    while True:
        time.sleep(_SETTLED_SECONDS)
        if (later := _state(file)) == state:
            return state
        state = later


class _Keys:
    """Single keys of a terminal; without one, none."""

    def __init__(self, there: bool) -> None:
        self.there = there

    def pressed(self) -> str:
        """The key that was pressed, or '' after a short wait; q when the terminal is gone."""
        if not self.there:
            time.sleep(_POLL_SECONDS)
            return ""
        ready, _, _ = select.select([sys.stdin], [], [], _POLL_SECONDS)
        if not ready:
            return ""
        try:
            typed = os.read(sys.stdin.fileno(), 1)
        except OSError:
            typed = b""
        return typed.decode(errors="replace").lower() if typed else "q"


@contextmanager
def _keyboard() -> Iterator[_Keys]:
    """A terminal that hands over each key at once, and is as before at the end."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield _Keys(there=False)
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield _Keys(there=True)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
