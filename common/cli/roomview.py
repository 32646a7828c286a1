"""What a teacher sees of a room: the learners' files read with suspicion, as a table and as lines."""

import contextlib
import json
import os
import stat
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from .room import SCHEMA, SUFFIX, Message, clean

_LARGEST = 16 * 1024
_LARGEST_NUMBER = 2**40
_MOST = 500
_NARROWEST = 40


@dataclass
class Entry:
    """One learner, as last heard of."""

    message: Message
    heard: float
    """When the message was written, by the viewer's monotonic clock."""
    changed: bool = True
    """Whether the last look found something new."""


class View:
    """Reads the folder again and again. A file that cannot be read now leaves what it said before."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.entries: dict[str, Entry] = {}

    def look(self) -> None:
        """Raises OSError if the folder cannot be listed."""
        files = sorted(f for f in os.listdir(self.directory) if f.endswith(SUFFIX) and not f.startswith("."))[:_MOST]
        folder_now = None
        for name in [name for name in self.entries if name not in files]:
            del self.entries[name]
        for name in files:
            read = _read(self.directory / name)
            before = self.entries.get(name)
            if before is not None:
                before.changed = False
            if read is None:
                continue
            message, written = read
            if before is not None and before.message == message:
                continue
            age = 0.0
            if before is None:  # at later looks it has just been written
                folder_now = _folder_clock(self.directory) if folder_now is None else folder_now
                age = max(0.0, folder_now - written)
            self.entries[name] = Entry(message, time.monotonic() - age)


def _read(path: Path) -> tuple[Message, float] | None:
    """A learner's message and the file's time; None for what is no message, or only half of one."""
    try:
        # A file of a stranger may be anything; opening a pipe would wait for its writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return None
            data = json.loads(file.read(_LARGEST + 1))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        return None
    values = {}
    for entry in fields(Message):
        value = data.get(entry.name, entry.default)
        if type(value) is not (str if entry.type in (str, "str") else int):
            return None
        values[entry.name] = clean(value) if isinstance(value, str) else max(0, min(value, _LARGEST_NUMBER))
    return Message(**values), status.st_mtime


def _folder_clock(directory: Path) -> float:
    """The time that the folder's own machine gives to a file that is written now; it may differ from ours."""
    with contextlib.suppress(OSError), tempfile.NamedTemporaryFile(prefix=".clock-", dir=directory) as file:
        file.write(b".")
        file.flush()
        return os.fstat(file.fileno()).st_mtime
    return time.time()


# ---- as text ----


def table(view: View, minutes: Mapping[str, int], width: int, now: float) -> list[str]:
    """A line for each learner, those who have been longest at their exercise first; `minutes` is what exercises take."""
    entries = sorted(view.entries.values(), key=lambda entry: (-_at_it(entry, now), entry.message.name.lower()))
    solved = sum(entry.message.solved for entry in entries)
    head = f"{len(entries)} learner{'s' * (len(entries) != 1)}, {solved} exercises solved: {view.directory}"
    lines = [_cut(head, width), ""]
    if not entries:
        return [_cut(line, width) for line in [*lines, "Nobody has joined yet: ./workbook room --join DIR --name NAME"]]
    rows = [_row(entry, minutes, now) for entry in entries]
    heads = ["", "name", "solved", "exercise", "tries", "hints", "for", "seen", "last"]
    sizes = [max(columns(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    sizes[1] = min(sizes[1], max(8, width // 4))
    for row in [heads, *rows]:
        lines.append(_cut(" ".join(_fit(text, size) for text, size in zip(row, sizes, strict=True)).rstrip(), width))
    return [*lines, "", *(_cut(line, width) for line in _where(entries))]


def _row(entry: Entry, minutes: Mapping[str, int], now: float) -> list[str]:
    message = entry.message
    at_it = _at_it(entry, now)
    late = message.state != "solved" and at_it > 60 * minutes.get(message.exercise, 10**6)
    return [
        *("!" if late else "", message.name, f"{message.solved}/{message.of}" if message.of else ""),
        *(message.exercise or "-", str(message.tries), str(message.hints)),
        *(_span(at_it) if message.exercise and message.state != "solved" else "", _span(now - entry.heard)),
        message.finding if message.state == "wrong" else message.state,
    ]


def _at_it(entry: Entry, now: float) -> float:
    """Seconds since the first check of the exercise: by the learner's clock until the message, then by ours."""
    message = entry.message
    return message.seconds + (now - entry.heard) if message.state in ("wrong", "hint") else 0.0


def _span(seconds: float) -> str:
    if seconds < 60:
        return "now"
    return f"{int(seconds // 60)} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def _where(entries: Sequence[Entry]) -> list[str]:
    """How many are at each exercise, and how many of them have it."""
    here = Counter(entry.message.exercise for entry in entries if entry.message.exercise)
    done = Counter(entry.message.exercise for entry in entries if entry.message.state == "solved")
    return [f"{name}: {count} here, {done[name]} of them solved it" for name, count in here.most_common()]


def changes(view: View) -> list[str]:
    """A line for each message that the last look found."""
    lines = []
    for entry in view.entries.values():
        message = entry.message
        if entry.changed:
            what = {"wrong": f"not yet ({message.finding})", "hint": f"hint {message.hints}"}.get(message.state, message.state)
            where = f"{message.exercise}: " if message.exercise else ""
            tries = f", {message.tries} tries" if message.tries else ""
            lines.append(f"{message.name}: {where}{what}{tries}")
    return lines


def columns(text: str) -> int:
    """How wide a terminal shows it."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _cut(text: str, width: int) -> str:
    width = max(width, _NARROWEST)
    if columns(text) <= width:
        return text
    while columns(text) > width - 1:
        text = text[:-1]
    return text + "…"


def _fit(text: str, size: int) -> str:
    if columns(text) > size:
        while columns(text) > size - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (size - columns(text))
