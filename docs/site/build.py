#!/usr/bin/env python3
"""Builds the site: `./workbook site` finds the tools and calls this."""

import argparse
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parent


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="docs/site/build.py", description=__doc__)
    for name, text in (
        ("--doxygen", "the program"),
        ("--theme", "the directory of the Doxygen Awesome theme"),
        ("--markdown", "the directory that markdown_it is in"),
        ("--output", "where to build; html/ in it is the site"),
    ):
        parser.add_argument(name, type=Path, required=True, help=text)
    parser.add_argument("--without-solutions", action="store_true", help="leave out the solutions of exercises")
    options = parser.parse_args(arguments)
    sys.path[:0] = [str(SITE), str(SITE.parent), str(SITE.parents[1] / "common"), str(options.markdown)]
    from generator.build import build
    from generator.doxygen import Paths
    from generator.pages import SiteError

    output = options.output.absolute()
    try:
        count = build(
            Paths(SITE.parents[1], options.doxygen, options.theme, output / "stage", output / "out"),
            solutions=not options.without_solutions,
        )
    except SiteError as error:
        for problem in error.problems:
            print(f"site: {problem}", file=sys.stderr)
        return 1
    print(f"{count} pages: {output / 'out/html/index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
