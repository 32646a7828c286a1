"""A room's files: whose they are, what was handed in, and what is wrong with each."""

import collections
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import judging
from .errors import UsageError, UserError
from .exercises import Exercise
from .judging import Outcome
from .records import Book, Record
from .workspace import Workspace

LONGEST = 90
"""A reason in characters."""
_LARGEST = 1 << 20
_DESK, _BACKUPS = "workspace", "backups"

RIGHT, WRONG, UNTOUCHED, MISSING = "right", "wrong", "untouched", "missing"


@dataclass
class Mark:
    """One learner and one exercise. `untouched` is a file that is still the skeleton, and counts as not handed in."""

    state: str = MISSING
    reason: str = ""
    stage: str = ""
    finding: str = ""
    """The name of the emulator's first finding."""
    record: Record = field(default_factory=Record)
    """Attempts and hints, as the learner's own progress.toml has them."""

    @property
    def handed_in(self) -> bool:
        return self.state in (RIGHT, WRONG)


@dataclass
class Learner:
    """One directory of files, and what was found in it; the name is empty where the files lie in the directory itself."""

    name: str
    files: dict[str, Path] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    note: str = ""

    def mark(self, exercise: Exercise) -> Mark:
        return self.marks.get(exercise.name, Mark())

    def count(self, state: str) -> int:
        return sum(mark.state == state for mark in self.marks.values())

    @property
    def handed_in(self) -> bool:
        return any(mark.handed_in for mark in self.marks.values())


@dataclass(frozen=True)
class Room:
    """All learners and the exercises that any of them has a file of, in the book's order."""

    learners: tuple[Learner, ...]
    exercises: tuple[Exercise, ...]

    @property
    def idle(self) -> tuple[Learner, ...]:
        """Those who handed in nothing."""
        return tuple(learner for learner in self.learners if not learner.handed_in)


def collect(directory: Path, known: Mapping[str, object], names: list[str] | None = None) -> list[Learner]:
    """The learners below `directory` with their files by exercise; `names` are people to expect besides.

    A directory with files named after exercises is a learner; so is one that has nothing, directly in `directory`.
    """
    if not directory.is_dir():
        raise UsageError(f"{directory} is no directory")
    found: dict[str, dict[str, Path]] = {}
    for file in sorted(directory.rglob("*.cu")):
        place = file.parent.relative_to(directory).parts
        if file.stem in known and _BACKUPS not in place:
            owner = "/".join(place[:-1] if place[-1:] == (_DESK,) else place)
            found.setdefault(owner, {})[file.stem] = file
    if not found:
        raise UsageError(f"{directory} has no file that is named after an exercise")
    if set(found) != {""}:
        expected = [entry.name for entry in directory.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
        for name in [*expected, *(names or [])]:
            if not any(owner == name or owner.startswith(f"{name}/") for owner in found):
                found[name] = {}
    return [Learner(name, found[name]) for name in sorted(found)]


def roster(path: Path) -> list[str]:
    """The names in a file, one a line; empty lines and comments with # are none."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or 'is no text'}") from None
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def read_records(learner: Learner) -> dict[str, Record]:
    """What the learner's progress says; nothing, and a note, where it is damaged."""
    for place in sorted({file.parent for file in learner.files.values()}):
        try:
            records = Book(place / "progress.toml").read()
        except (UserError, OSError):
            learner.note = "progress.toml cannot be read: attempts and hints are unknown"
            continue
        if records:
            return records
    return {}


def unusable(file: Path) -> str | None:
    """Why a file is not even compiled, or None."""
    if file.is_symlink():
        return "is a link and no file"
    try:
        if file.stat().st_size > _LARGEST:
            return f"is larger than {_LARGEST >> 20} MB"
        with open(file, "rb"):
            return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def is_untouched(file: Path, exercise: Exercise, workspace: Workspace) -> bool:
    """Whether the file is the skeleton still."""
    try:
        return file.read_bytes() == exercise.skeleton(workspace).read_bytes()
    except OSError:
        return False


def reason(outcome: Outcome) -> str:
    """What is wrong, in one line."""
    if outcome.passed:
        return ""
    if outcome.diagnostic is not None:
        place = next((f" in line {entry['line']}" for entry in outcome.diagnostic["locations"]), "")
        return f"{outcome.diagnostic['name']}{place}"
    lines = [line for line in outcome.lines if not line.startswith("Tried ")] or outcome.lines or ["?"]
    text = _compiler(lines[0]) if outcome.stage == "compile" else lines[0].removeprefix(judging.MISSED)
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."


def _compiler(line: str) -> str:
    """`FILE(3): error: words` and `FILE:3:10: fatal error: words` in fewer words."""
    match = re.match(r"^.*?(?:\((\d+)\)|:(\d+)(?::\d+)?): (?:fatal |catastrophic )?error\b[^:]*:\s*(.*)$", line)
    if match is None:
        return f"does not compile: {line}" if "error" not in line else "does not compile"
    return f"does not compile: {match[3]} (line {match[1] or match[2]})"


def _kind(mark: Mark) -> str:
    """What mistakes have in common: the finding, else the words without their numbers."""
    return mark.finding or re.sub(r"-?\b(0x[0-9a-f]+|\d[\d.,e+-]*)", "…", mark.reason)


def mistakes(room: Room, exercise: Exercise) -> Iterator[tuple[str, list[str]]]:
    """Each mistake of an exercise with those who made it, the most frequent first."""
    groups: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for learner in room.learners:
        if (mark := learner.mark(exercise)).state == WRONG:
            groups[_kind(mark)].append((mark.reason, learner.name))
    for entries in sorted(groups.values(), key=lambda entries: -len(entries)):
        yield entries[0][0], [name for _, name in entries]


def total(room: Room, exercise: Exercise, state: str) -> int:
    return sum(learner.mark(exercise).state == state for learner in room.learners)


def effort(room: Room, exercise: Exercise) -> tuple[int, int]:
    """Attempts and hints of all learners."""
    records = [learner.mark(exercise).record for learner in room.learners]
    return sum(record.checks for record in records), sum(record.hints for record in records)
