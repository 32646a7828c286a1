"""Lists the chapters."""

import argparse
import json

from .. import chapters
from ..workspace import Workspace

NAME = "list"
HELP = "list the chapters"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    known = chapters.all_chapters(workspace)
    if options.json:
        print(
            json.dumps(
                {
                    "schema": 1,
                    "chapters": [
                        {
                            "directory": c.directory,
                            "number": c.number,
                            "name": c.name,
                            "title": c.title(workspace),
                            "program": str(c.program(workspace)),
                            "mistakes": str(c.mistakes(workspace)),
                        }
                        for c in known
                    ],
                },
                indent=2,
            )
        )
        return 0
    width = max((len(c.name) for c in known), default=0)
    for chapter in known:
        print(f"{chapter.number:2}  {chapter.name:{width}}  {chapter.title(workspace)}")
    return 0
