"""Puts the untouched exercise in place of your copy, which is kept in workspace/backups/, and forgets that it was solved."""

import argparse

from ..learner import Learner
from ..workspace import Workspace

NAME = "reset"
HELP = "begin an exercise anew; your file is kept as a backup"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EXERCISE")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    exercise = learner.chosen(options.exercise)
    backup = learner.desk.reset(exercise)
    if backup:
        print(f"Your file is now {workspace.relative(backup)}.")
    print(f"{learner.desk.shown(exercise)} is as at the beginning.")
    return 0
