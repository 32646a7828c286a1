"""A room's grades as text in 80 columns, as CSV and as one HTML page."""

import csv
import html
import io
import textwrap
from typing import Any

from . import grading
from .exercises import Exercise
from .grading import MISSING, RIGHT, UNTOUCHED, WRONG, Learner, Mark, Room

_WIDTH = 80
_MARKS = {RIGHT: "+", WRONG: "x", UNTOUCHED: "-", MISSING: "."}
_LEGEND = "+ right   x wrong   - not begun   . no file"
_LONGEST_NAME = 17
_MOST_REASONS = 3


# ---- text ----


def text(room: Room) -> str:
    """One learner: a line for each file. Several: learners × exercises, what is wrong in each, and who did nothing."""
    if len(room.learners) == 1 and not room.learners[0].name:
        return "\n".join(_single(room.learners[0], room))
    return "\n".join([*_matrix(room), "", *_by_exercise(room), *_idle(room), *_notes(room)])


def _single(learner: Learner, room: Room) -> list[str]:
    width = max(len(e.name) for e in room.exercises)
    lines = []
    for exercise in room.exercises:
        mark = learner.mark(exercise)
        word = {RIGHT: "ok", WRONG: "wrong", UNTOUCHED: "-", MISSING: "-"}[mark.state]
        said = "not begun" if mark.state == UNTOUCHED else mark.reason
        lines.append(_cut(f"  {exercise.name:{width}}  {word:5}  {said}".rstrip()))
    return [*lines, f"{learner.count(RIGHT)} of {_handed_in(learner)} are right"]


def _handed_in(learner: Learner) -> int:
    return learner.count(RIGHT) + learner.count(WRONG)


def _groups(room: Room) -> list[list[Exercise]]:
    """The exercises by chapter."""
    chapters = dict.fromkeys(e.chapter for e in room.exercises)
    return [[e for e in room.exercises if e.chapter == chapter] for chapter in chapters]


def _matrix(room: Room) -> list[str]:
    groups = _groups(room)
    width = min(_LONGEST_NAME, max(len("chapter"), *(len(learner.name or ".") for learner in room.learners)))
    head = " ".join(f"{group[0].chapter.number:<{_room_for(group)}}" for group in groups)
    lines = [f"{'chapter':{width}}  {head}  right  tries  hints"]
    for learner in room.learners:
        marks = " ".join("".join(_MARKS[learner.mark(e).state] for e in group).ljust(_room_for(group)) for group in groups)
        records = [mark.record for mark in learner.marks.values()]
        tries, hints = sum(r.checks for r in records), sum(r.hints for r in records)
        right = f"{learner.count(RIGHT)}/{_handed_in(learner)}"
        lines.append(f"{_name(learner.name, width):{width}}  {marks}  {right:>5}  {tries:5}  {hints:5}")
    return [*lines, _LEGEND]


def _room_for(group: list[Exercise]) -> int:
    return max(len(group), len(str(group[0].chapter.number)))


def _name(name: str, width: int) -> str:
    name = name or "."
    return name if len(name) <= width else name[: width - 1] + "…"


def _by_exercise(room: Room) -> list[str]:
    width = max(len("exercise"), *(len(e.name) for e in room.exercises))
    lines = [f"{'exercise':{width}}  right  wrong  nothing  tries  hints"]
    for exercise in room.exercises:
        right, wrong = (grading.total(room, exercise, state) for state in (RIGHT, WRONG))
        tries, hints = grading.effort(room, exercise)
        nothing = len(room.learners) - right - wrong
        lines.append(f"{exercise.name:{width}}  {right:5}  {wrong:5}  {nothing:7}  {tries:5}  {hints:5}")
        found = list(grading.mistakes(room, exercise))
        for said, names in found[:_MOST_REASONS]:
            lines += _wrapped(f"{len(names)} × {said}: {', '.join(names)}")
        if len(found) > _MOST_REASONS:
            lines.append(f"    and {len(found) - _MOST_REASONS} other mistakes (--csv FILE has them all)")
    return lines


def _wrapped(said: str) -> list[str]:
    return textwrap.wrap(
        said, _WIDTH, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False, max_lines=3
    )


def _idle(room: Room) -> list[str]:
    names = [learner.name or "." for learner in room.idle]
    if not names:
        return []
    words = f"Handed in nothing ({len(names)}): {', '.join(names)}"
    return ["", *textwrap.wrap(words, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)]


def _notes(room: Room) -> list[str]:
    return [_cut(f"note: {learner.name}: {learner.note}") for learner in room.learners if learner.note]


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


# ---- for programs ----


def report(directory: str, room: Room) -> dict[str, Any]:
    """What --json prints."""
    return {
        "schema": 1,
        "directory": directory,
        "learners": [
            {
                "name": learner.name,
                "right": learner.count(RIGHT),
                "wrong": learner.count(WRONG),
                "note": learner.note,
                "results": {
                    name: {
                        "state": mark.state,
                        "passed": mark.state == RIGHT,
                        "stage": mark.stage,
                        "reason": mark.reason,
                        "diagnostic": mark.finding or None,
                        "checks": mark.record.checks,
                        "hints": mark.record.hints,
                        "solution_asked": mark.record.solution_asked,
                    }
                    for name, mark in learner.marks.items()
                },
            }
            for learner in room.learners
        ],
    }


_COLUMNS = (
    *("learner", "chapter", "exercise", "state", "stage", "finding", "reason"),
    *("tries", "hints", "solution_asked", "solved"),
)


def as_csv(room: Room) -> str:
    """A row for each learner and exercise."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for learner in room.learners:
        for exercise in room.exercises:
            mark = learner.mark(exercise)
            record = mark.record
            row = [learner.name, exercise.chapter.number, exercise.name, mark.state, mark.stage, mark.finding, mark.reason]
            row += [record.checks, record.hints, "yes" if record.solution_asked else "no", record.solved]
            writer.writerow([_harmless(value) for value in row])
    return out.getvalue()


def _harmless(value: object) -> object:
    """A cell that no spreadsheet takes for a formula: names and words come from strangers."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


# ---- HTML ----

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --right: #1a7f37; --wrong: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --right: #3fb950; --wrong: #ff7b72; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left; vertical-align: top; }
.names th { writing-mode: vertical-rl; transform: rotate(180deg); font-weight: normal; padding: .5rem .15rem; }
td.mark { text-align: center; font-family: ui-monospace, monospace; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.right { color: var(--right); } .wrong { color: var(--wrong); font-weight: bold; }
code { font-family: ui-monospace, monospace; }
"""


def as_html(room: Room, heading: str) -> str:
    """One page that needs nothing else."""
    e = html.escape
    idle = ", ".join(e(learner.name or ".") for learner in room.idle) or "nobody"
    notes = "".join(f"<p>{e(learner.name)}: {e(learner.note)}</p>" for learner in room.learners if learner.note)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{e(heading)}</title><style>{_STYLE}</style></head>\n<body><h1>{e(heading)}</h1>\n"
        f"<p><code>{e(_LEGEND)}</code></p>\n{_html_matrix(room)}\n"
        f"<p>Handed in nothing: {idle}</p>{notes}\n<h2>By exercise</h2>\n{_html_exercises(room)}\n"
        f"<h2>By learner</h2>\n{_html_learners(room)}\n</body></html>\n"
    )


def _html_matrix(room: Room) -> str:
    groups = _groups(room)
    chapters = "".join(f'<th colspan="{len(group)}">{group[0].chapter.number}</th>' for group in groups)
    names = "".join(f'<th scope="col">{html.escape(e.name)}</th>' for e in room.exercises)
    rows = []
    for learner in room.learners:
        records = [mark.record for mark in learner.marks.values()]
        numbers = (f"{learner.count(RIGHT)}/{_handed_in(learner)}", sum(r.checks for r in records), sum(r.hints for r in records))
        rows.append(
            f'<tr><th scope="row">{html.escape(learner.name or ".")}</th>'
            + "".join(_html_mark(learner.mark(e), e) for e in room.exercises)
            + "".join(f'<td class="number">{number}</td>' for number in numbers)
            + "</tr>"
        )
    return (
        f'<div class="wide"><table><thead><tr><th>chapter</th>{chapters}<th>right</th><th>tries</th><th>hints</th></tr>'
        f'<tr class="names"><td></td>{names}<td></td><td></td><td></td></tr></thead><tbody>\n'
        + "\n".join(rows)
        + "</tbody></table></div>"
    )


def _html_mark(mark: Mark, exercise: Exercise) -> str:
    said = f"{exercise.name}: {mark.state}" + (f": {mark.reason}" if mark.reason else "")
    return f'<td class="mark {mark.state}" title="{html.escape(said)}">{_MARKS[mark.state]}</td>'


def _html_exercises(room: Room) -> str:
    rows = []
    for exercise in room.exercises:
        right, wrong = (grading.total(room, exercise, state) for state in (RIGHT, WRONG))
        numbers = (right, wrong, len(room.learners) - right - wrong, *grading.effort(room, exercise))
        why = "<br>".join(
            html.escape(f"{len(names)} × {said}: {', '.join(names)}") for said, names in grading.mistakes(room, exercise)
        )
        cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
        title = html.escape(f"{exercise.name}: {exercise.title}")
        rows.append(f'<tr><th scope="row">{title}</th>{cells}<td>{why}</td></tr>')
    head = "".join(f"<th>{word}</th>" for word in ("exercise", "right", "wrong", "nothing", "tries", "hints", "what is wrong"))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n' + "\n".join(rows) + "</tbody></table></div>"


def _html_learners(room: Room) -> str:
    rows = []
    for learner in room.learners:
        for exercise in room.exercises:
            if (mark := learner.mark(exercise)).handed_in:
                cells = (learner.name or ".", exercise.name, mark.state, mark.reason, mark.record.checks, mark.record.hints)
                rows.append("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{word}</th>" for word in ("learner", "exercise", "", "what is wrong", "tries", "hints"))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n' + "\n".join(rows) + "</tbody></table></div>"
