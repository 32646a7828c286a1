"""Checks a directory of solutions: NAME.cu files, or one directory of them for each learner, and says what is wrong.

A learner's whole `workspace/` will do: attempts and hints are read from its progress.toml, backups are left out, and a
file that is the skeleton still counts as not handed in. Exits with 0 if every file that was handed in is right.

Learners' files are strangers' programs. They are compiled and run confined: no network, nothing writable but a temporary
directory, nothing readable but the compiler and the file itself. Linux namespaces do that, or bubblewrap.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .. import backend, confine, exercises, gradebook, grading, judging, progress
from ..backend import Backend
from ..confine import Cage
from ..errors import FAILURE, UsageError, UserError
from ..exercises import Exercise
from ..grading import RIGHT, UNTOUCHED, WRONG, Learner, Mark, Room
from ..setup import Tools
from ..workspace import Workspace

NAME = "grade"
HELP = "check a directory of solutions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--csv", metavar="FILE", help="write a row for each learner and exercise, for a spreadsheet")
    parser.add_argument("--html", metavar="FILE", help="write a page with all of it")
    parser.add_argument("--names", metavar="FILE", help="who is expected, one name a line")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="checks at a time")
    parser.add_argument(
        "--unconfined", action="store_true", help="run the files with your own rights; for files that you trust"
    )
    backend.add_option(parser, judging.DEFAULT_BACKEND)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    if options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs}: must be at least 1")
    known = {exercise.name: exercise for exercise in exercises.all_exercises(workspace)}
    expected = grading.roster(Path(options.names)) if options.names else None
    learners = grading.collect(Path(options.directory), known, expected)
    wanted = tuple(e for e in known.values() if any(e.name in learner.files for learner in learners))
    room = Room(tuple(learners), wanted)
    where = backend.select(options.backend, judging.DEFAULT_BACKEND)
    tools = judging.prepare(workspace, list(wanted), where)
    cage = None if options.unconfined else _cage(workspace, tools, where)
    _judge(room, options.jobs, lambda e, file: _mark(workspace, tools, e, file, where, cage))
    if options.csv:
        _write(Path(options.csv), gradebook.as_csv(room))
    if options.html:
        _write(Path(options.html), gradebook.as_html(room, f"Grades of {Path(options.directory).resolve().name}"))
    if options.json:
        print(json.dumps(gradebook.report(options.directory, room), indent=2))
    else:
        print(gradebook.text(room))
    return FAILURE if any(learner.count(WRONG) for learner in learners) else 0


def _cage(workspace: Workspace, tools: Tools, where: Backend) -> Cage:
    try:
        return confine.cage(confine.basis(workspace, tools, gpu=where is Backend.GPU))
    except UserError as error:
        raise UserError(
            f"{error}, and grading runs programs of strangers: install bubblewrap, or use a machine of which you "
            "can lose everything and add --unconfined"
        ) from None


def _judge(room: Room, jobs: int, judged: Callable[[Exercise, Path], Mark]) -> None:
    """Fills in the marks, several at a time."""
    tasks = [(learner, e) for learner in room.learners for e in room.exercises if e.name in learner.files]
    line = progress.Line()
    done: list[Learner] = []

    def one(task: tuple[Learner, Exercise]) -> Mark:
        learner, exercise = task
        mark = judged(exercise, learner.files[exercise.name])
        done.append(learner)
        line.step(progress.Step(len(done), len(tasks), f"{learner.name} {exercise.name}".strip()))
        return mark

    with ThreadPoolExecutor(jobs) as pool:
        marks = list(pool.map(one, tasks))
    line.finish()
    records = {learner.name: grading.read_records(learner) for learner in room.learners}
    for (learner, exercise), mark in zip(tasks, marks, strict=True):
        learner.marks[exercise.name] = mark
        mark.record = records[learner.name].get(exercise.name, mark.record)


def _mark(
    workspace: Workspace, tools: Tools, exercise: Exercise, file: Path, where: Backend, cage: Cage | None
) -> Mark:
    if problem := grading.unusable(file):
        return Mark(WRONG, problem, "read")
    if grading.is_untouched(file, exercise, workspace):
        return Mark(UNTOUCHED)
    outcome = judging.check(workspace, tools, exercise, file.resolve(), where, cage=cage)
    finding = outcome.diagnostic["name"] if outcome.diagnostic else ""
    return Mark(RIGHT if outcome.passed else WRONG, grading.reason(outcome), outcome.stage, finding)


def _write(path: Path, text: str) -> None:
    """The whole file or none of it."""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="", dir=path.parent, delete=False) as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
