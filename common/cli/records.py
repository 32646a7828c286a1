"""The learner's progress: one human-readable file, written so that neither a full disk nor a Ctrl-C nor a second terminal
can damage it."""

import datetime
import fcntl
import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import UserError

_HEAD = "# Your progress, by the names of the exercises. ./workbook writes this file; deleting it forgets what you solved.\n"


@dataclass
class Record:
    """What is known of one exercise. `solved` is the day and time of the first success, or empty."""

    solved: str = ""
    checks: int = 0
    hints: int = 0
    solution_asked: bool = False
    skeleton: str = ""
    """Digest of the skeleton that the learner's copy was made of."""
    begun: str = ""
    """Day and time of the first check."""


Records = dict[str, Record]


def now() -> str:
    return datetime.datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")


class Book:
    """The file with all records."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Records:
        """All records; none if there is no file yet. A damaged file is an error, and is left as it is."""
        try:
            data = tomllib.loads(self.path.read_text("utf-8"))
            return {name: _record(entry) for name, entry in data.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, AttributeError) as error:
            raise UserError(
                f"{self.path} cannot be read ({error}); mend it, or move it away to begin anew"
            ) from None

    def update(self, name: str, change: Callable[[Record], None]) -> Record:
        """Changes one record, whatever other terminals write meanwhile. Raises OSError if it cannot be kept."""
        with self._locked():
            records = self.read()
            record = records.setdefault(name, Record())
            change(record)
            self._write(records)
        return record

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path.with_name(".lock"), "a", encoding="utf-8") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def _write(self, records: Records) -> None:
        """A new file takes the place of the old one in one step, when all of it is on the disk."""
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                file.write(_text(records))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _record(entry: object) -> Record:
    record = Record()
    if not isinstance(entry, dict):
        raise TypeError("an exercise must be a table")
    for key, default in vars(Record()).items():
        value = entry.get(key, default)
        if type(value) is not type(default):
            raise TypeError(f"{key} = {value!r}")
        setattr(record, key, value)
    return record


def _text(records: Records) -> str:
    parts = [_HEAD]
    for name, record in records.items():
        lines = [f"\n[{name}]"]
        for key, value in vars(record).items():
            if value != getattr(Record, key):
                lines.append(f"{key} = {_value(value)}")
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def _value(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
