#!/usr/bin/env python3
"""Keeps what Markdown files show of programs equal to the programs. See weaving/marks.py for the marks.

Without FILE: README.md, chapters/*/README.md, docs/pages/*.md, docs/measurements/*.md and common/emulator/README.md. Programs are taken from --build,
$WORKBOOK_BUILD or build/, and run on the emulator; nothing is built. With --check nothing is written, and a block that is
not up to date is an error; so is a region `// [tag]` in a chapter that no file shows, if no FILE is given.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common")]

from weaving import weaver  # noqa: E402


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="docs/weave.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a block is stale")
    parser.add_argument("--capture", action="store_true", help="run the commands of `captured` marks too")
    parser.add_argument("--build", metavar="DIR", type=Path, help="the build directory")
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    build = options.build or Path(os.environ.get("WORKBOOK_BUILD") or ROOT / "build")
    return weaver.run(ROOT, build.absolute(), options.files, check=options.check, capture=options.capture)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
