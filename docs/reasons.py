#!/usr/bin/env python3
"""Checks the lists of reasons: every sentence is there, every experiment exists, no sentence that gives a reason is forgotten.

TEXT is a chapter's directory or name, or a page; without it all are looked at. --missing prints the sentences that no entry
covers instead of counting them. The form of an entry is in docs/pages/contributing.md.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "common")]

from cli import chapters, reasons  # noqa: E402
from cli.workspace import Workspace  # noqa: E402


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="docs/reasons.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missing", action="store_true", help="print the sentences that no entry covers")
    parser.add_argument("texts", metavar="TEXT", nargs="*")
    options = parser.parse_args(arguments)
    names = [chapter.directory for chapter in chapters.all_chapters(Workspace.locate())]
    found = reasons.texts(ROOT, names)
    known = {name: text for text in found for name in (text.name, re.sub(r"^\d+_", "", text.name))}
    if unknown := [name for name in options.texts if name not in known]:
        parser.error(f"no chapter or page '{unknown[0]}'; there are {', '.join(text.name for text in found)}")
    problems = 0
    for text in [known[name] for name in options.texts] or found:
        broken, missing = reasons.broken(text, ROOT), reasons.uncovered(text)
        problems += len(broken) + len(missing)
        print(f"{text.name}: {len(text.reasons)} entries, {len(broken)} broken, {len(missing)} sentences without one")
        for line in broken:
            print(f"  {line}")
        if options.missing:
            for sentence in missing:
                print(f"  ? {sentence}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
