"""The exercises: one manifest a chapter, chapters/NN_name/exercises/exercises.toml, in the order of the chapters.

An exercise is known by its name and never by a number, so that chapters may move. `docs/pages/contributing.md` says how to
add one.
"""

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import chapters
from .chapters import Chapter
from .errors import UsageError, UserError
from .workspace import Workspace

KINDS = ("fill", "write", "find-the-mistake", "project")
_KEYS = {"name", "title", "kind", "task", "minutes", "hints", "learned", "fails_with"}
_ARCHITECTURES = ("90", "90a")
_BOUNDS = ("at_most", "at_least", "equals")


@dataclass(frozen=True)
class Condition:
    """What the emulator must count in all launches of the kernels whose name contains `kernel`.

    The sum of `field`, or of what the warps with the numbers `warps` in their blocks did of it, without the sum of `less`, is
    compared with `limit`, or with `limit` times the sum of `per`.
    """

    kernel: str
    field: str
    bound: str
    limit: float
    says: str
    per: str | None = None
    warps: tuple[int, int] | None = None
    """The first and the last."""
    less: str | None = None
    launch: int | None = None
    """Of those launches only this one, from 1."""


@dataclass(frozen=True)
class Advice:
    """What to do about a finding where the emulator's own advice is right for any kernel but not what this exercise asks."""

    finding: str
    says: str
    instead_of: str = ""
    """Only in place of an advice with these words."""


@dataclass(frozen=True)
class Exercise:
    """One exercise. `fails_with` is a text that the verdict on the untouched skeleton contains."""

    name: str
    title: str
    kind: str
    task: str
    """What the learner does, as the chapter's list of exercises has it."""
    minutes: int
    hints: tuple[str, ...]
    learned: str
    fails_with: str
    chapter: Chapter
    counters: tuple[Condition, ...] = ()
    advice: tuple[Advice, ...] = ()
    uses_shared: str = ""
    """What to say if the results are right although what lies in shared memory was changed; empty: that is not tried."""
    architecture: str = "90"
    """What it is compiled for; 90a where it is about instructions that no other architecture has."""

    def skeleton(self, workspace: Workspace) -> Path:
        return self._directory(workspace) / "exercises" / f"{self.name}.cu"

    def solution(self, workspace: Workspace) -> Path:
        return self._directory(workspace) / "solutions" / f"{self.name}.cu"

    def judge_source(self, workspace: Workspace) -> Path:
        return self._directory(workspace) / "judges" / f"{self.name}.cpp"

    def judge(self, workspace: Workspace) -> Path:
        """The program that launches the learner's kernel and judges what it did."""
        return workspace.build / "chapters" / f"judge_{self.name}"

    def _directory(self, workspace: Workspace) -> Path:
        return workspace.root / "chapters" / self.chapter.directory


def all_exercises(workspace: Workspace) -> list[Exercise]:
    """Every exercise of every chapter, in the order in which a learner meets them."""
    result: list[Exercise] = []
    places: dict[str, Path] = {}
    for chapter in chapters.all_chapters(workspace):
        manifest = workspace.root / "chapters" / chapter.directory / "exercises" / "exercises.toml"
        if not manifest.exists():
            continue
        for exercise in read_manifest(manifest, chapter):
            if exercise.name in places:
                raise UserError(
                    f"{manifest}: the exercise '{exercise.name}' exists already ({places[exercise.name]})"
                )
            places[exercise.name] = manifest
            result.append(exercise)
    return result


def read_manifest(path: Path, chapter: Chapter) -> list[Exercise]:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    entries = data.get("exercise", [])
    if not isinstance(entries, list) or set(data) - {"exercise"}:
        raise UserError(f"{path}: only [[exercise]] is known")
    return [_exercise(entry, chapter, path) for entry in entries]


def _exercise(entry: dict[str, Any], chapter: Chapter, path: Path) -> Exercise:
    name = entry.get("name", "?")
    values = {key: value for key, value in entry.items() if key not in ("counters", "advice", "uses_shared", "architecture")}
    if wrong := set(values) ^ _KEYS:
        raise UserError(f"{path}: exercise '{name}': missing or unknown: {', '.join(sorted(wrong))}")
    if not (isinstance(name, str) and name.isascii() and name.isidentifier()):
        raise UserError(f"{path}: '{name}' is no name for an exercise")
    if values["kind"] not in KINDS:
        raise UserError(f"{path}: exercise '{name}': kind must be one of {', '.join(KINDS)}")
    if not isinstance(values["hints"], list) or len(values["hints"]) != 3:
        raise UserError(f"{path}: exercise '{name}': there must be three hints")
    values["hints"] = tuple(" ".join(hint.split()) for hint in values["hints"])
    values["learned"] = " ".join(values["learned"].split())
    conditions = tuple(_condition(c, name, f"{path}: exercise '{name}'") for c in entry.get("counters", []))
    advice = tuple(_advice(a, f"{path}: exercise '{name}'") for a in entry.get("advice", []))
    uses_shared = " ".join(entry.get("uses_shared", "").split())
    if (architecture := entry.get("architecture", "90")) not in _ARCHITECTURES:
        raise UserError(f"{path}: exercise '{name}': architecture must be one of {', '.join(_ARCHITECTURES)}")
    return Exercise(
        **values, chapter=chapter, counters=conditions, advice=advice, uses_shared=uses_shared, architecture=architecture
    )


def _advice(entry: object, where: str) -> Advice:
    if not isinstance(entry, dict) or not {"finding", "says"} <= set(entry) <= {"finding", "says", "instead_of"}:
        raise UserError(f"{where}: an advice needs finding and says, and may have instead_of")
    return Advice(entry["finding"], " ".join(entry["says"].split()), entry.get("instead_of", ""))


def _condition(entry: dict[str, Any], exercise: str, where: str) -> Condition:
    bounds = [key for key in _BOUNDS if key in entry]
    if len(bounds) != 1 or not {"field", "says"} <= set(entry):
        raise UserError(f"{where}: a counter needs field, says and one of {', '.join(_BOUNDS)}")
    if wrong := set(entry) - {"kernel", "field", "says", "per", "warps", "less", "launch", *_BOUNDS}:
        raise UserError(f"{where}: a counter has no {', '.join(sorted(wrong))}")
    return Condition(
        kernel=entry.get("kernel", exercise),
        field=entry["field"],
        bound=bounds[0],
        limit=entry[bounds[0]],
        says=" ".join(entry["says"].split()),
        per=entry.get("per"),
        warps=_range(entry["warps"], where) if "warps" in entry else None,
        less=entry.get("less"),
        launch=_number(entry["launch"], where) if "launch" in entry else None,
    )


def _number(value: object, where: str) -> int:
    if not isinstance(value, int) or value < 1:
        raise UserError(f"{where}: launch = {value} must be a number from 1 on")
    return value


def _range(text: str, where: str) -> tuple[int, int]:
    """'0' or '1-3'."""
    first, _, last = str(text).partition("-")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise UserError(f"{where}: warps = '{text}' must be a number, or two as in '1-3'") from None


def resolve(name: str, known: list[Exercise]) -> Exercise:
    """The exercise called `name`, else a usage error that helps."""
    for exercise in known:
        if exercise.name == name:
            return exercise
    chapter = chapters.find(name, list(dict.fromkeys(e.chapter for e in known)))
    if chapter is not None:
        names = ", ".join(e.name for e in known if e.chapter == chapter)
        raise UsageError(f"'{name}' is a chapter; its exercises are: {names}")
    near = difflib.get_close_matches(name, [e.name for e in known], n=1)
    advice = f"did you mean {near[0]}?" if near else "./workbook list shows them all"
    raise UsageError(f"there is no exercise '{name}'; {advice}")
