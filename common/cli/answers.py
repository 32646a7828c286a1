"""The answers to an exercise that its judge has to refuse, and those that it has to take: tests/exercises/answers/NAME.toml.

    [[cheat]]
    what = "one thread brings the whole tile"
    holes = ["for (…) …"]                     stands in the holes of the solution, one text for each
    change = [["old text", "new text"]]       in the rest of it
    says = "words of the verdict"

    [[right]]
    what = "with a float4"
    holes = […]

Where `holes` is left out, the holes hold what they hold in the solution.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from . import holes

DIRECTORY = Path(__file__).resolve().parents[2] / "tests/exercises/answers"
_MARKS = ("//@ hole", "//@ end")


@dataclass(frozen=True)
class Answer:
    """One answer, as a file that a learner might hand in. `says` is empty for a right one."""

    what: str
    text: str
    says: str
    holes: tuple[str, ...] = ()
    """What stands in the holes, if that is all that is different."""


def answers(name: str, solution: str) -> list[Answer]:
    """All of them; none where nobody has written any."""
    file = DIRECTORY / f"{name}.toml"
    if not file.exists():
        return []
    data = tomllib.loads(file.read_text("utf-8"))
    cheats = [_answer(entry, solution, str(entry["says"])) for entry in data.get("cheat", [])]
    return cheats + [_answer(entry, solution, "") for entry in data.get("right", [])]


def _answer(entry: dict[str, object], solution: str, says: str) -> Answer:
    what, text = str(entry["what"]), holes.solution(solution)
    if (texts := entry.get("holes")) is not None:
        assert isinstance(texts, list)
        text = _filled(solution, texts, what)
    changes = entry.get("change", [])
    assert isinstance(changes, list)
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{what}: the solution has no '{old}'")
        text = text.replace(old, new)
    return Answer(what, text, says, () if changes else tuple(texts or ()))


def _filled(solution: str, texts: list[str], what: str) -> str:
    """The solution with these texts in its holes."""
    before, *rest = solution.split(_MARKS[0])
    if len(rest) != len(texts):
        raise ValueError(f"{what}: the solution has {len(rest)} holes, and {len(texts)} are filled")
    ends = [part.partition(_MARKS[1])[2] for part in rest]
    return before + "".join(f"\n{text}\n{end}" for text, end in zip(texts, ends, strict=True))
