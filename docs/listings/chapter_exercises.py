#!/usr/bin/env python3
"""Writes a chapter's exercises with what one does in each, as Markdown for the chapter's README.

usage: chapter_exercises.py CHAPTER
"""

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common")]

from cli import chapters, exercises  # noqa: E402
from cli.errors import UserError  # noqa: E402
from cli.exercises import Exercise  # noqa: E402
from cli.workspace import Workspace  # noqa: E402
from weaving.tables import markdown  # noqa: E402


def table(tasks: Sequence[Exercise]) -> list[str]:
    """A row for each exercise, in the learner's order."""
    return markdown(["exercise", "what you do"], [[f"`{task.name}`", task.task] for task in tasks], [False, False])


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        workspace = Workspace.locate()
        chapter = chapters.resolve(arguments[0], chapters.all_chapters(workspace))
        print("\n".join(table([task for task in exercises.all_exercises(workspace) if task.chapter == chapter])))
    except UserError as error:
        print(f"chapter_exercises: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
