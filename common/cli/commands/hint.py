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


def wrapped(text: str, columns: int) -> str:
    """No word is broken: a call that is longer than a line could not be copied."""
    return textwrap.fill(text, columns, break_long_words=False, break_on_hyphens=False)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    exercise = learner.chosen(options.exercise)
    print(f"{exercise.name}: {exercise.title}")
    print(wrapped(learner.next_hint(exercise), listing.columns()))
    print(verdict.help_for(exercise, learner.desk.record(exercise)))
    return 0
