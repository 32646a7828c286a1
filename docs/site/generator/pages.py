"""Which pages the site has, in which order, and what each is called there."""

import re
from dataclasses import dataclass
from pathlib import Path

from cli import chapters
from cli.errors import UserError
from cli.workspace import Workspace

# The pages of docs/pages and docs/measurements, and the README of the emulator, in the order of reading; a page that is not named here stands before the glossary.
BEFORE_CHAPTERS = ("setup",)
AFTER_CHAPTERS = (
    "exercises",
    "which_copy",
    "errors",
    "emulator",
    "own_programs",
    "emulator_reference",
    "library",
    "sass",
    "measuring",
    "h200_behaviour",
    "glossary",
    "api_versions",
    "teaching",
    "contributing",
    "style",
    "bibliography",
)
_OTHERS_BEFORE = "glossary"


class SiteError(Exception):
    """What is wrong with a page or with the tools, one line for each problem."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Page:
    """One Markdown file and its page: `name` is the HTML file's stem, `title` its first heading."""

    source: Path
    name: str
    title: str
    group: str
    chapter: int | None = None

    @property
    def file(self) -> str:
        return f"{self.name}.html"

    @property
    def label(self) -> str:
        """The words for the navigation: short, with the chapter's number."""
        short = re.sub(r"^Chapter \d+:\s*", "", self.title)
        return f"{self.chapter} · {short[:1].upper()}{short[1:]}" if self.chapter else short


def chapter_directories(root: Path) -> list[str]:
    """The chapters in their order, from the list that also makes their programs."""
    try:
        return [chapter.directory for chapter in chapters.all_chapters(Workspace(root, root / "build"))]
    except UserError as error:
        raise SiteError(str(error)) from None


def title_of(path: Path) -> str:
    """The first heading of a Markdown file."""
    match = re.search(r"^# +(.+?)\s*$", path.read_text("utf-8"), re.MULTILINE)
    if match is None:
        raise SiteError(f"{path}: no heading '# ...'")
    return match[1].replace("`", "")


def all_pages(root: Path) -> list[Page]:
    """Every page in the order of the navigation."""
    readme, home = root / "README.md", root / "docs/pages/home.md"
    if home.exists():
        pages = [Page(home, "index", title_of(home), ""), Page(readme, "readme", "The command and the repository", "")]
    else:
        pages = [Page(readme, "index", title_of(readme), "")]
    by_name = {
        path.stem: path
        for directory in ("docs/measurements", "docs/pages")
        for path in sorted((root / directory).glob("*.md"))
        if path != root / "docs/pages/home.md"
    }
    if (library := root / "common/emulator/README.md").exists():
        by_name["library"] = library

    def own(names: tuple[str, ...], group: str) -> list[Page]:
        return [Page(by_name[n], n, title_of(by_name[n]), group) for n in names if n in by_name]

    pages += own(BEFORE_CHAPTERS, "")
    for number, directory in enumerate(chapter_directories(root), 1):
        path = root / "chapters" / directory / "README.md"
        if path.exists():
            pages.append(Page(path, directory.partition("_")[2], title_of(path), "Chapters", number))
    others = tuple(n for n in by_name if n not in BEFORE_CHAPTERS + AFTER_CHAPTERS)
    at = AFTER_CHAPTERS.index(_OTHERS_BEFORE)
    pages += own(AFTER_CHAPTERS[:at] + others + AFTER_CHAPTERS[at:], "Reference")
    return pages
