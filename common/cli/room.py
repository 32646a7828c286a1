"""A room: a folder that everybody in it can reach, with one small file for each learner who joined.

Nothing of it is shared before the learner says so: by `./workbook room --join DIR`, or by WORKBOOK_ROOM=DIR. No check
waits for the folder, and none fails because of it.
"""

import contextlib
import datetime
import getpass
import hashlib
import json
import os
import re
import secrets
import socket
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import UsageError, UserError
from .exercises import Exercise
from .records import Record
from .workspace import Workspace

SHARED = "your name, the exercise you are at, attempts, hints, what is solved, and the name of the last finding; never your code"
SUFFIX = ".room.json"
SCHEMA = 1
_PATIENCE_SECONDS = 2.0
"""For a folder that does not answer."""
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Membership:
    """Which folder a learner writes to, under which name; `key` tells apart those who have the same name."""

    directory: Path
    name: str
    key: str

    @property
    def file(self) -> Path:
        return self.directory / f"{self.key}{SUFFIX}"


@dataclass(frozen=True)
class Message:
    """What a learner's file says. Times are durations: the clocks of a room differ."""

    name: str
    exercise: str = ""
    state: str = "joined"
    """joined, wrong, solved or hint."""
    finding: str = ""
    tries: int = 0
    hints: int = 0
    seconds: int = 0
    """Since the first check of this exercise."""
    solved: int = 0
    of: int = 0
    number: int = 0
    """Different in each message."""


def _setting(workspace: Workspace) -> Path:
    return workspace.root / "workspace" / "room.toml"


def membership(workspace: Workspace) -> Membership | None:
    """The learner's wish: the environment's, else what `--join` has kept."""
    if directory := os.environ.get("WORKBOOK_ROOM"):
        name = os.environ.get("WORKBOOK_ROOM_NAME") or _login()
        place = f"{socket.gethostname()}\n{_login()}\n{workspace.root}"
        return Membership(Path(directory).expanduser(), clean(name), _key(name, hashlib.sha256(place.encode()).hexdigest()))
    try:
        entry = tomllib.loads(_setting(workspace).read_text("utf-8"))
        return Membership(Path(entry["directory"]), clean(str(entry["name"])), str(entry["key"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        print(f"workbook: {workspace.relative(_setting(workspace))} cannot be read; join the room anew", file=sys.stderr)
        return None


def join(workspace: Workspace, directory: Path, name: str | None) -> Membership:
    """Keeps the wish and tells the room; an error if the folder is not there or cannot be written."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is no directory")
    name = clean(name or _login())
    if not name:
        raise UsageError("a name needs a letter or a digit")
    member = Membership(directory.resolve(), name, _key(name, secrets.token_hex(8)))
    try:
        write(member, Message(member.name, number=secrets.randbits(32)))
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}") from None
    text = "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in (("directory", str(member.directory)), ("name", member.name), ("key", member.key))
    )
    _replace(_setting(workspace), text)
    return member


def leave(workspace: Workspace) -> Membership | None:
    """Forgets the wish, and takes the learner's file out of the room if it can."""
    member = membership(workspace)
    _setting(workspace).unlink(missing_ok=True)
    if member is not None:
        with contextlib.suppress(OSError):
            member.file.unlink()
    return member


def tell(workspace: Workspace, exercise: Exercise, record: Record, state: str, finding: str, solved: int, of: int) -> None:
    """Tells the room, if the learner joined one, what came of a check. Whatever goes wrong is one line."""
    member = membership(workspace)
    if member is None:
        return
    message = Message(
        *(member.name, exercise.name, state, finding, record.checks, record.hints),
        *(since(record.begun), solved, of, secrets.randbits(32)),
    )
    problem = _patiently(lambda: _first_or_next(member, message))
    if problem:
        print(f"workbook: the room at {member.directory} was not told ({problem})", file=sys.stderr)


def _first_or_next(member: Membership, message: Message) -> None:
    """Says what is shared where nobody has been told: a variable may have been set by somebody else."""
    is_first = not member.file.exists()
    write(member, message)
    if is_first:
        print(f"workbook: the room at {member.directory} learns {SHARED}", file=sys.stderr)


def write(member: Membership, message: Message) -> None:
    """Puts the whole message in place of the one before."""
    _replace(member.file, json.dumps({"schema": SCHEMA, **asdict(message)}, ensure_ascii=False) + "\n")


def since(moment: str) -> int:
    """Seconds since a time that this machine's clock gave; 0 if there was none, or if the clock was set back."""
    try:
        begun = datetime.datetime.fromisoformat(moment)
        return max(0, int((datetime.datetime.now().astimezone() - begun).total_seconds()))
    except (ValueError, TypeError):
        return 0


def clean(text: str) -> str:
    """Words for a terminal: printable, on one line, and not long."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_LONGEST_NAME]


def _key(name: str, random: str) -> str:
    """The name of a file: readable, and nobody else's."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-')[:24] or 'learner'}-{random[:8]}"


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "learner"


def _replace(path: Path, text: str) -> None:
    """The old text or the new one, never half of it, for whoever reads meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _patiently(action: Callable[[], None]) -> str:
    """What went wrong, or nothing. A server that has gone away must not hold up a check."""
    result: list[Any] = []

    def run() -> None:
        try:
            action()
            result.append("")
        except OSError as error:
            result.append(error.strerror or str(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(_PATIENCE_SECONDS)
    return str(result[0]) if result else "it does not answer"
