"""What a reader does on a chapter's page: predictions where the text asks for them, and the exercises at its end.

Exercises come from their own files: manifest, skeleton, solution and analysis. Nothing of them is written twice.
"""

import re
from collections.abc import Callable
from html import escape
from pathlib import Path

from cli import analyses, answers, exercises, holes, predicted, predictions
from cli.chapters import Chapter
from cli.desk import Desk
from cli.errors import UserError
from cli.exercises import Exercise
from cli.predictions import Choice, Prediction
from cli.workspace import Workspace

from . import highlight
from .pages import Page, SiteError

_KINDS = {"fill": "fill in", "write": "write", "find-the-mistake": "find the mistake", "project": "project"}
_OPEN_LINES = 48
"""Of a skeleton that is shown unfolded."""
_CONTEXT = 2
"""Lines of a solution around what is new in it."""
_MARKED = "\x01"
"""At the end of a line of a listing: it is the learner's, or fills a hole."""

Markdown = Callable[[str], str]
"""Text in Markdown as HTML, without the paragraph's own element."""


class Tasks:
    """The exercises and predictions of all chapters."""

    def __init__(self, root: Path, markdown: Markdown, *, solutions: bool = True) -> None:
        self._workspace, self._markdown, self._solutions = Workspace(root, root / "build"), markdown, solutions
        try:
            self._exercises = exercises.all_exercises(self._workspace)
        except UserError as error:
            raise SiteError(str(error)) from None
        self._placed: set[str] = set()

    def _predictions(self, page: Page) -> dict[str, Prediction]:
        try:
            found = predictions.of_chapter(self._workspace, Chapter(page.source.parent.name))
        except UserError as error:
            raise SiteError(str(error)) from None
        return {each.name: each for each in found}

    # ---- Predictions.

    def prediction(self, page: Page, name: str) -> str:
        """The question of this name, for its place in the text. Raises SiteError if there is none."""
        asked = self._predictions(page).get(name) if page.chapter else None
        if asked is None or asked.exercise:
            raise SiteError(f"{page.source}: there is no prediction '{name}' for the text")
        return self._question(asked)

    def _question(self, asked: Prediction) -> str:
        choices = "".join(self._choice(asked, i, choice) for i, choice in enumerate(asked.choices))
        place = f"predict-{asked.name}"
        title = "Which answer passes?" if asked.exercise else "Predict, then run"
        return (
            f'<form class="predict" id="{place}" data-prediction="{asked.name}" data-chapter="{asked.chapter.name}">'
            f"<fieldset><legend><b>{title}</b> {self._markdown(asked.question)}</legend>{choices}</fieldset>"
            '<p class="predict-bar"><button type="submit">Run and see</button>'
            "<noscript>A page without JavaScript runs nothing: "
            f"<code>python3 docs/predictions.py {asked.chapter.name}</code> says what comes out.</noscript></p>"
            '<div class="predict-outcome" role="status"></div>'
            f'<details class="predict-why"><summary>Why</summary><p>{self._markdown(asked.why)}</p></details></form>\n'
        )

    def _choice(self, asked: Prediction, number: int, choice: Choice) -> str:
        words = self._markdown(asked.words(choice))
        name = f"predict-{asked.name}"
        code = self._filling(asked, choice) if choice.run and choice.run.source == "answer" else ""
        return (
            f'<div class="predict-choice"><label><input type="radio" name="{name}" value="{number}" required> '
            f"<span>{words}</span></label>{code}</div>"
        )

    def _filling(self, asked: Prediction, choice: Choice) -> str:
        """What the answer has in the exercise's holes, if that is all of it."""
        exercise = next(each for each in self._exercises if each.name == asked.exercise)
        assert choice.run is not None
        texts: tuple[str, ...] = ()
        if choice.run.name in ("solution", "skeleton"):
            source = exercise.solution(self._workspace).read_text("utf-8")
            texts = holes.contents(source, for_learner=choice.run.name == "skeleton")
        else:
            given = predicted.answer_texts(self._workspace, exercise).get(choice.run.name)
            if given is None:
                raise SiteError(f"{asked.name}: {asked.exercise} has no answer '{choice.run.name}'")
            texts = given.holes
        code = "\n…\n".join(text.strip("\n") for text in map(_unindented, texts))
        code = re.sub(r"^\s*// YOUR CODE.*\n|\s*// YOUR CODE.*$", "", code, flags=re.MULTILINE)
        return highlight.fragment(code, "cuda") if code.strip() else ""

    # ---- Exercises.

    def beginning(self) -> str:
        """How one begins an exercise, for a reader who has only the site."""
        shown = "the hints and the solutions" if self._solutions else "and the hints"
        return (
            '<p class="exercise-begin"><b>To begin</b>, make a clone of the repository (<a href="setup.html">Setup</a>), and type '
            "<code>./workbook check NAME</code> there. Your copy is then <code>workspace/NAME.cu</code>, for any editor. Or write in the browser: "
            "<code>./workbook site --serve</code> serves this book from your clone, and gives each exercise an editor with a button that checks.</p>\n"
            "<p><b>If you cannot have a clone</b>, the exercises are for reading and thinking: the files, the questions, "
            f'{shown} are below. A clone needs no GPU. It works on Linux, on Windows by WSL, and on a Mac in a container '
            '(<a href="setup.html#setup-systems">systems</a>).</p>\n'
        )

    def sections(self, page: Page) -> list[tuple[str, str, str]]:
        """Of each exercise of the chapter its name, its title and its HTML."""
        if not page.chapter:
            return []
        asked = [each for each in self._predictions(page).values() if each.exercise]
        mine = [each for each in self._exercises if each.chapter.directory == page.source.parent.name]
        found = []
        for exercise in mine:
            questions = "".join(self._question(each) for each in asked if each.exercise == exercise.name)
            found.append((exercise.name, exercise.title, self._exercise(exercise, questions)))
        return found

    def _exercise(self, exercise: Exercise, questions: str) -> str:
        source = exercise.solution(self._workspace).read_text("utf-8")
        about, code = _parted(_with_marks(source, for_learner=True))
        parts = [
            f'<div class="exercise" data-exercise="{exercise.name}"><p class="exercise-about">{_KINDS[exercise.kind]}, {exercise.minutes} minutes · '
            f"<code>./workbook check {exercise.name}</code> · your file: <code>{Desk(self._workspace).shown(exercise)}</code></p>",
            "<dl>" + "".join(f"<dt>{escape(word)}</dt><dd>{self._said(text)}</dd>" for word, text in about) + "</dl>",
            self._skeleton(exercise, code),
            questions,
            self._hints(exercise),
        ]
        if self._solutions:
            parts.append(self._solution(exercise, source))
        return "".join([*parts, "</div>\n"])

    def _said(self, text: str) -> str:
        """A comment's text, with steps that are numbered in it on lines of their own."""
        return re.sub(r"(?<=[:;.,]) (?=\d\. )", "<br>", self._markdown(_marked_code(text)))

    def _skeleton(self, exercise: Exercise, code: str) -> str:
        count = code.count("\n") + 1
        opened = " open" if count <= _OPEN_LINES else ""
        return (
            f'<details class="skeleton"{opened}><summary>The file as you get it, {count} lines; what is yours is marked</summary>'
            f"{_listing(code)}</details>"
        )

    def _hints(self, exercise: Exercise) -> str:
        """Each hint within the one before it, so that they are opened one by one."""
        inner = ""
        for number, hint in reversed(list(enumerate(exercise.hints, 1))):
            said = f"<p>{self._markdown(_marked_code(hint))}</p>"
            inner = f'<details class="hint"><summary>Hint {number} of {len(exercise.hints)}</summary>{said}{inner}</details>'
        return inner

    def _solution(self, exercise: Exercise, source: str) -> str:
        _, code = _parted(_with_marks(source, for_learner=False))
        try:
            analysis = analyses.of(self._workspace, exercise)
        except UserError as error:
            raise SiteError(str(error)) from None
        text = "".join(f"<p>{self._markdown(part)}</p>" for part in analysis.paragraphs)
        return (
            f'<details class="solution"><summary>Solution, and why it is one</summary>{_listing(_excerpt(code))}'
            f'<div class="analysis">{text}</div></details>'
        )


def _with_marks(source: str, *, for_learner: bool) -> str:
    """The skeleton or the solution, with a mark at the end of the lines in holes."""
    filled = holes.skeleton if for_learner else holes.solution
    inside, lines = False, []
    for line in source.splitlines():
        word = line.strip()
        if word in ("//@ hole", "//@ end"):
            inside = word == "//@ hole"
        elif inside and word:
            line += _MARKED
        lines.append(line)
    return filled("\n".join(lines))


def _parted(text: str) -> tuple[list[tuple[str, str]], str]:
    """What the comment at the head of an exercise says under each of its words, and the code behind it."""
    lines = text.split("\n")
    end = next(i for i, line in enumerate(lines) if not line.startswith("///"))
    about: list[tuple[str, str]] = []
    for line in lines[:end]:
        said = line.removeprefix("///")
        if match := re.match(r" ([A-Z][a-z]+) {2,}(\S.*)", said):
            about.append((match[1], match[2]))
        elif about and said.strip():
            about[-1] = (about[-1][0], f"{about[-1][1]} {said.strip()}")
    return about, "\n".join(lines[end:]).strip("\n")


def _marked_code(hint: str) -> str:
    """Hints are read in a terminal, too: signs that Markdown would take for its own stay as they are, but for code."""
    parts = hint.split("`")
    return "`".join(part if i % 2 else re.sub(r"([*_<>\[\]])", r"\\\1", part) for i, part in enumerate(parts))


def _listing(code: str) -> str:
    """A listing in which the marked lines are marked."""
    marked = [line.endswith(_MARKED) for line in code.split("\n")]
    html = highlight.fragment(code.replace(_MARKED, ""), "cuda")
    rows = iter(marked)
    return re.sub(r'<div class="line">', lambda _: f'<div class="line{" hole" if next(rows, False) else ""}">', html)


def _excerpt(code: str) -> str:
    """The marked lines and a few around them."""
    lines = code.split("\n")
    near = {i + d for i, line in enumerate(lines) if line.endswith(_MARKED) for d in range(-_CONTEXT, _CONTEXT + 1)}
    shown: list[str] = []
    for i, line in enumerate(lines):
        if i in near:
            if shown and i - 1 not in near:
                shown.append("…")
            shown.append(line)
    return "\n".join(shown).strip("\n") or code


def _unindented(text: str) -> str:
    """Without the spaces that all lines begin with."""
    lines = text.strip("\n").split("\n")
    spaces = min((len(line) - len(line.lstrip()) for line in lines[1 if lines[0] == lines[0].lstrip() else 0 :] if line.strip()), default=0)
    return "\n".join(line[spaces:] if line[:spaces].isspace() else line for line in lines)
