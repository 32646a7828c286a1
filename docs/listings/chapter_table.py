#!/usr/bin/env python3
"""Writes the chapters with their own titles as Markdown for README.md."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common")]

from cli import chapters  # noqa: E402
from cli.workspace import Workspace  # noqa: E402
from weaving.tables import markdown  # noqa: E402


def table(workspace: Workspace) -> list[str]:
    """A row for each chapter, in their order."""
    rows = [
        [str(chapter.number), f"[{chapter.name}](chapters/{chapter.directory}/README.md)", chapter.title(workspace)]
        for chapter in chapters.all_chapters(workspace)
    ]
    return markdown(["", "chapter", "idea"], rows, [True, False, False])


def main() -> int:
    print("\n".join(table(Workspace.locate())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
