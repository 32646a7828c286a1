"""Says which exercise comes next, and makes your copy of it in workspace/.

That is the first one not solved behind the one you solved last. To begin another one: ./workbook check NAME
(./workbook list shows the names).
"""

import argparse

from ..errors import UsageError
from ..learner import Learner
from ..workspace import Workspace

NAME = "next"
HELP = "say which exercise comes next"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", help=argparse.SUPPRESS)  # what many try


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    if options.exercise is not None:
        name = learner.chosen(options.exercise).name
        raise UsageError(f"`next` takes no name; ./workbook check {name} begins that exercise")
    exercise = learner.unsolved()
    if exercise is None:
        print("Every exercise is solved.")
        return 0
    learner.desk.touch(exercise)
    readme = f"chapters/{exercise.chapter.directory}/README.md"
    print(f"{exercise.name}: {exercise.title} ({exercise.kind}, about {exercise.minutes} min; chapter: {readme})")
    print(f"Edit {learner.desk.shown(exercise)}, whose head says what is wanted, and then:")
    print(f"    ./workbook check {exercise.name}")
    return 0
