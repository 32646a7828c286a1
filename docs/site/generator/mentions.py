"""The glossary's "chapter 3" and "chapters 2, 5 and 6" as links, each to where that chapter speaks of the term."""

import re

from .render import Rendered

_LIST = re.compile(r"<a\b.*?</a>|\b(?P<word>chapters?)(?P<gap>\s+)(?P<numbers>\d+(?:(?:,|\s+and)\s+\d+)*)", re.DOTALL)


def link(rendered: list[Rendered]) -> None:
    """Changes the sections of the page 'glossary'; chapters that there are not stay words."""
    chapters = {result.page.chapter: result for result in rendered if result.page.chapter}
    for result in rendered:
        for section in result.sections if result.page.name == "glossary" else ():

            def linked(match: re.Match[str], term: str = section.label) -> str:
                if match["word"] is None:
                    return match[0]
                if match["word"] == "chapter":
                    return _link(chapters.get(int(match["numbers"])), term, match[0])
                return match["word"] + match["gap"] + re.sub(r"\d+", lambda number: _link(chapters.get(int(number[0])), term, number[0]), match["numbers"])

            section.html = _LIST.sub(linked, section.html)


def _link(chapter: Rendered | None, term: str, words: str) -> str:
    """To the first section of the chapter that leads a reader to the term; to the chapter's beginning if none does."""
    if chapter is None:
        return words
    place = next((section.label for section in chapter.sections if f'href="glossary.html#{term}"' in section.html), "")
    return f'<a href="{chapter.page.file}{f"#{place}" if place else ""}">{words}</a>'
