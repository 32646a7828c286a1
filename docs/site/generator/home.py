"""The chapters as the first page shows them: a picture, what the chapter is about, what its exercises take."""

import re
from html import escape
from pathlib import Path

from cli import exercises
from cli.workspace import Workspace

from .pages import Page
from .render import Rendered

PLACE = "<!-- chapters -->"

_BAR = re.compile(r'<rect class="(\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx="2"><title>')
"""A measured bar of docs/figures: what has a tip."""


def cards(root: Path, rendered: list[Rendered]) -> str:
    """A link for each chapter, with its first figure, its exercises and their minutes."""
    given = exercises.all_exercises(Workspace(root, root / "build"))
    parts = []
    for result in rendered:
        if result.page.chapter is None:
            continue
        own = [each.minutes for each in given if each.chapter.number == result.page.chapter]
        count = f"{len(own)} exercise{'s' if len(own) != 1 else ''}, {sum(own)} minutes" if own else ""
        picture = _picture(result.page)
        parts.append(
            f'<li><a class="card" href="{result.page.file}" data-chapter="{result.page.name}">'
            f'<b>{escape(result.page.label)}</b>{picture}<small>{count}</small><small class="progress"></small></a></li>'
        )
    forget = '<p><button type="button" class="forget" hidden>Forget what I have read and answered</button></p>'
    return f'<ul class="cards">{"".join(parts)}</ul>{forget}'


def _picture(page: Page) -> str:
    """
    The bars of the chapter's first figure, and the figure's title. Its numbers are in the chapter: a card has no room for words that
    somebody could read. So the bars fill the card, each way as far as it has room.
    """
    text = page.source.read_text("utf-8")
    at = text.partition(".svg)")[0].rpartition("](")[2]
    path = (page.source.parent / f"{at}.svg").resolve()
    if not at or not path.exists():
        return ""
    figure = path.read_text("utf-8")
    bars = [(each[1], *map(float, each.groups()[1:])) for each in _BAR.finditer(figure)]
    title = re.search(r"<title>(.*?)</title>", figure)
    if not bars or not title:
        return ""
    left, top = (min(bar[n] for bar in bars) for n in (1, 2))
    right, bottom = (max(bar[n] + bar[n + 2] for bar in bars) for n in (1, 2))
    shapes = "".join(
        f'<rect class="{kind}" x="{x - left:g}" y="{y - top:g}" width="{width:g}" height="{height:g}"/>' for kind, x, y, width, height in bars
    )
    return (
        f'<svg class="thumb" viewBox="0 0 {right - left:g} {bottom - top:g}" preserveAspectRatio="none" aria-hidden="true">{shapes}</svg>'
        f'<span class="thumb-title">{title[1]}</span>'
    )
