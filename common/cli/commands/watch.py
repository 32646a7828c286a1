"""Checks your file each time you save it, on a screen that shows the last verdict and how far you are.

Keys: h hint, n next exercise, l list (choose, search, only open ones), r run again, c check all, x reset, q quit.
Without EXERCISE it begins with the one that `./workbook next` names. Where there is no terminal there are no keys: it
prints one verdict after the other, goes on to the next exercise by itself, and ends when all are solved.
"""

import argparse
import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import backend, chapters, face, judging, listing, screen, verdict
from ..backend import Backend
from ..errors import UserError
from ..exercises import Exercise
from ..face import Lines, Quit, Screen
from ..learner import Learner
from ..screen import State, View
from ..setup import Tools
from ..verdict import Paragraph
from ..workspace import Workspace
from . import list_chapters

NAME = "watch"
HELP = "check an exercise each time you save it"
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
    watch = None
    try:
        with contextlib.suppress(Quit), face.chosen() as shown:
            watch = _Watch(learner, exercise, where, shown)
            watch.run()
    finally:
        if watch is not None and watch.shown.draws:
            print("\n".join(screen.farewell(watch.state, listing.columns())), flush=True)
    return 0


class _Watch:
    """One learner at work. What is seen is in `state`; what is only heard goes to `shown.say`."""

    def __init__(self, learner: Learner, exercise: Exercise, where: Backend, shown: Lines | Screen) -> None:
        self.learner, self.where, self.shown = learner, where, shown
        self.state = State(exercise, learner.desk.shown(exercise), tuple(learner.known))
        self._tools: Tools | None = None
        self._seen: object = None
        """The file as it was when it was last checked."""
        self._missing = 0
        self._early_notes: tuple[str, ...] = ()
        """What the next verdict shall not take away."""
        self._asked: Exercise | None = None
        """What may be reset, if the answer is yes."""

    def run(self) -> None:
        self._begin(self.state.exercise)
        while self._look():
            self.shown.show(self.state)
            if key := self.shown.key():
                self._press(key)

    # ---- the file ----

    def _begin(self, exercise: Exercise) -> None:
        """Another exercise, or the first one."""
        self._tools, self._seen, self._missing = None, None, 0
        file = self.learner.desk.shown(exercise)
        self._change(exercise=exercise, file=file, view=View.VERDICT, verdict=(), passed=None, notes=(), scroll=0)
        with self._errors_shown():
            self.learner.desk.touch(exercise)
            self._prepare(exercise)
        self._early_notes = tuple(self.shown.notes())
        self.shown.say(f"Watching {file}: edit and save it.")

    def _prepare(self, *exercises: Exercise) -> Tools:
        what = exercises[0].name if len(exercises) == 1 else f"{len(exercises)} exercises"
        with self.shown.working(self.state, f"Preparing the judge of {what}", at_once=False):
            self._tools = judging.prepare(self.learner.workspace, list(exercises), self.where)
        return self._tools

    def _look(self) -> bool:
        """Checks the file if it was saved; false if there is nothing left to do."""
        state = _file_state(self._file)
        self._missing = self._missing + 1 if state is None else 0
        if self._missing == _GONE_POLLS:
            self._note(
                f"{self.state.file} is gone: save it again, or call ./workbook reset {self.state.exercise.name} "
                f"{'(key x) ' if self.shown.draws else 'in another terminal '}for the untouched exercise."
            )
        if state is None or state == self._seen:
            return True
        self._seen = _settled(self._file)
        passed = self._check()
        if passed and not self.shown.has_keys:
            following = self.learner.unsolved()
            if following is None:
                self.shown.say("Every exercise is solved.")
                return False
            self._begin(following)
        return True

    def _check(self) -> bool:
        exercise = self.state.exercise
        self._change(view=View.VERDICT, question="")
        with self._errors_shown():
            tools = self._tools or self._prepare(exercise)
            with self.shown.working(self.state, f"Checking {exercise.name}"):
                outcome, advice = self.learner.judged(tools, exercise, self.where, keys=self.shown.has_keys)
            self.shown.say(verdict.render(exercise, outcome, advice, self.learner.workspace))
            said = verdict.whole(exercise, outcome, advice, self.learner.workspace)
            notes = (*self._early_notes, *self.shown.notes())
            self._early_notes = ()
            self._change(verdict=tuple(said), passed=outcome.passed, notes=notes, scroll=0)
            if self.shown.has_keys:
                self.shown.say(f"\n{screen.KEYS}")
            return outcome.passed
        return False

    def _check_all(self) -> None:
        """Every exercise that was begun."""
        begun = [e for e in self.learner.known if self.learner.desk.file(e).exists()]
        parts: list[Paragraph] = []
        right = 0
        with self._errors_shown():
            tools = self._prepare(*begun)
            for number, exercise in enumerate(begun, 1):
                with self.shown.working(self.state, f"Checking all: {number} of {len(begun)}, {exercise.name}"):
                    outcome, _ = self.learner.judged(tools, exercise, self.where)
                right += outcome.passed
                head = f"[{'x' if outcome.passed else ' '}] {exercise.name}"
                parts.append(Paragraph(f"{head}: {'' if outcome.passed else 'not '}right", "  ", "      "))
                self._change()
        text = f"Checked what you have begun: {right} of {len(begun)} {'is' if right == 1 else 'are'} right."
        self._change(verdict=(Paragraph(text), *parts), passed=right == len(begun), notes=tuple(self.shown.notes()))
        self.shown.say("\n".join(verdict.lay_out(self.state.verdict, listing.columns())))

    @contextlib.contextmanager
    def _errors_shown(self) -> Any:
        """On a screen an error is no end: what is wrong may be mended, and the key r tries again."""
        try:
            yield
        except UserError as error:
            if not self.shown.draws:
                raise
            detail = [Paragraph(line, first="  ", is_laid_out=True) for line in error.detail]
            again = Paragraph("Press r to try again.")
            self._change(verdict=(Paragraph(f"{error}"), *detail, again), passed=False, scroll=0)

    # ---- the keys ----

    def _press(self, key: str) -> None:
        if key == "end of input" or (key.lower() == "q" and not self.state.searching):
            raise Quit
        if self.state.question:
            self._answer(key)
        elif self.state.view is View.LIST:
            self._press_in_list(key)
        elif not self._scroll(key):
            self._press_at_verdict(key.lower())

    def _press_at_verdict(self, key: str) -> None:
        exercise = self.state.exercise
        if key == "h":
            self._note(self.learner.next_hint(exercise))
        elif key == "n":
            if following := self.learner.following(exercise):
                self._begin(following)
            else:
                self._note("There is no other exercise left to solve.")
        elif key == "l":
            self._open_list()
        elif key == "r":
            self._seen = None
        elif key == "c":
            self._check_all()
        elif key == "x":
            self._ask_reset(exercise)
        elif len(key) == 1:
            self.shown.say(screen.KEYS)

    def _press_in_list(self, key: str) -> None:
        state = self.state
        if state.searching:
            self._type(key)
        elif key in ("escape", "l"):
            self._change(view=View.VERDICT)
        elif key == "enter" and (chosen := state.chosen):
            self._begin(chosen)
        elif key == "/":
            self._change(searching=True)
        elif key in ("o", "s"):
            only = "open" if key == "o" else "solved"
            self.state = state.narrowed(only="all" if state.choice.only == only else only)
        elif key == "x" and (chosen := state.chosen):
            self._ask_reset(chosen)
        elif by := _distance(key):
            self.state = state.moved(by)

    def _type(self, key: str) -> None:
        """Letters of the search."""
        search = self.state.choice.search
        if key == "enter":
            self._change(searching=False)
        elif key == "escape":
            self.state = replace(self.state.narrowed(search=""), searching=False)
        elif key == "backspace":
            self.state = self.state.narrowed(search=search[:-1])
        elif len(key) == 1:
            self.state = self.state.narrowed(search=search + key)
        elif by := _distance(key):
            self.state = self.state.moved(by)

    def _scroll(self, key: str) -> bool:
        if not isinstance(self.shown, Screen) or not (by := _distance(key)):
            return False
        most = screen.farthest(self.state, *self.shown.size())
        self._change(scroll=max(0, min(self.state.scroll + by, most)))
        return True

    def _open_list(self) -> None:
        workspace = self.learner.workspace
        if not self.shown.draws:
            known, records = chapters.all_chapters(workspace), self.learner.desk.book.read()
            self.shown.say(list_chapters.text(known, self.learner.known, records, workspace))
            return
        self._change(view=View.LIST, choice=listing.Choice(), searching=False)
        self._change(cursor=self.state.shown.index(self.state.exercise))

    def _ask_reset(self, exercise: Exercise) -> None:
        self._asked = exercise
        question = f"Begin {exercise.name} anew? Your file is kept in workspace/backups/, its success is forgotten."
        self._change(question=question)
        self.shown.say(f"{question} (y/n)")

    def _answer(self, key: str) -> None:
        exercise, self._asked = self._asked, None
        self._change(question="")
        if key.lower() != "y" or exercise is None:
            self._note(f"{exercise.name if exercise else 'It'} is as it was.")
            return
        with self._errors_shown():
            backup = self.learner.desk.reset(exercise)
            where = f"Your file is now {self.learner.workspace.relative(backup)}." if backup else ""
            note = f"{where} {self.learner.desk.shown(exercise)} is as at the beginning.".strip()
            if exercise == self.state.exercise:
                self._early_notes = (note,)
                self.shown.say(note)
            else:
                self._note(note)

    # ---- the state ----

    @property
    def _file(self) -> Path:
        return self.learner.desk.file(self.state.exercise)

    def _change(self, **change: Any) -> None:
        """A new state, with the records as they are now on the disk."""
        with contextlib.suppress(UserError):  # a damaged file is told where it is needed
            change["records"] = self.learner.desk.book.read()
        self.state = replace(self.state, **change)
        self.shown.show(self.state)

    def _note(self, text: str) -> None:
        self._change(notes=(*self.state.notes, *self.shown.notes(), text))
        self._scroll("end")
        self.shown.say("\n".join(Paragraph(text).lines(listing.columns())))


_STEPS = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -10, "page down": 10, "home": -10_000, "end": 10_000}


def _distance(key: str) -> int:
    """How far a key moves."""
    return _STEPS.get(key, 0)


def _file_state(file: Path) -> tuple[int, int, int] | None:
    """Changes when the file is saved; None while an editor has it out of the way."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _settled(file: Path) -> tuple[int, int, int] | None:
    """The state of the file when nobody has written to it for a moment."""
    state = _file_state(file)
    while True:
        time.sleep(_SETTLED_SECONDS)
        if (later := _file_state(file)) == state:
            return state
        state = later
