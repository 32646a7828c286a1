"""Shows who in a room is where: a table that renews itself, from a folder that everybody can reach.

Learners join with `./workbook room --join DIR --name NAME`, or by WORKBOOK_ROOM=DIR (and WORKBOOK_ROOM_NAME=NAME). From then
on each check and each hint writes one small file there, with the learner's name, the exercise, attempts, hints, what is solved
and the name of the last finding; never any code. `--leave` ends it.

The mark ! stands where somebody has been at an exercise longer than it should take. Where there is no terminal each news
is a line.
"""

import argparse
import shutil
import sys
import time
from pathlib import Path

from .. import exercises, room
from ..errors import UsageError, UserError
from ..roomview import View, changes, table
from ..workspace import Workspace

NAME = "room"
HELP = "show who in a room is where, or join one"
_EVERY_SECONDS = 2.0
_CLEAR = "\x1b[H\x1b[2J"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", nargs="?", metavar="DIR", help="the room's folder")
    parser.add_argument("--join", metavar="DIR", help="share your progress there")
    parser.add_argument("--name", help="what the room shall call you (default: your login)")
    parser.add_argument("--leave", action="store_true", help="share nothing any more")
    parser.add_argument("--once", action="store_true", help="show the table once")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    if sum((options.directory is not None, options.join is not None, options.leave)) > 1:
        raise UsageError("one of DIR, --join DIR and --leave at a time")
    if options.join is not None:
        return _join(Path(options.join).expanduser(), options.name, workspace)
    if options.leave:
        member = room.leave(workspace)
        print(f"You have left {member.directory}." if member else "You are in no room.")
        return 0
    if options.directory is None:
        return _status(workspace)
    directory = Path(options.directory).expanduser()
    if not directory.is_dir():
        raise UsageError(f"{directory} is no directory")
    minutes = {exercise.name: exercise.minutes for exercise in exercises.all_exercises(workspace)}
    try:
        return _show(View(directory), minutes, once=options.once)
    except OSError as error:
        raise UserError(f"{directory}: {error.strerror}") from None


def _join(directory: Path, name: str | None, workspace: Workspace) -> int:
    member = room.join(workspace, directory, name)
    print(f"You are {member.name} in {member.directory}.")
    print(f"Each check and each hint shares {room.SHARED}.")
    print("./workbook room --leave  ends that.")
    return 0


def _status(workspace: Workspace) -> int:
    member = room.membership(workspace)
    if member is None:
        print("You are in no room, and share nothing. ./workbook room --join DIR --name NAME  joins one.")
    else:
        print(f"You are {member.name} in {member.directory}, and share {room.SHARED}.")
    return 0


def _show(view: View, minutes: dict[str, int], *, once: bool) -> int:
    live = sys.stdout.isatty() and not once
    try:
        while True:
            view.look()
            lines = table(view, minutes, shutil.get_terminal_size().columns, time.monotonic())
            if once:
                print("\n".join(lines))
                return 0
            if live:
                height = shutil.get_terminal_size().lines - 2
                print(_CLEAR + "\n".join([*lines[:height], "Ctrl-C ends"]), end="", flush=True)
            elif news := changes(view):
                print("\n".join(f"{time.strftime('%H:%M:%S')} {line}" for line in news), flush=True)
            time.sleep(_EVERY_SECONDS)
    except KeyboardInterrupt:
        print()
        return 0
