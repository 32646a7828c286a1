"""For authors: makes the skeletons in chapters/*/exercises/ out of the solutions, or checks that they are current."""

import argparse
import sys

from .. import exercises, holes
from ..errors import FAILURE, UserError
from ..exercises import Exercise
from ..workspace import Workspace

NAME = "exercises"
HELP = "for authors: make the skeletons from the solutions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--generate", action="store_true", help="write the skeletons")
    group.add_argument("--check", action="store_true", help="write nothing; fail if a skeleton is not current")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    known = exercises.all_exercises(workspace)
    stale = [(exercise, text) for exercise in known if (text := _stale(exercise, workspace)) is not None]
    for exercise, text in stale:
        name = workspace.relative(exercise.skeleton(workspace))
        if options.generate:
            exercise.skeleton(workspace).write_text(text, "utf-8")
            print(f"wrote {name}")
        else:
            print(f"{name} is not what its solution makes of it", file=sys.stderr)
    if options.check:
        print(f"{len(known) - len(stale)} of {len(known)} skeletons are current")
    return FAILURE if options.check and stale else 0


def _stale(exercise: Exercise, workspace: Workspace) -> str | None:
    """What the skeleton should be, if it is not."""
    source = exercise.solution(workspace)
    try:
        text = holes.skeleton(source.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{source}: {error.strerror}") from None
    except holes.HoleError as error:
        raise UserError(f"{source}: {error}") from None
    file = exercise.skeleton(workspace)
    return None if file.exists() and file.read_text("utf-8") == text else text
