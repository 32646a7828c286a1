"""Runs recorded launches again on the emulator, without the program that launched them.

FILE comes from `--record` of `emulate`, `run` or `check`. What is not chosen here is as it was when the launch was
recorded.
"""

import argparse
import os
from pathlib import Path

from .. import build, event_pages
from ..errors import UsageError
from ..process import foreground
from ..workspace import Workspace
from . import emulate

NAME = "replay"
HELP = "run recorded launches again"
PROGRAM = event_pages.PROGRAM


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a recording")
    parser.add_argument("--list", action="store_true", help="list the launches, and run none")
    parser.add_argument("--launch", type=int, metavar="N", help="that launch only, as --list counts them")
    emulate.add_machine_options(parser)
    parser.add_argument(
        "--counters",
        metavar="[=FILE]",
        help="print what each launch counts, or write it to FILE as JSON (--counters=FILE)",
    )
    parser.add_argument("--trace", metavar="FILE", help="write a time line of the launch to FILE")
    parser.add_argument(
        "--html", metavar="FILE", help="write a page to FILE that shows the launch event by event"
    )
    parser.add_argument(
        "--report", metavar="FILE", help="write each mistake found to FILE, one JSON object a line"
    )


def prepare(argv: list[str]) -> list[str]:
    """A bare --counters takes no value, so that it cannot swallow FILE."""
    return ["--counters=-" if word == "--counters" else word for word in argv]


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    words = arguments(options)
    tools = build.ready(workspace, build.Extent.EMULATOR)
    build.build(workspace, tools, [PROGRAM])
    if options.html is not None:
        status, written = event_pages.write(workspace, words, Path(options.html))
        if written:
            print(f"Open {options.html} in a browser.")
        return status
    return foreground([workspace.build / PROGRAM, *words], os.environ)


def arguments(options: argparse.Namespace) -> list[str]:
    """The same for the program that does it."""
    if options.launch is not None and options.launch < 1:
        raise UsageError(f"--launch {options.launch}: must be at least 1")
    emulate.check_machine_options(options)
    if options.html is not None and options.list:
        raise UsageError("--html shows a launch, --list shows none")
    chosen = {
        "launch": options.launch,
        "order": options.order,
        "seed": options.seed,
        "checks": options.checks,
        "threads": options.threads,
        "counters": options.counters,
        "trace": options.trace,
        "report": options.report,
    }
    words = [options.file] if not options.file.startswith("-") else [f"./{options.file}"]
    words += ["--list"] if options.list else []
    return words + [f"--{name}={value}" for name, value in chosen.items() if value is not None]
