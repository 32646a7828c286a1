"""Where a link of a Markdown file leads on the site."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import unquote

from .pages import Page

LISTED = (".cu", ".cuh", ".hpp", ".cpp")
"""Files that Doxygen lists; its name for a file is known only when it has run, so links to them wait until then."""

SOURCE = "source:"
"""Begins the address of such a link: source:PATH#LINE."""


def slug(heading: str) -> str:
    """The anchor that code hosts make of a heading's text."""
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return text.replace(" ", "-")


class Links:
    """Turns addresses relative to Markdown files into addresses on the site, and notes those that lead nowhere."""

    def __init__(self, root: Path, pages: list[Page], anchors: Mapping[str, Mapping[str, str]]) -> None:
        self._root = root
        self._pages = {page.source: page for page in pages}
        self._anchors = anchors
        self.copied: dict[str, Path] = {}
        self.problems: list[str] = []

    def resolve(self, page: Page, address: str, line: int) -> str | None:
        """The address on the site; None for something that the site has no page for."""

        def wrong(why: str) -> None:
            place = page.source.relative_to(self._root)
            self.problems.append(f"{place}:{line}: the link '{address}' {why}")

        if re.match(r"[a-z][a-z0-9+.-]*:", address):
            return address
        name, _, anchor = unquote(address).partition("#")
        if not name:
            return self._anchored(page, anchor, wrong, same=True)
        path = Path(os.path.normpath(page.source.parent / name))
        if not path.is_relative_to(self._root) or not path.exists():
            wrong("leads to nothing")
            return None
        if path.is_dir():
            path = path / "README.md"
        if path in self._pages:
            return self._anchored(self._pages[path], anchor, wrong)
        if not path.exists():
            return None
        relative = str(path.relative_to(self._root))
        if path.suffix in LISTED:
            return self._listed(relative, path, anchor, wrong)
        return self.copy(relative, path)

    def copy(self, relative: str, path: Path) -> str:
        """The address of a file that the site carries along; text is shown as text whatever its ending."""
        shown = path.suffix in (".svg", ".png", ".json", ".txt")
        target = "files/" + relative.lstrip(".").replace("/.", "/") + ("" if shown else ".txt")
        self.copied[target] = path
        return target

    def _anchored(self, page: Page, anchor: str, wrong: Callable[[str], None], *, same: bool = False) -> str:
        if not anchor:
            return page.file
        found = self._anchors.get(page.name, {}).get(anchor)
        if found is None:
            wrong(f"names no heading of {page.source.relative_to(self._root)}")
            return page.file
        return f"#{found}" if same else f"{page.file}#{found}"

    def _listed(self, relative: str, path: Path, anchor: str, wrong: Callable[[str], None]) -> str:
        if not anchor:
            return f"{SOURCE}{relative}"
        match = re.fullmatch(r"L(\d+)(?:-L?\d+)?", anchor)
        if match is None or int(match[1]) > len(path.read_text("utf-8").splitlines()):
            wrong(f"names no line of {relative}")
        return f"{SOURCE}{relative}#{match[1] if match else 1}"
