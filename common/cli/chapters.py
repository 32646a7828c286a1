"""The chapters: one list, kept in chapters/meson.build, and the names a reader may use for them."""

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import UsageError, UserError
from .workspace import Workspace


@dataclass(frozen=True)
class Chapter:
    """One chapter, `directory` being its name with its number, such as 05_tma_1d."""

    directory: str

    @property
    def number(self) -> int:
        return int(self.directory.split("_", 1)[0])

    @property
    def name(self) -> str:
        return self.directory.split("_", 1)[1]

    def program(self, workspace: Workspace) -> Path:
        return workspace.build / "chapters" / self.directory / self.name

    def mistakes(self, workspace: Workspace) -> Path:
        return workspace.build / "chapters" / self.directory / f"{self.name}_mistakes"

    def title(self, workspace: Workspace) -> str:
        """The first heading of the chapter's README, without its mark and number."""
        try:
            for line in (
                (workspace.root / "chapters" / self.directory / "README.md").read_text("utf-8").splitlines()
            ):
                if line.startswith("# "):
                    return re.sub(r"^Chapter \d+: ", "", line[2:].strip())
        except OSError:
            pass
        return self.name


def parse_list(text: str) -> list[Chapter]:
    """The chapters of `chapter_names = ['01_name', …]` in the text of a meson.build file, in order."""
    without_comments = re.sub(r"#.*", "", text)
    match = re.search(r"^\s*chapter_names\s*=\s*\[(.*?)\]", without_comments, re.DOTALL | re.MULTILINE)
    if match is None:
        raise UserError("chapters/meson.build has no list `chapter_names = [...]`")
    names = re.findall(r"'([^']*)'", match.group(1))
    for name in names:
        if not re.fullmatch(r"\d+_\w+", name):
            raise UserError(f"chapters/meson.build: '{name}' is no chapter name such as 01_sync_copy")
    return [Chapter(name) for name in names]


def all_chapters(workspace: Workspace) -> list[Chapter]:
    path = workspace.root / "chapters" / "meson.build"
    try:
        return parse_list(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def find(name: str, chapters: list[Chapter]) -> Chapter | None:
    """The chapter called `name`: 1, 01, sync_copy or 01_sync_copy."""
    for chapter in chapters:
        if name in (chapter.directory, chapter.name) or (
            name.isascii() and name.isdigit() and int(name) == chapter.number
        ):
            return chapter
    return None


def resolve(name: str, chapters: list[Chapter]) -> Chapter:
    """As `find`, but an unknown name is a usage error that lists the known ones."""
    chapter = find(name, chapters)
    if chapter is None:
        known = ", ".join(c.directory for c in chapters) or "none"
        raise UsageError(f"there is no chapter '{name}'; the chapters are: {known}")
    return chapter
