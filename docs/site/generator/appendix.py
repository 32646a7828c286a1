"""A chapter's appendix: what one looks up stands folded below its heading, so that the chapter ends where its story ends."""

import re
from collections.abc import Sequence
from typing import Protocol

TITLE = "Appendix"


class Part(Protocol):
    """What a heading of a page has below it."""

    title: str
    level: int
    html: str


def fold(sections: Sequence[Part]) -> None:
    """
    Folds each part of the appendix. What is folded inside of a part stands open: one click is enough. An interactive picture
    needs to know how wide it is, so a part that has one is not folded.
    """
    inside = False
    for section in sections:
        if section.level == 2:
            inside = section.title == TITLE
        elif inside and section.html.strip() and "data-picture=" not in section.html:
            html = section.html.replace('<details class="fold">', '<details class="fold" open>')
            section.html = f'<details class="fold part"><summary>Show: {_contents(html)}</summary>\n{html}\n</details>'


def _contents(html: str) -> str:
    """What waits behind the click: text, 2 tables, 1 listing."""
    kinds = (("table", r"<table"), ("listing", r'class="fragment"'), ("picture", r"<img |<svg"))
    counted = [(name, len(re.findall(pattern, html))) for name, pattern in kinds]
    named = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in counted if count]
    return ", ".join(["text", *named])
