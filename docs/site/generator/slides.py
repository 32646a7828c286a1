"""Slides: one HTML file for each plan of docs/listings/syllabi.toml, made of what the chapters weave.

A talk shows the figures, kernels, outputs and tables of the chapter that it names, as many as its minutes allow; the others
stand behind the last slide, without those of the appendix. An exercise is a slide with its task and a clock.
"""

import base64
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from cli import chapters, exercises
from cli.chapters import Chapter
from cli.exercises import Exercise
from cli.workspace import Workspace
from markdown_it import MarkdownIt

from . import highlight
from .pages import SiteError

PER_MINUTE = 0.7
"""Slides of a talk."""
_RANK = {"figure": 0, "code": 1, "mistake": 2, "output": 2, "captured": 2, "measured": 3, "counters": 4, "ptx": 5, "sass": 5}
"""Which blocks are shown first where a talk has no time for all."""
_MOST_LINES = 20
_MOST_ROWS = 11
_MOST_COLUMNS = 8
_SPREAD = ("least", "lower quartile", "upper quartile", "repetitions")
"""How columns begin that are left out of a wide table."""
_LONGEST_LEAD = 260
_LONGEST_LIST = 800
"""In characters."""
_KINDS = {"fill": "fill in", "write": "write", "find-the-mistake": "find the mistake", "project": "project"}

_MARK = re.compile(r"^<!-- ([a-z]+): (.*\S) -->$")
_IMAGE = re.compile(r"^!\[(.*?)\]\((\S+?)\)$", re.DOTALL)
_CHAPTERS = re.compile(r"\b[Cc]hapter (\d+)")
_SENTENCES = re.compile(r"(?<=[.:?!])\s+(?=[A-Z`*\"])")


@dataclass(frozen=True)
class Block:
    """A figure or a woven block of a chapter, with where it stands and the sentence that leads to it."""

    kind: str
    heading: str
    lead: str
    text: str
    origin: str = ""


def plan_names(root: Path) -> list[str]:
    return list(_plans(root))


def file_name(plan: str) -> str:
    """Where a plan's deck is on the site."""
    return f"slides/{plan}.html"


def _plans(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "docs" / "listings" / "syllabi.toml").read_text("utf-8"))


def deck(root: Path, name: str, *, back: str = "") -> str:
    """The whole file; on the site with a link `back`. Raises SiteError for a plan or an exercise that does not exist."""
    plans = _plans(root)
    if name not in plans:
        raise SiteError(f"there is no plan '{name}'; there are {', '.join(plans)}")
    slides = _Deck(root, Workspace(root, root / "build")).slides(plans[name]["slots"], name)
    theme = root / "docs" / "site" / "theme"
    title = escape(f"Hopper Async Workbook: {name.replace('_', ' ')}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1, minimum-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{(theme / 'slides.css').read_text('utf-8')}</style></head>\n<body>\n"
        + "\n".join(slides)
        + _bar(back)
        + f"\n<script>\n{(theme / 'slides.js').read_text('utf-8')}</script>\n</body></html>\n"
    )


class _Deck:
    def __init__(self, root: Path, workspace: Workspace) -> None:
        self.root = root
        self.workspace = workspace
        self.chapters = {chapter.number: chapter for chapter in chapters.all_chapters(workspace)}
        self.exercises = {exercise.name: exercise for exercise in exercises.all_exercises(workspace)}
        self.markdown = MarkdownIt("commonmark", {"html": False}).enable("table")

    def slides(self, slots: Sequence[Mapping[str, Any]], name: str) -> list[str]:
        result: list[str] = []
        more: list[str] = []
        clock = 0
        result.append(self._title("Hopper Async Workbook", name.replace("_", " "), "", "cover"))
        for slot in slots:
            when = f"{clock // 60}:{clock % 60:02}"
            if "exercise" in slot:
                if (exercise := self.exercises.get(slot["exercise"])) is None:
                    raise SiteError(f"{name}: there is no exercise '{slot['exercise']}'")
                result.append(self._exercise(exercise, when))
                clock += exercise.minutes
                continue
            clock += slot["minutes"]
            if "pause" in slot:
                result.append(self._title(slot["pause"], f"{slot['minutes']} minutes", when, "pause", slot["minutes"]))
                continue
            result.append(self._title(slot["talk"], f"{slot['minutes']} minutes", when, "talk"))
            for number in dict.fromkeys(map(int, _CHAPTERS.findall(slot["talk"]))):
                shown, left = self._talk(self.chapters[number], int(slot["minutes"] * PER_MINUTE))
                result += shown
                more += left
        if more:
            more.insert(0, self._title("More from the chapters", "what the talks had no time for", "", "cover"))
        return result + [slide.replace('class="', 'class="more ', 1) for slide in more]

    def _talk(self, chapter: Chapter, room: int) -> tuple[list[str], list[str]]:
        """The slides of a chapter: those that there is room for, and the others, in the chapter's order."""
        text = (self.root / "chapters" / chapter.directory / "README.md").read_text("utf-8")
        place = f"Chapter {chapter.number}"
        shown = [self._title(chapter.title(self.workspace), place, "", "chapter")]
        for learn in _list_under(text, "What you will learn"):
            shown.append(self._frame("What you will learn", self.markdown.render(_unlinked(learn)), place))
        found = list(blocks(text.partition("\n## Appendix")[0]))
        best = sorted(range(len(found)), key=lambda at: (_RANK[found[at].kind], at))[: max(0, room - len(shown))]
        left: list[str] = []
        for at, block in enumerate(found):
            (shown if at in best else left).extend(self._block(block, chapter, place))
        return shown, left

    def _block(self, block: Block, chapter: Chapter, place: str) -> Iterator[str]:
        """One slide, or several where it is long."""
        lead = self._inline(block.lead, "p") if block.lead else ""
        if block.kind == "figure":
            yield self._frame(block.heading, lead + self._figure(block, chapter), place, "figure")
            return
        parts = _parts(block)
        for number, part in enumerate(parts, 1):
            heading = block.heading + (f" ({number} of {len(parts)})" if len(parts) > 1 else "")
            if part.startswith("```"):
                language, _, listing = part[3:].partition("\n")
                rows = highlight.lines(listing.removesuffix("\n```"), language.strip())
                body = '<pre class="listing">' + "\n".join(rows) + "</pre>"
            else:
                body = f'<div class="table">{_breakable(self.markdown.render(_unlinked(part)))}</div>'
            origin = f'<div class="origin">{escape(block.origin)}</div>' if block.origin else ""
            yield self._frame(heading, (lead if number == 1 else "") + body + origin, place, block.kind)

    def _figure(self, block: Block, chapter: Chapter) -> str:
        path = (self.root / "chapters" / chapter.directory / block.text).resolve()
        try:
            data = base64.b64encode(path.read_bytes()).decode("ascii")
        except OSError as error:
            raise SiteError(f"{path}: {error.strerror}") from None
        return f'<div class="picture"><img alt="{escape(block.origin)}" src="data:image/svg+xml;base64,{data}"></div>'

    def _exercise(self, exercise: Exercise, when: str) -> str:
        try:
            said = specification(exercise.skeleton(self.workspace).read_text("utf-8"))
        except OSError as error:
            raise SiteError(f"{exercise.name}: {error.strerror}") from None
        rows = "".join(f"<dt>{escape(word)}</dt>{self._inline(text, 'dd')}" for word, text in said)
        body = (
            f'<p class="kind">{_KINDS[exercise.kind]}, {exercise.minutes} minutes</p>'
            f"{self._inline(exercise.task, 'p')}<dl>{rows}</dl>"
            f'<div class="start"><button class="clock" data-minutes="{exercise.minutes}">{exercise.minutes}:00</button>'
            f"<pre>./workbook watch {exercise.name}</pre>"
            '<p class="soft">Read the report before you ask. There are three hints.</p></div>'
        )
        return self._frame(f"`{exercise.name}`: {exercise.title}", body, when, "exercise")

    def _title(self, words: str, below: str, when: str, kind: str, minutes: int = 0) -> str:
        clock = f'<button class="clock" data-minutes="{minutes}">{minutes}:00</button>' if minutes else ""
        body = f"{self._inline(words, 'h1')}<p>{escape(below)}</p>{clock}"
        return f'<section class="title {kind}" aria-label="{escape(_plain(words))}"><div class="body">{body}</div>{_foot(when)}</section>'

    def _frame(self, heading: str, body: str, place: str, kind: str = "") -> str:
        label = escape(_plain(heading))
        return (
            f'<section class="{kind}" aria-label="{label}">{self._inline(heading, "h2")}'
            f'<div class="body">{body}</div>{_foot(place)}</section>'
        )

    def _inline(self, text: str, tag: str) -> str:
        return f"<{tag}>{self.markdown.renderInline(_unlinked(text))}</{tag}>"


def counts(deck: str) -> tuple[int, int]:
    """The slides of a deck: those of its plan, and those behind them."""
    more = deck.count('<section class="more ')
    return deck.count("<section ") - more, more


def _bar(back: str) -> str:
    """The buttons below a slide, and what keys there are: nobody else says it, and a phone has none."""
    link = f'<a href="{escape(back)}">Site</a>' if back else ""
    return (
        '\n<p class="hint" id="hint" hidden>Click, tap or swipe: next; the left quarter, or a swipe to the right: back.'
        "<span class='keys'><br><kbd>→</kbd> next, <kbd>←</kbd> back, number and <kbd>Enter</kbd>: that slide, <kbd>T</kbd> the clock, "
        "<kbd>F</kbd> the whole screen, <kbd>?</kbd> this help.</span></p>"
        '\n<nav class="bar" aria-label="Slides" hidden><button type="button" class="back">‹ Back</button><span class="at"></span>'
        '<button type="button" class="next">Next ›</button>'
        f'<button type="button" class="help" aria-label="Help" aria-controls="hint" aria-expanded="false">?</button>{link}</nav>'
    )


def _breakable(html: str) -> str:
    """Where a cell may go on in the next line: a long name behind an underscore, and nowhere else; a product nowhere."""
    return re.sub(r"(?<=[A-Za-z0-9])_(?=\w)(?![^<>]*>)", "_<wbr>", html).replace(" × ", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}")


def _foot(words: str) -> str:
    return f'<footer><span>{escape(words)}</span><span class="number"></span></footer>'


def _plain(text: str) -> str:
    return text.replace("`", "").replace("*", "")


def _unlinked(text: str) -> str:
    """Links become their words: a deck is one file, and what they lead to is not in it."""
    return re.sub(r"(?<!!)\[((?:[^\[\]]|`[^`]*`)+)\]\([^)\s]*\)", r"\1", text)


def specification(skeleton: str) -> list[tuple[str, str]]:
    """The paragraphs of an exercise's head that begin with Given, Wanted and the like."""
    head = re.match(r"(?:///.*\n)*", skeleton)
    lines = [line.removeprefix("///") for line in head[0].splitlines()] if head else []
    result: list[tuple[str, str]] = []
    for line in lines:
        if match := re.match(r" (Given|Wanted|Missing) +(.*)", line):
            result.append((match[1], match[2]))
        elif result and line.startswith("    "):
            result[-1] = (result[-1][0], f"{result[-1][1]} {line.strip()}")
        else:
            if re.match(r" [A-Z][a-z]+  ", line):
                break
    return result


def _list_under(text: str, heading: str) -> list[str]:
    """The first list below a heading, in parts that fit a slide."""
    match = re.search(rf"^## {re.escape(heading)}\n+((?:[-*] .*\n(?:  .*\n)*)+)", text, re.MULTILINE)
    items = re.findall(r"^[-*] .*\n(?:  .*\n)*", match[1], re.MULTILINE) if match else []
    parts: list[str] = []
    for item in items:
        if parts and len(_unlinked(parts[-1] + item)) <= _LONGEST_LIST:
            parts[-1] += item
        else:
            parts.append(item)
    return parts


def blocks(text: str) -> Iterator[Block]:
    """The figures and woven blocks of a chapter, in order."""
    heading = lead = ""
    for paragraph in _paragraphs(text):
        first = paragraph.split("\n", 1)[0]
        if match := _MARK.match(first):
            if match[1] in _RANK:
                content = re.sub(r"\n*<!-- end -->$", "", paragraph.partition("\n")[2]).strip("\n")
                origin = f"{match[2].split()[0]}" if match[1] == "code" else ""
                yield Block(match[1], heading, lead, content, origin)
                lead = ""
        elif match := _IMAGE.match(paragraph):
            yield Block("figure", heading, lead, match[2], " ".join(match[1].split()))
            lead = ""
        elif first.startswith("#"):
            heading, lead = first.lstrip("#").strip(), ""
        elif not first.startswith(("|", "<", "```", "- ", "* ", "1.", ">")):
            lead = _last_sentences(" ".join(paragraph.split()))


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs; a fence is one, and so is a mark with all that it encloses."""
    current: list[str] = []
    until = ""
    for line in [*text.split("\n"), ""]:
        if until:
            current.append(line)
            if line.strip() != until:
                continue
            until = ""
        elif (match := _MARK.match(line)) and match[1] in _RANK:
            if current:
                yield "\n".join(current)
            current, until = [line], "<!-- end -->"
            continue
        elif line.startswith("```") and not current:
            current, until = [line], "```"
            continue
        elif line.startswith("#") and not current:
            current = [line]
        elif line.strip():
            current.append(line)
            continue
        if current:
            yield "\n".join(current)
        current = []


def _last_sentences(text: str) -> str:
    """The end of a paragraph: what leads to the block behind it."""
    kept = ""
    for sentence in reversed(_SENTENCES.split(text)):
        if kept and len(_unlinked(sentence)) + len(_unlinked(kept)) > _LONGEST_LEAD:
            break
        kept = f"{sentence} {kept}".strip()
    return kept


def _parts(block: Block) -> list[str]:
    """A block in pieces that fit a slide: fences by lines, tables by rows."""
    text = block.text
    if text.startswith("```"):
        fence, *body = text.split("\n")
        return [f"{fence}\n{piece}\n```" for piece in _pieces(body[:-1])]
    text = _narrower(text)
    before, *rows = _table(text)
    if len(rows) <= _MOST_ROWS:
        return [text]
    count = -(-len(rows) // _MOST_ROWS)
    size = -(-len(rows) // count)
    parts = [before + "\n".join(rows[at : at + size]) for at in range(0, len(rows), size)]
    return [*parts[:-1], parts[-1] + "\n" + text.rpartition("\n|")[2].partition("\n")[2]]


def _narrower(text: str) -> str:
    """A wide table without the columns that a room cannot follow: how far the measurements spread."""
    lines = text.split("\n")
    head = next((line for line in lines if line.startswith("|")), "")
    cells = [cell.strip() for cell in head.strip("|").split("|")]
    if len(cells) <= _MOST_COLUMNS:
        return text
    kept = [n for n, cell in enumerate(cells) if not cell.startswith(_SPREAD)]

    def narrowed(line: str) -> str:
        parts = re.split(r"(?<!\\)\|", line.strip().strip("|"))
        if not line.startswith("|") or len(parts) != len(cells):
            return line
        return "|" + "|".join(parts[n] for n in kept) + "|"

    return "\n".join(map(narrowed, lines))


def _table(text: str) -> list[str]:
    """What stands above a table's rows, its head included, and then the rows; a text without one is all 'above'."""
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if re.match(r"^\|[\s:|-]+\|$", line)), None)
    if at is None:
        return [text]
    rows = [line for line in lines[at + 1 :] if line.startswith("|")]
    return ["\n".join(lines[: at + 1]) + "\n", *rows]


def _pieces(lines: list[str]) -> list[str]:
    """Lines cut so that no piece is long: at an empty line where there is one in the second half."""
    shared = textwrap.dedent("\n".join(lines)).split("\n")
    result = []
    while len(shared) > _MOST_LINES:
        half = _MOST_LINES // 2
        cut = next((n for n in range(_MOST_LINES, half, -1) if not shared[n].strip()), _MOST_LINES)
        result.append("\n".join(shared[:cut]))
        shared = shared[cut:]
        while shared and not shared[0].strip():
            shared = shared[1:]
    return [*result, "\n".join(shared)]
