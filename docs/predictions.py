#!/usr/bin/env python3
"""Runs the predictions of chapters on the emulator, and says which answer comes out.

CHAPTER is a name or a number; without it all are run. What a question with answers to an exercise needs is compiled.
--known leaves those out.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "common")]

from cli import build, chapters, live_predictions, predicted, temporary  # noqa: E402
from cli.errors import UserError  # noqa: E402
from cli.predicted import Outcome  # noqa: E402
from cli.workspace import Workspace  # noqa: E402


def told(outcome: Outcome) -> list[str]:
    """What came out, and which choice that is."""
    asked = outcome.prediction
    lines = [f"{asked.name}:"]
    several = len(asked.runs()) > 1
    for i, choice in enumerate(asked.choices):
        value = outcome.measured[i if several else 0]
        said = choice.says or str(choice.number)
        mark = "=>" if i in outcome.right else "  "
        what = f"  [{value if asked.form != 'answers' else 'passes' if value else outcome.recorded[i].said}]" if several else ""
        lines.append(f"  {mark} {said}{what}")
    if not several:
        lines.append(f"     came out: {outcome.measured[0] or 'nothing'}" if asked.form == "finding" else f"     came out: {outcome.measured[0]}")
    if len(outcome.right) != 1:
        lines.append(f"     {len(outcome.right)} choices are right; there must be one")
    return lines


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="docs/predictions.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapters", metavar="CHAPTER", nargs="*")
    parser.add_argument("--known", action="store_true", help="run only what is built already: no answers to exercises")
    options = parser.parse_args(arguments)
    workspace = Workspace.locate()
    wrong = 0
    try:
        every = chapters.all_chapters(workspace)
        known = [chapters.resolve(name, every) for name in options.chapters] or every
        tools = build.ready(workspace)
        build.build(workspace, tools, [*live_predictions.targets(workspace, known), *build.emulator_targets(workspace)])
        forms = ["number", "finding", "runs"] + ([] if options.known else ["answers"])
        for chapter in known:
            print(f"== {chapter.name}")
            with temporary.directory("live") as directory:
                for outcome in predicted.outcomes(workspace, tools, chapter, directory, forms)[1]:
                    print("\n".join(told(outcome)))
                    wrong += len(outcome.right) != 1
    except UserError as error:
        print(f"predictions: {error}", file=sys.stderr)
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
