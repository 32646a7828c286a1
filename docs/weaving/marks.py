"""The marks: which blocks a Markdown file has, and what each asks for.

A block lies between two HTML comments, each on a line of its own:

    <!-- code: FILE SYMBOL... -->          definitions of functions, structs or constants; NAME#2 is the second of that name
    <!-- code: FILE [tag] -->              the lines between `// [tag]` and `// [/tag]`
    <!-- code: FILE SYMBOL... unmarked -->  without the comments that say which line a finding names: it is asked for
    <!-- diff: OLD NEW -->                 what the file NEW changes of OLD, apart from its name and its head
    <!-- diff: FILE OLD NEW -->            the same for two definitions of one file
    <!-- output: COMMAND -->               the command and its standard output; it runs in the repository's root
    <!-- captured: COMMAND -->             the same, made anew only by --capture: for a command that cannot run in a check
    <!-- markdown: COMMAND -->             the same, where the command writes Markdown
    <!-- mistake: NAME -->                 the emulator's message for this chapter's mistake
    <!-- ptx: KERNEL PATTERN... -->        lines of the kernel's PTX in which a regular expression is found
    <!-- sass: KERNEL PATTERN... -->       the same of its machine code
    <!-- counters: KERNEL[,...] FIELD[,...] [ARGUMENTS] -->  what the emulator counts, one row for each kernel
    <!-- measured: TABLE -->               a table of docs/measurements/h200.json
    <!-- predict: NAME -->                 a question of the chapter's predictions.toml; on the site a reader answers it, and it runs
    <!-- end -->

Outside a chapter MISTAKE and KERNEL are CHAPTER/NAME. Marks inside a fenced code block are text like any other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import WeaveError

KINDS = ("code", "diff", "output", "captured", "markdown", "mistake", "ptx", "sass", "counters", "measured", "predict")
END = "<!-- end -->"
UNMARKED = "unmarked"
EXPECT = re.compile(r"\s*// expect(?: \w+)?: \S+")
"""What tells the tests which finding the emulator must tell of a line."""

_MARK = re.compile(r"^<!-- (?P<kind>[a-z]+): (?P<argument>.*\S) -->$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True)
class Block:
    """One block: the line number of its mark (from 1), what it asks for, and the lines between the comments."""

    line: int
    kind: str
    argument: str
    body: tuple[str, ...]


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text in order. Raises WeaveError with `line` set for a mark without end."""
    lines = text.split("\n")
    fence: str | None = None
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if match := _FENCE.match(line):
            if fence is None:
                fence = match[1]
            elif match[1].startswith(fence) and line.strip() == match[1]:
                fence = None
            continue
        if fence is not None:
            continue
        if line == END:
            raise _at(number, "'<!-- end -->' without a mark before it")
        if (match := _MARK.match(line)) and match["kind"] in KINDS:
            end = _end_of(lines, number)
            yield Block(number, match["kind"], match["argument"], tuple(lines[number:end]))
            number = end + 1


def _end_of(lines: list[str], start: int) -> int:
    """Index of the end mark of the block whose body starts at index `start`."""
    for index in range(start, len(lines)):
        if lines[index] == END:
            return index
        if (match := _MARK.match(lines[index])) and match["kind"] in KINDS:
            break
    raise _at(start, "this mark has no '<!-- end -->'")


def _at(line: int, message: str) -> WeaveError:
    error = WeaveError(message)
    error.line = line  # type: ignore[attr-defined]
    return error


def fenced(lines: list[str], language: str = "") -> str:
    """`lines` as a code block, in a fence longer than any in it."""
    longest = max((len(m[1]) for line in lines if (m := re.match(r"\s*(`{3,})", line))), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([fence + language, *lines, fence])
