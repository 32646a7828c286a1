#!/usr/bin/env python3
"""Writes the chapters' exercises with their minutes as Markdown for docs/pages/teaching.md."""

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common")]

from cli import exercises  # noqa: E402
from cli.exercises import Exercise  # noqa: E402
from cli.workspace import Workspace  # noqa: E402
from weaving.tables import markdown  # noqa: E402

KINDS = {"fill": "fill in", "write": "write", "find-the-mistake": "find the mistake", "project": "project"}


def table(tasks: Sequence[Exercise]) -> list[str]:
    """A row for each exercise, the chapter's sum with its first, and the sum of all below."""
    rows: list[list[str]] = []
    last = None
    for task in tasks:
        first = task.chapter != last
        last = task.chapter
        total = sum(other.minutes for other in tasks if other.chapter == task.chapter)
        chapter = f"[{task.chapter.number} {task.chapter.name}](../../chapters/{task.chapter.directory}/README.md#exercises)"
        rows.append(
            [
                chapter if first else "",
                f"`{task.name}`",
                task.title,
                KINDS.get(task.kind, task.kind),
                str(task.minutes),
                str(total) if first else "",
            ]
        )
    rows.append(["all", f"{len(tasks)} exercises", "", "", "", str(sum(task.minutes for task in tasks))])
    columns = ["chapter", "exercise", "what it is about", "kind", "minutes", "chapter's minutes"]
    return markdown(columns, rows, [False, False, False, False, True, True])


def main() -> int:
    print("\n".join(table(exercises.all_exercises(Workspace.locate()))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
