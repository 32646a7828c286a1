"""Writes the answers to all exercises, for a teacher: FILE.html or FILE.md, else Markdown to the terminal.

For each exercise: its task, what the untouched file is told, how the solution differs from it, the hints, and typical wrong
answers with the words that they get.
"""

import argparse
from pathlib import Path

from .. import answer_key, exercises
from ..errors import UsageError, UserError
from ..workspace import Workspace

NAME = "key"
HELP = "write the answers to all exercises"
_FORMATS = {".html": answer_key.as_html, ".md": answer_key.as_markdown}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="answers.html or answers.md")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    found = answer_key.entries(workspace, exercises.all_exercises(workspace))
    if options.file is None:
        print(answer_key.as_markdown(found), end="")
        return 0
    path = Path(options.file)
    if path.suffix not in _FORMATS:
        raise UsageError(f"{path}: the name must end with {' or '.join(_FORMATS)}")
    try:
        path.write_text(_FORMATS[path.suffix](found), "utf-8")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
    print(f"{path}: answers to {len(found)} exercises")
    return 0
