"""The viewer of recorded launches: its scripts for the site, and a page of its own for one launch."""

import base64
import gzip
import html
import shutil
from pathlib import Path

from .errors import UserError
from .workspace import Workspace

PLACE = "docs/site/viewer"
SCRIPTS = ("drawing", "recording", "words", "state", "lanes", "shared", "viewer")
"""In the order in which a page loads them."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{title}</title>
<style>
{style}</style>
</head>
<body class="hv-page">
<main>
<h1>{title}</h1>
<div id="viewer"><p>This page shows a launch event by event. It needs JavaScript.</p></div>
</main>
<script>
{scripts}</script>
<script>
hopperViewer.openPacked(document.getElementById("viewer"), "{recording}");
</script>
</body>
</html>
"""


def add(workspace: Workspace, site: Path) -> None:
    """Puts the viewer below viewer/ in the site."""
    shutil.copytree(workspace.root / PLACE, site / "viewer", dirs_exist_ok=True)


def page(workspace: Workspace, recording: str, title: str) -> str:
    """One page that has all it needs; `recording` is the JSON that the emulator wrote."""
    place = workspace.root / PLACE
    packed = base64.b64encode(gzip.compress(recording.encode(), 6, mtime=0)).decode("ascii")
    return _PAGE.format(
        title=html.escape(title),
        style=(place / "viewer.css").read_text("utf-8"),
        # No script has the characters that end an element.
        scripts="".join((place / f"{name}.js").read_text("utf-8") for name in SCRIPTS),
        recording=packed,
    )


def write(path: Path, text: str) -> None:
    """Raises UserError where it cannot be written."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None
