"""Runs a chapter's program: every kernel on random data, each result checked against a CPU reference.

CHAPTER is a number or a name (1, 01, sync_copy, 01_sync_copy), or `all`; without it the first chapter runs.
What follows `--` goes to the program as it is (`./workbook run 1 -- --help` shows its options).
"""

import argparse
import sys

from .. import backend, build, chapters
from ..chapters import Chapter
from ..errors import FAILURE, UsageError, UserError
from ..process import foreground
from ..workspace import Workspace
from . import emulate

NAME = "run"
HELP = "run a chapter's program, or all of them"
PASSES_ARGUMENTS = True
_PASSED_ON = ("size", "seed", "kernel", "json")
_REPEATED = ("kernel",)  # programs run all kernels that are named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chapter", nargs="?", help="number or name of a chapter, or all")
    backend.add_option(parser)
    for name in _PASSED_ON:
        action = "append" if name in _REPEATED else "store"
        parser.add_argument(f"--{name}", metavar=name.upper(), action=action, help=f"the program's --{name}")
    emulate.add_record_options(parser)
    parser.add_argument(
        "--mistakes", action="store_true", help="run the chapter's program of mistakes instead"
    )


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    known = chapters.all_chapters(workspace)
    if not known:
        raise UserError("this tree has no chapters")
    chosen = _chosen(options.chapter, known)
    where = backend.select(options.backend)
    recording = _recording(options, chosen, where)
    tools = build.ready(workspace, emulator=where is backend.Backend.EMULATOR)
    programs = [c.mistakes(workspace) if options.mistakes else c.program(workspace) for c in chosen]
    targets = [str(program.relative_to(workspace.build)) for program in programs]
    if where is backend.Backend.EMULATOR:
        targets += build.emulator_targets(workspace)
    build.build(workspace, tools, targets)
    arguments = passed_on(options) + options.passed
    env = backend.environment(where, workspace) | recording
    failed: list[tuple[str, int]] = []
    for index, (chapter, program) in enumerate(zip(chosen, programs, strict=True)):
        if index:
            print(flush=True)
        status = foreground([program, *arguments], env)
        if status != 0:
            failed.append((chapter.directory, status))
    if failed and len(chosen) > 1:
        print(f"workbook: failed: {', '.join(name for name, _ in failed)}", file=sys.stderr)
        return FAILURE
    return failed[0][1] if failed else 0


def _recording(
    options: argparse.Namespace, chosen: list[Chapter], where: backend.Backend
) -> dict[str, str]:
    settings = emulate.recording(options)
    if settings and len(chosen) > 1:
        raise UsageError("--record is of one program: name one chapter")
    if settings and where is not backend.Backend.EMULATOR:
        raise UsageError("--record needs the emulator: add --backend emulator")
    return settings


def passed_on(options: argparse.Namespace) -> list[str]:
    """The program's own options, as they were given."""
    given = {name: getattr(options, name) for name in _PASSED_ON}
    return [
        word
        for name, value in given.items()
        if value is not None
        for each in (value if name in _REPEATED else [value])
        for word in (f"--{name}", each)
    ]


def _chosen(name: str | None, known: list[Chapter]) -> list[Chapter]:
    if name is None:
        return known[:1]
    return known if name == "all" else [chapters.resolve(name, known)]
