"""Questions that a reader answers before a run does: chapters/NN_name/predictions.toml, in the order of the chapter.

    [[prediction]]
    name = "strided_sectors"             its place in the chapter's README.md: <!-- predict: strided_sectors -->
    question = "How many sectors …?"     Markdown, a paragraph
    kernel = "loop_strided"              what runs: a kernel of the chapter's program, or mistake = "NAME"
    launch = 1                           of its launches this one, from 1
    order = "early"                      when copies land, if not late
    number = {counter = "global_load_sectors", per = "global_load_requests", unit = "for each request"}
    choices = [{number = 4}, {number = 32}]
    why = "…"                            Markdown, said when the reader has answered

The answer is never written down: it is what the counter says. There are three other forms.

    choices = [{finding = "race-shared", says = "…"}, {finding = "", says = "nothing"}]
                                         right is what the emulator finds first in the run
    choices = [{kernel = "a", says = "…"}, {mistake = "b", says = "…"}]
    most = {counter = "…", per = "…"}    or `least`: right is the run that counts so
    exercise = "four_sectors"            stands in the exercise, not in the README
    choices = [{answer = "solution", says = "…"}, {answer = "…", says = "…"}]
                                         an answer is a `what` of tests/exercises/answers, `solution` or `skeleton`; right is
                                         the one that the judge takes
"""

import tomllib
from dataclasses import dataclass
from typing import Any

from .chapters import Chapter
from .errors import UserError
from .workspace import Workspace

ORDERS = ("late", "early", "random")
FORMS = {"number": "number", "finding": "finding", "kernel": "runs", "mistake": "runs", "answer": "answers"}
"""The form of a question by what its choices have."""
NEAR = 0.03
"""Of a number that counts as said, if no choice is exact: blocks at an edge do less than others."""
_KEYS = {"name", "question", "why", "kernel", "mistake", "exercise", "launch", "order", "number", "choices", "most", "least"}
_NEEDED = {"name", "question", "why", "choices"}


@dataclass(frozen=True)
class Run:
    """What runs: `source` is a kernel of the chapter's program, a mistake or an answer to the exercise, `name` which."""

    source: str
    name: str
    launch: int = 1
    order: str = "late"


@dataclass(frozen=True)
class Measure:
    """A counter of a launch, perhaps divided by another one."""

    counter: str
    per: str | None = None
    unit: str = ""


@dataclass(frozen=True)
class Choice:
    """One of the answers that a reader can give. What it has beside its words depends on the form of the question."""

    says: str
    number: float | None = None
    finding: str | None = None
    run: Run | None = None


@dataclass(frozen=True)
class Prediction:
    """One question. `form` is number, finding, runs or answers."""

    name: str
    chapter: Chapter
    form: str
    question: str
    why: str
    choices: tuple[Choice, ...]
    run: Run | None = None
    """Of a question about one run."""
    measure: Measure | None = None
    most: bool = True
    exercise: str = ""

    def words(self, choice: Choice) -> str:
        """What the choice says, or its number and the unit of what is measured."""
        unit = self.measure.unit if self.measure else ""
        return choice.says if choice.says or choice.number is None else f"{choice.number:,} {unit}".strip()

    def runs(self) -> list[Run]:
        """What has to run: once, or once for each choice."""
        return [self.run] if self.run else [choice.run for choice in self.choices if choice.run]

    def right(self, measured: list[Any]) -> list[int]:
        """Which choices are right by what was measured: of each run a number, the name of a finding, or whether it passed."""
        if self.form == "number":
            off = [abs(choice.number - measured[0]) for choice in self.choices]  # type: ignore[operator]
            most = 0 if 0 in off else abs(measured[0]) * NEAR
            return [i for i, distance in enumerate(off) if distance <= most]
        if self.form == "finding":
            return [i for i, choice in enumerate(self.choices) if choice.finding == measured[0]]
        if self.form == "runs":
            best = (max if self.most else min)(measured)
            return [i for i, value in enumerate(measured) if value == best]
        return [i for i, passed in enumerate(measured) if passed]


def of_chapter(workspace: Workspace, chapter: Chapter) -> list[Prediction]:
    """The chapter's questions; none where there is no file. Raises UserError if one is not as above."""
    path = workspace.root / "chapters" / chapter.directory / "predictions.toml"
    if not path.exists():
        return []
    try:
        entries = tomllib.loads(path.read_text("utf-8")).get("prediction", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    found: list[Prediction] = []
    for entry in entries:
        where = f"{workspace.relative(path)}: prediction '{entry.get('name', '?')}'"
        try:
            found.append(_prediction(entry, chapter))
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{where}: {error.args[0] if error.args else error}") from None
        if any(other.name == found[-1].name for other in found[:-1]):
            raise UserError(f"{where}: there are two of this name")
    return found


def _prediction(entry: dict[str, Any], chapter: Chapter) -> Prediction:
    if wrong := (set(entry) - _KEYS) | (_NEEDED - set(entry)):
        raise ValueError(f"missing or unknown: {', '.join(sorted(wrong))}")
    if not str(entry["name"]).isidentifier():
        raise ValueError("its name is no identifier")
    exercise = entry.get("exercise", "")
    order = entry.get("order", "late")
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}")
    forms = {FORMS[key] for choice in entry["choices"] for key in FORMS if key in choice}
    if len(forms) != 1 or len(entry["choices"]) < 2:
        raise ValueError(f"it needs at least two choices that all have one of {', '.join(FORMS)}")
    (form,) = forms
    one = [key for key in ("kernel", "mistake") if key in entry]
    if len(one) != (form in ("number", "finding")) or bool(exercise) != (form == "answers"):
        raise ValueError("a number or a finding is of one kernel or mistake, an answer of an exercise")
    extremes = [key for key in ("most", "least") if key in entry]
    if len(extremes) != (form == "runs") or ("number" in entry) != (form == "number"):
        raise ValueError("a number needs `number`, runs need `most` or `least`")
    measure = entry.get("number") or (entry[extremes[0]] if extremes else None)
    return Prediction(
        name=entry["name"],
        chapter=chapter,
        form=form,
        question=" ".join(entry["question"].split()),
        why=" ".join(entry["why"].split()),
        choices=tuple(_choice(choice, order) for choice in entry["choices"]),
        run=Run(one[0], entry[one[0]], entry.get("launch", 1), order) if one else None,
        measure=Measure(**measure) if measure else None,
        most=extremes != ["least"],
        exercise=exercise,
    )


def _choice(entry: dict[str, Any], order: str) -> Choice:
    for source in ("kernel", "mistake", "answer"):
        if source in entry:
            return Choice(entry["says"], run=Run(source, entry[source], entry.get("launch", 1), order))
    if "number" in entry:
        return Choice(entry.get("says", ""), number=entry["number"])
    return Choice(entry["says"], finding=entry["finding"])
