"""Says which exercise comes next, and makes your copy of it in workspace/."""

import argparse

from ..learner import Learner
from ..workspace import Workspace

NAME = "next"
HELP = "say which exercise comes next"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
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
