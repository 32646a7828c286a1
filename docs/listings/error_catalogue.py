#!/usr/bin/env python3
"""Writes the emulator's findings as Markdown for docs/pages/errors.md.

What each means comes from the emulator's own catalogue, which chapters show it from their mistakes, and the message is
what the emulator prints for the first of those. Run by docs/weave.py; the build is $WORKBOOK_BUILD or build/.
"""

import json
import os
import re
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs/site"), str(ROOT / "common")]

from generator.links import slug  # noqa: E402
from weaving import marks  # noqa: E402
from weaving.errors import WeaveError  # noqa: E402
from weaving.programs import WIDTH, Chapter, Runner  # noqa: E402

PROGRAM = "common/emulator/tools/catalogue"
_FINDING = re.compile(r"^(?:error|warning)\[([\w-]+)\]", re.MULTILINE)
_CODE = re.compile(
    r"if \([^()]*\)|\(1 << [\w.]+\(\)\) - 1|elements \* sizeof\(element\)|size / 16 \* 16"
    r"|(?:cp\.async\.(?:bulk\.)?wait_group(?:\.read)?|bar\.sync) (?:[nN0]\b(?:, 128)?)"
    r"|fence\.proxy\.tensormap[\w:.]+ \[map\], 128"
    r"|(?<![\w`.:])--[a-z]+(?:=\w+)?"
    r"|(?<![\w`.:-])\.?_*[A-Za-z]\w*(?:(?:\.|::)[A-Za-z]\w*)*(?:\((?:\d+|threads, 1|element)?\))?"
)
_NAME = re.compile(r"CU[a-z]\w+|[a-z]+[A-Z]\w*|float4")
_HEADING = re.compile(r"'([A-Z][\w ]*\??)'")
HEADINGS = {
    "Which barrier?": "#which-barrier",
    "Which wait?": "#which-wait",
    "Which parity?": "#which-parity",
    "One thread of many": "#one-thread-of-many",
    "Alignment": "#alignment",
    "Instructions": "emulator_reference.md#instructions",
}
"""What the rows name in single quotes: what several of them share, said once."""


@dataclass(frozen=True)
class Example:
    """A chapter's mistake that the emulator reports, and the heading of the chapter's README that tells of it."""

    chapter: Chapter
    mistake: str
    heading: str

    @property
    def link(self) -> str:
        number = int(self.chapter.directory[:2])
        return f"[chapter {number}, `{self.mistake}`](../../chapters/{self.chapter.directory}/README.md#{self.heading})"


def with_code(text: str) -> str:
    """`text` with names of functions, instructions, options and types as code."""

    def mark(match: re.Match[str]) -> str:
        word = match[0]
        is_code = any(mark in word for mark in ("_", ".", "::", "--", "(", " * ")) or _NAME.fullmatch(word)
        return f"`{word}`" if is_code else word

    return _CODE.sub(mark, text)


def with_links(text: str, names: Collection[str]) -> str:
    """Marked text with links: headings in single quotes, and other findings by their names."""

    def heading(match: re.Match[str]) -> str:
        return f"[{match[1]}]({HEADINGS[match[1]]})" if match[1] in HEADINGS else match[0]

    text = _HEADING.sub(heading, text)
    if not names:
        return text
    longest = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.sub(rf"(?<![\w#`[-])({longest})(?![\w-])", r"[`\1`](#\1)", text)


def headings(readme: str) -> dict[str, str]:
    """The anchor above each mistake's message."""
    found: dict[str, str] = {}
    lines = readme.split("\n")
    for block in marks.blocks(readme):
        if block.kind == "mistake":
            above = next(line for line in reversed(lines[: block.line]) if re.match(r"#+ ", line))
            found[block.argument] = slug(above.lstrip("# "))
    return found


def examples(runner: Runner) -> dict[str, list[Example]]:
    """The chapters' mistakes by the finding that the emulator reports first."""
    found: dict[str, list[Example]] = {}
    for directory in sorted((runner.root / "chapters").glob("[0-9][0-9]_*")):
        chapter = Chapter(directory.name, runner.build)
        for mistake, heading in headings((directory / "README.md").read_text("utf-8")).items():
            said = runner.run([str(chapter.program("_mistakes")), mistake]).err
            if match := _FINDING.search(said):
                found.setdefault(match[1], []).append(Example(chapter, mistake, heading))
    return found


def test_of(root: Path, name: str) -> str | None:
    """The first test of the emulator that expects a finding."""
    for path in sorted((root / "tests/emulator").rglob("*.c*")):
        if path.name != "catalogue.cpp" and f'"{name}"' in path.read_text("utf-8"):
            return str(path.relative_to(root / "tests/emulator"))
    return None


def wrapped(paragraph: str) -> list[str]:
    """The lines of a paragraph and the empty one behind it."""
    return [*textwrap.wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False), ""]


def finding(message: Sequence[str]) -> list[str]:
    """A message without what the program itself says at the end."""
    ends = [index for index, line in enumerate(message) if line.startswith("kernel failed at ")]
    return list(message[: ends[0]] if ends else message)


PARTS = (("Causes", "cause"), ("What to do", "remedy"), ("Not seen", "unseen"))


def section(entry: Mapping[str, str], shown: Sequence[Example], runner: Runner, names: Collection[str]) -> list[str]:
    """What the page says of one finding; `names` are those of the others that have two words, to be linked."""
    others = {name for name in names if "-" in name and name != entry["name"]}

    def marked(part: str) -> str:
        return with_links(with_code(entry[part]), others)

    lines = [f"### {entry['name']}", *wrapped(f"**{entry['title']}.** {marked('explanation')}")]
    for title, part in PARTS:
        if entry[part]:
            lines += wrapped(f"*{title}:* {marked(part)}")
    if shown:
        lines += wrapped(f"*Shown in* {'; '.join(example.link for example in shown)}.")
        lines += [marks.fenced(finding(runner.message(shown[0].chapter, shown[0].mistake))), ""]
    elif test := test_of(runner.root, entry["name"]):
        lines += [f"*Shown in* [a test of the emulator](../../tests/emulator/{test}); no chapter makes this mistake.", ""]
    return lines


def catalogue(runner: Runner) -> list[dict[str, str]]:
    """The emulator's list of findings."""
    done = runner.run([str(runner.build / PROGRAM)])
    if done.status != 0:
        raise WeaveError(f"{PROGRAM} ended with {done.status}: {done.err.strip()}")
    return [json.loads(line) for line in done.out.splitlines()]


def page(runner: Runner) -> str:
    """All findings in the emulator's order."""
    entries = catalogue(runner)
    shown = examples(runner)
    if unknown := sorted(set(shown) - {entry["name"] for entry in entries}):
        raise WeaveError(f"not in the catalogue: {', '.join(unknown)}")
    names = {entry["name"] for entry in entries}
    return "\n".join(line for entry in entries for line in section(entry, shown.get(entry["name"], []), runner, names))


def main() -> int:
    build = Path(os.environ.get("WORKBOOK_BUILD") or ROOT / "build")
    try:
        print(page(Runner(ROOT, build.absolute())).strip())
    except WeaveError as error:
        print(f"error_catalogue: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
