"""Lists the chapters and their exercises, with what is solved."""

import argparse
import json
from typing import Any

from .. import chapters, exercises
from ..chapters import Chapter
from ..desk import Desk
from ..exercises import Exercise
from ..records import Record, Records
from ..workspace import Workspace

NAME = "list"
HELP = "list the chapters and their exercises"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    known = chapters.all_chapters(workspace)
    tasks = exercises.all_exercises(workspace)
    desk = Desk(workspace)
    records = desk.book.read()
    if options.json:
        described = [
            _chapter(c, workspace) | {"exercises": [_exercise(e, desk, records) for e in tasks if e.chapter == c]}
            for c in known
        ]
        print(json.dumps({"schema": 1, "chapters": described}, indent=2))
        return 0
    print(text(known, tasks, records, workspace))
    return 0


def text(known: list[Chapter], tasks: list[Exercise], records: Records, workspace: Workspace) -> str:
    """The list as a reader sees it."""
    width = max((len(c.name) for c in known), default=0)
    longest = max((len(e.name) for e in tasks), default=0)
    lines: list[str] = []
    for chapter in known:
        lines.append(f"{chapter.number:2}  {chapter.name:{width}}  {chapter.title(workspace)}")
        for e in tasks:
            if e.chapter == chapter:
                mark = "[x]" if records.get(e.name, Record()).solved else "[ ]"
                lines.append(f"      {mark} {e.name:{longest}}  {e.title} ({e.minutes} min)")
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
