"""Lists the chapters and their exercises, with what is solved.

Options choose among the exercises: `list --open`, `list --chapter 5`, `list --search barrier`.
"""

import argparse
import json
from typing import Any

from .. import chapters, exercises, listing
from ..chapters import Chapter
from ..desk import Desk
from ..exercises import Exercise
from ..listing import Choice
from ..records import Record, Records
from ..workspace import Workspace

NAME = "list"
HELP = "list the chapters and their exercises"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--search", default="", metavar="WORDS", help="only exercises with these words in name, title or chapter"
    )
    parser.add_argument("--chapter", metavar="CHAPTER", help="only those of one chapter, by name or number")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--open", action="store_true", help="only those that are not solved")
    group.add_argument("--solved", action="store_true", help="only those that are")
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    known = chapters.all_chapters(workspace)
    tasks = exercises.all_exercises(workspace)
    desk = Desk(workspace)
    records = desk.book.read()
    chapter = chapters.resolve(options.chapter, known) if options.chapter is not None else None
    only = "open" if options.open else "solved" if options.solved else "all"
    choice = Choice(options.search, only, chapter)
    if options.json:
        chosen = [e for e in tasks if choice.takes(e, records)]
        described = [
            _chapter(c, workspace) | {"exercises": [_exercise(e, desk, records) for e in chosen if e.chapter == c]}
            for c in known
            if choice.is_everything or any(e.chapter == c for e in chosen)
        ]
        print(json.dumps({"schema": 1, "chapters": described}, indent=2))
        return 0
    print(text(known, tasks, records, workspace, choice))
    return 0


def text(
    known: list[Chapter], tasks: list[Exercise], records: Records, workspace: Workspace, choice: Choice | None = None
) -> str:
    """The list as a reader sees it, as wide as the terminal."""
    titles = {chapter: chapter.title(workspace) for chapter in known}
    lines = listing.whole(known, titles, tasks, records, choice or Choice(), listing.columns())
    return "\n".join(lines)


def _chapter(chapter: Chapter, workspace: Workspace) -> dict[str, Any]:
    return {
        "directory": chapter.directory,
        "number": chapter.number,
        "name": chapter.name,
        "title": chapter.title(workspace),
        "program": str(chapter.program(workspace)),
        "mistakes": str(chapter.mistakes(workspace)),
    }


def _exercise(exercise: Exercise, desk: Desk, records: Records) -> dict[str, Any]:
    record = records.get(exercise.name, Record())
    return {
        "name": exercise.name,
        "title": exercise.title,
        "kind": exercise.kind,
        "minutes": exercise.minutes,
        "file": str(desk.file(exercise)),
        "solved": bool(record.solved),
        "hints_shown": record.hints,
    }
