"""The chapters as the first page shows them: a picture, what the chapter is about, what its exercises take."""

from html import escape
from pathlib import Path

from cli import exercises
from cli.workspace import Workspace

from .links import Links
from .pages import Page
from .render import Rendered

PLACE = "<!-- chapters -->"


def cards(root: Path, rendered: list[Rendered], links: Links) -> str:
    """A link for each chapter, with its first figure, its exercises and their minutes."""
    given = exercises.all_exercises(Workspace(root, root / "build"))
    parts = []
    for result in rendered:
        if result.page.chapter is None:
            continue
        own = [each.minutes for each in given if each.chapter.number == result.page.chapter]
        count = f"{len(own)} exercise{'s' if len(own) != 1 else ''}, {sum(own)} minutes" if own else ""
        picture = _picture(result.page, root, links)
        parts.append(
            f'<li><a class="card" href="{result.page.file}" data-chapter="{result.page.name}">{picture}'
            f'<b>{escape(result.page.label)}</b><small>{count}</small><small class="progress"></small></a></li>'
        )
    forget = '<p><button type="button" class="forget" hidden>Forget what I have read and answered</button></p>'
    return f'<ul class="cards">{"".join(parts)}</ul>{forget}'


def _picture(page: Page, root: Path, links: Links) -> str:
    """The chapter's first figure. Its words are in the chapter; here it only says which chapter it is."""
    at = page.source.read_text("utf-8").partition(".svg)")[0].rpartition("](")[2]
    path = (page.source.parent / f"{at}.svg").resolve()
    if not at or not path.exists():
        return ""
    address = links.copy(str(path.relative_to(root)), path)
    return f'<img class="thumb" alt="" loading="lazy" src="{address}">'
