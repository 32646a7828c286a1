"""Shows a hint for an exercise, one stage more each time.

Without EXERCISE the one is meant that `./workbook next` names.
"""

import argparse
import textwrap

from .. import listing, verdict
from ..learner import Learner
from ..workspace import Workspace

NAME = "hint"
HELP = "show a hint, one stage more each time"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EXERCISE")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    exercise = learner.chosen(options.exercise)
    print(f"{exercise.name}: {exercise.title}")
    print(textwrap.fill(learner.next_hint(exercise), listing.columns(), break_on_hyphens=False))
    print(verdict.help_for(exercise, learner.desk.record(exercise)))
    return 0
