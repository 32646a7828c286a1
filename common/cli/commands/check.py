"""Checks one exercise: compiles your file in workspace/, runs it with the judge, and says what is right or wrong.

EXERCISE is a name (`./workbook list` shows them) or your file in workspace/, which is made if it is not there.
Without it the exercise is meant that `./workbook next` names.
"""

import argparse
from pathlib import Path

from .. import backend, build, event_pages, judging, temporary
from ..errors import FAILURE, UsageError
from ..exercises import Exercise
from ..learner import Learner
from ..setup import Tools
from ..workspace import Workspace

NAME = "check"
HELP = "check an exercise"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EXERCISE")
    parser.add_argument(
        "--prepare", action="store_true", help="build what all checks need, and check nothing"
    )
    parser.add_argument(
        "--record", metavar="FILE", help="write the kernel's launches to FILE, for ./workbook replay"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write a page to FILE that shows the kernel event by event: where it fails, if it does"
    )
    backend.add_option(parser, judging.DEFAULT_BACKEND)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    where = backend.select(options.backend, judging.DEFAULT_BACKEND)
    for option in ("record", "html"):
        if getattr(options, option) and where is not backend.Backend.EMULATOR:
            raise UsageError(f"--{option} needs the emulator: add --backend emulator")
    if options.prepare:
        judging.prepare(workspace, learner.known, where)
        print(f"Ready to check all {len(learner.known)} exercises.")
        return 0
    exercise = learner.chosen(options.exercise)
    learner.desk.touch(exercise)
    tools = judging.prepare(workspace, [exercise], where)
    outcome, text = learner.check(tools, exercise, where)
    print(text)
    if options.record and outcome.stage != "compile":
        judging.record(workspace, tools, exercise, learner.desk.file(exercise), Path(options.record))
        print(f"The launches are in {options.record}: ./workbook replay {options.record}")
    if options.html and outcome.stage != "compile":
        _show(options, workspace, tools, learner, exercise)
    elif outcome.diagnostic and where is backend.Backend.EMULATOR:
        print(f"./workbook check {exercise.name} --html page.html  shows it event by event.")
    return 0 if outcome.passed else FAILURE


def _show(
    options: argparse.Namespace, workspace: Workspace, tools: Tools, learner: Learner, exercise: Exercise
) -> None:
    """Writes the page. The recording that it is made of is kept nowhere."""
    build.build(workspace, tools, [event_pages.PROGRAM])
    with temporary.directory("record") as directory:
        recording = directory / "launches"
        judging.record(workspace, tools, exercise, learner.desk.file(exercise), recording)
        event_pages.write_failing(workspace, recording, Path(options.html))
    print(f"Open {options.html} in a browser.")
