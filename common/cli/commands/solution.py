"""Shows the solution of an exercise: at once when you solved it, else when you ask twice."""

import argparse

from .. import holes
from ..errors import FAILURE, UserError
from ..learner import Learner
from ..records import Record
from ..workspace import Workspace

NAME = "solution"
HELP = "show the solution of an exercise"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EXERCISE")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    exercise = learner.chosen(options.exercise)
    record = learner.desk.record(exercise)
    if not record.solved and not record.solution_asked:
        learner.desk.note(exercise, _asked)
        left = len(exercise.hints) - record.hints
        print(f"{exercise.name} is not solved yet" + (f", and there are hints left ({left})." if left else "."))
        print("Ask again to see the solution all the same.")
        return FAILURE
    try:
        print(holes.solution(exercise.solution(workspace).read_text("utf-8")), end="")
    except (OSError, holes.HoleError) as error:
        raise UserError(f"{exercise.solution(workspace)}: {error}") from None
    return 0


def _asked(record: Record) -> None:
    record.solution_asked = True
