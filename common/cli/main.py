"""Command line: finds the subcommand, runs it, and turns every expected error into one line."""

import argparse
import signal
import sys

from . import output
from .commands import (
    bench,
    bundle,
    check,
    doctor,
    emulate,
    exercise_files,
    grade,
    hint,
    key,
    list_chapters,
    mutate,
    next_exercise,
    progress,
    replay,
    reset,
    room,
    run,
    sass,
    site,
    slides,
    solution,
    test,
    watch,
)
from .errors import FAILURE, INTERRUPTED, USAGE, UserError
from .workspace import Workspace

COMMANDS = (
    *(list_chapters, next_exercise, check, watch, hint, solution, reset, progress),
    *(run, test, emulate, replay, sass, bench, site, slides, doctor, grade, room, key, bundle, mutate, exercise_files),
)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as the rest of the command does."""

    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(USAGE)


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="workbook",
        description="Runs, tests and explains the chapters of the Hopper Async Workbook.",
        epilog="`next` begins the exercise whose turn it is, `check NAME` any other; `list` shows their names.",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for module in COMMANDS:
        command = subparsers.add_parser(
            module.NAME,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(execute=module.execute)
    return parser


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of one command; `passed` has what follows `--` for commands that pass it on to a program."""
    module = next((m for m in COMMANDS if arguments[:1] == [m.NAME]), None)
    passed: list[str] = []
    if getattr(module, "PASSES_ARGUMENTS", False) and "--" in arguments:
        at = arguments.index("--")
        arguments, passed = arguments[:at], arguments[at + 1 :]
    if prepare := getattr(module, "prepare", None):
        arguments = [arguments[0], *prepare(arguments[1:])]
    options = build_parser().parse_args(arguments)
    options.passed = passed
    return options


def main(arguments: list[str]) -> int:
    """Runs one command and returns the exit status: 0, 1 for a failure, 2 for a wrong command line."""
    output.tolerant()
    if not arguments:
        build_parser().print_help(sys.stderr)
        return USAGE
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as `workbook` leaves it
            signal.signal(signal.SIGINT, signal.default_int_handler)
        options = parse(arguments)
        status: int = options.execute(options, Workspace.locate())
        sys.stdout.flush()
        return status
    except UserError as error:
        for line in error.detail:
            print(f"  {line}", file=sys.stderr)
        print(f"workbook: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("\nworkbook: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (head, less) has what it wanted.
        sys.stderr.close()
        return FAILURE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"workbook: {where}{error.strerror or error}", file=sys.stderr)
        return FAILURE
