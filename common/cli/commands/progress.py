"""Shows what is solved and what comes next."""

import argparse
import json

from .. import listing
from ..learner import Learner
from ..records import Record
from ..workspace import Workspace

NAME = "progress"
HELP = "show what is solved"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    learner = Learner(workspace)
    records = learner.desk.book.read()
    solved = [e for e in learner.known if records.get(e.name, Record()).solved]
    following = learner.unsolved()
    if options.json:
        report = {
            "schema": 1,
            "solved": len(solved),
            "exercises": {e.name: vars(records.get(e.name, Record())) for e in learner.known},
            "next": following.name if following else None,
        }
        print(json.dumps(report, indent=2))
        return 0
    print(f"{len(solved)} of {len(learner.known)} exercises are solved.")
    names = max(len(e.chapter.name) for e in learner.known)
    for chapter in dict.fromkeys(e.chapter for e in learner.known):
        mine = [e for e in learner.known if e.chapter == chapter]
        print("\n".join(listing.marks(chapter, mine, records, names, listing.columns())))
    if following:
        print(f"Next: {following.name} (./workbook next)")
    return 0
