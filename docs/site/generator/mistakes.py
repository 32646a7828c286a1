"""A mistake's listing with what the emulator says of it beside the lines that it is about."""

import re
from html import escape

from . import highlight

_PLACE = re.compile(r"^  --> (?P<file>[^:]+):(?P<line>\d+): (?P<role>.*(?:\n(?!      \||  -->|  what to do).*)*)(?:\n      \| (?P<code>.*))?", re.MULTILINE)


_EXPECT = re.compile(r"\s*// expect(?: \w+)?: \S+")
"""What tells the tests which finding the emulator must tell of a line; beside the finding itself it would say that twice."""


def places(message: str) -> list[tuple[int, str, str]]:
    """What a woven message says of each line: its number, its text, and what happened there."""
    return [
        (int(match["line"]), match["code"].strip(), re.sub(r"\s+", " ", match["role"]))
        for match in _PLACE.finditer(message)
        if match["code"]
    ]


def notes(code: str, first: int, message: str) -> dict[int, list[str]]:
    """By the index of a line of `code`, which begins at line `first` of its file, what the message says of it."""
    texts = [line.strip() for line in code.split("\n")]
    found: dict[int, list[str]] = {}
    for line, text, role in places(message):
        at = line - first if 0 <= line - first < len(texts) and texts[line - first] == text else None
        if at is None and texts.count(text) == 1:  # A listing of several pieces.
            at = texts.index(text)
        if at is not None and role not in found.setdefault(at, []):
            found[at].append(role)
    return found


def annotated(name: str, code: str, origin: str, message: str) -> str:
    """The listing of the mistake `name`, which the page may run; `origin` ends with the number of its first line."""
    code = _EXPECT.sub("", code)
    first = re.search(r"line (\d+)</a>", origin)
    listing = highlight.fragment(code, "cuda", notes(code, int(first[1]) if first else 1, message))
    return f'<div class="mistake" data-mistake="{escape(name)}">{origin}{listing}</div>'
