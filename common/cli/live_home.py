"""The site's first page: one kernel that runs there, and the lines of it that a visitor may break."""

import json
from pathlib import Path

from . import mutants
from .chapters import Chapter
from .errors import UserError
from .workspace import Workspace

CHAPTER = "tma_1d"
_BREAKS = ("more bytes announced than copied", "waiting on a barrier that may not be initialised", "wrong parity")
"""Mutants of the listing that home.md shows, in the order of their lines."""


def breaks(workspace: Workspace, chapter: Chapter) -> list[dict[str, object]]:
    """What the page says of each before it loads anything: name, why it is wrong, line of the file."""
    known = {mutant.name: mutant for mutant in mutants.load(workspace, chapter)}
    if missing := [name for name in _BREAKS if name not in known]:
        raise UserError(f"the first page breaks what is no mutant of {chapter.name}: {missing[0]}")
    found = []
    for name in _BREAKS:
        mutant = known[name]
        _, line = mutants.mutated((workspace.root / mutant.file).read_text("utf-8"), mutant)
        found.append({"name": name, "why": mutant.why, "line": line})
    return found


def add(workspace: Workspace, page: Path, chapter: Chapter) -> None:
    """Puts them into the page, which loads the chapter's scripts already."""
    if not page.exists():
        return
    text = page.read_text("utf-8")
    data = json.dumps(breaks(workspace, chapter), ensure_ascii=False).replace("</", "<\\/")
    scripts = f'<script type="application/json" id="live-breaks">{data}</script>\n<script src="live/home.js" defer></script>\n'
    if 'id="live-breaks"' not in text:
        page.write_text(text.replace("</body>", f"{scripts}</body>", 1), "utf-8")
