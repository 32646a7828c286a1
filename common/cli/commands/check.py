"""Checks one exercise: compiles your file in workspace/, runs it with the judge, and says what is right or wrong.

EXERCISE is a name (`./workbook list` shows them) or your file in workspace/, which is made if it is not there.
Without it the exercise is meant that `./workbook next` names.
"""

import argparse

from .. import backend, judging
from ..errors import FAILURE
from ..learner import Learner
from ..workspace import Workspace

NAME = "check"
HELP = "check an exercise"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EXERCISE")
    parser.add_argument(
        "--prepare", action="store_true", help="build what all checks need, and check nothing"
    )
    backend.add_option(parser, judging.DEFAULT_BACKEND)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    where = backend.select(options.backend, judging.DEFAULT_BACKEND)
    if options.prepare:
        judging.prepare(workspace, learner.known, where)
        print(f"Ready to check all {len(learner.known)} exercises.")
        return 0
    exercise = learner.chosen(options.exercise)
    learner.desk.touch(exercise)
    tools = judging.prepare(workspace, [exercise], where)
    outcome, text = learner.check(tools, exercise, where)
    print(text)
    return 0 if outcome.passed else FAILURE
