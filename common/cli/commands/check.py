"""Checks one exercise: compiles your file in workspace/, runs it with the judge, and says what is right or wrong.

EXERCISE is a name (`./workbook list` shows them) or your file; without it the first exercise that is not solved is meant.
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
    backend.add_option(parser)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    exercise = learner.chosen(options.exercise)
    where = backend.select(options.backend)
    learner.desk.touch(exercise)
    tools = judging.prepare(workspace, [exercise], where)
    outcome, text = learner.check(tools, exercise, where)
    print(text)
    return 0 if outcome.passed else FAILURE
