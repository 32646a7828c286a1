"""The answer key: for each exercise what is asked, what is wrong with the untouched file, how the solution differs, the hints,
an analysis, and the wrong answers that its judge is tested with."""

import difflib
import html
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import analyses, holes
from .errors import UserError
from .exercises import Exercise
from .workspace import Workspace

_ANSWERS = Path("tests", "exercises", "answers")
_KINDS = {"fill": "fill in", "write": "write", "find-the-mistake": "find the mistake", "project": "project"}


@dataclass(frozen=True)
class Entry:
    """One exercise with its answers: `wrong` has what was written and words of the verdict, `right` what else passes;
    `analysis` is why the solution is one, in paragraphs."""

    exercise: Exercise
    difference: str
    analysis: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...]
    right: tuple[str, ...]


def entries(workspace: Workspace, exercises: Sequence[Exercise]) -> list[Entry]:
    return [_entry(workspace, exercise) for exercise in exercises]


def _entry(workspace: Workspace, exercise: Exercise) -> Entry:
    try:
        before = exercise.skeleton(workspace).read_text("utf-8").splitlines()
        after = holes.solution(exercise.solution(workspace).read_text("utf-8")).splitlines()
    except (OSError, UnicodeDecodeError, holes.HoleError) as error:
        raise UserError(f"{exercise.name}: {error}") from None
    wrong, right = _answers(workspace, exercise.name)
    difference = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
    analysis = tuple(analyses.of(workspace, exercise).paragraphs)
    return Entry(exercise, "\n".join(difference), analysis, tuple(wrong), tuple(right))


def _answers(workspace: Workspace, name: str) -> tuple[list[tuple[str, str]], list[str]]:
    """What the judge's tests know of: answers that must fail, with words of their verdict, and others that must pass."""
    data = _read(workspace.root / _ANSWERS / f"{name}.toml")
    wrong = [(str(entry["what"]), str(entry["says"])) for entry in data.get("cheat", [])]
    right = [str(entry["what"]) for entry in data.get("right", [])]
    return wrong, right


def _read(path: Path) -> dict[str, list[dict[str, object]]]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _facts(entry: Entry) -> Iterator[tuple[str, list[str]]]:
    """What is said of an exercise beside the difference: a word and lines, of which several are a list."""
    exercise = entry.exercise
    yield "Task", [exercise.task]
    yield "The untouched file is told", [f"“{exercise.fails_with}”"]
    yield "Why the solution is one", list(entry.analysis)
    yield "Learned", [exercise.learned]
    yield "Hints", [f"{number}. {hint}" for number, hint in enumerate(exercise.hints, 1)]
    if exercise.counters:
        yield "Asked for beside the result", [condition.says for condition in exercise.counters]
    if entry.wrong:
        yield "Wrong answers", [f"{what}: “{says}”" for what, says in entry.wrong]
    if entry.right:
        yield "Right as well", list(entry.right)


def _heading(exercise: Exercise) -> str:
    return f"`{exercise.name}`: {exercise.title} ({_KINDS[exercise.kind]}, {exercise.minutes} minutes)"


def _chapters(found: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    for chapter in dict.fromkeys(entry.exercise.chapter for entry in found):
        mine = [entry for entry in found if entry.exercise.chapter == chapter]
        yield f"Chapter {chapter.number}: {chapter.name}", mine


TITLE = "Answers to the exercises"


def as_markdown(found: Sequence[Entry]) -> str:
    lines = [f"# {TITLE}"]
    for chapter, mine in _chapters(found):
        lines += ["", f"## {chapter}"]
        for entry in mine:
            lines += ["", f"### {_heading(entry.exercise)}"]
            for word, said in _facts(entry):
                if len(said) == 1:
                    lines += ["", f"**{word}:** {said[0]}"]
                else:
                    mark = "" if said[0].startswith("1. ") else "- "
                    lines += ["", f"**{word}:**", "", *(f"{mark}{line}" for line in said)]
            lines += ["", "```diff", entry.difference, "```"]
    return "\n".join(lines) + "\n"


_STYLE = """
:root { color-scheme: light dark; --plain: #8881; --line: #8886; --added: #1a7f3733; --removed: #cf222e33; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h3 { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 2rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .92em; }
pre { background: var(--plain); padding: .6rem; overflow-x: auto; border-radius: 6px; }
pre span { display: block; } .added { background: var(--added); } .removed { background: var(--removed); }
dt { font-weight: bold; margin-top: .6rem; } dd { margin: 0; } ul { margin: 0; padding-left: 1.2rem; list-style: none; }
@media print { h3 { break-after: avoid; } pre { break-inside: avoid; white-space: pre-wrap; } }
"""


def as_html(found: Sequence[Entry]) -> str:
    """One page that needs nothing else."""
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{TITLE}</title><style>{_STYLE}</style></head>\n<body><h1>{TITLE}</h1>"
    ]
    for chapter, mine in _chapters(found):
        parts.append(f"<h2>{html.escape(chapter)}</h2>")
        for entry in mine:
            parts.append(f'<h3 id="{entry.exercise.name}">{_inline(_heading(entry.exercise))}</h3>\n<dl>')
            for word, said in _facts(entry):
                body = _inline(said[0])
                if len(said) > 1:
                    body = "<ul>" + "".join(f"<li>{_inline(line)}</li>" for line in said) + "</ul>"
                parts.append(f"<dt>{html.escape(word)}</dt><dd>{body}</dd>")
            parts.append(f"</dl>\n<pre>{_coloured(entry.difference)}</pre>")
    return "\n".join([*parts, "</body></html>\n"])


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _coloured(difference: str) -> str:
    classes = {"+": ' class="added"', "-": ' class="removed"'}
    lines = difference.split("\n")
    return "".join(f"<span{classes.get(line[:1], '')}>{html.escape(line) or ' '}</span>" for line in lines)
