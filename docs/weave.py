#!/usr/bin/env python3
"""Puts the output of commands into Markdown: what stands between these two lines is replaced by what COMMAND prints.

    <!-- output: COMMAND -->
    <!-- end -->

Usage: docs/weave.py [--check] FILE...   COMMANDs run in the repository's root; standard error is not shown. With --check
nothing is written, and a block that is not up to date is an error.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^<!-- output: (?P<command>.+?) -->\n(?P<body>.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)


def run(command: str) -> str:
    """What `command` prints on standard output; a command that fails ends the program."""
    done = subprocess.run(command, shell=True, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"weave: '{command}' ended with {done.returncode}")
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def weave(text: str) -> str:
    """`text` with every block's content made anew."""

    def block(match: re.Match[str]) -> str:
        command = match["command"]
        return f"<!-- output: {command} -->\n```\n$ {command}\n{run(command)}\n```\n<!-- end -->"

    marks = len(re.findall(r"^<!-- output: ", text, re.MULTILINE))
    if marks != len(BLOCK.findall(text)):
        raise SystemExit("weave: an output mark has no end mark")
    return BLOCK.sub(block, text)


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    files = [Path(name) for name in arguments if name != "--check"]
    if not files:
        print(__doc__, file=sys.stderr)
        return 2
    stale = []
    for path in files:
        text = path.read_text("utf-8")
        woven = weave(text)
        if woven != text:
            stale.append(path)
            if not check:
                path.write_text(woven, "utf-8")
    if check and stale:
        print(f"weave: not up to date: {', '.join(map(str, stale))}; run docs/weave.py on it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
