"""Makes the blocks of Markdown files anew."""

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from . import code, differences, questions, tables
from .errors import Unavailable, WeaveError
from .machine_code import Disassembler, require_compiler
from .marks import EXPECT, UNMARKED, Block, blocks, fenced
from .programs import Runner

_LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".build": "meson"}


class Weaver:
    """Knows one tree and one build; notes what went wrong and which regions were shown."""

    def __init__(self, root: Path, build: Path, *, capture: bool = False) -> None:
        self._build = build
        self._capture = capture
        self._runner = Runner(root, build)
        self._disassembler = Disassembler(self._runner)
        self._root = root
        self._sources: dict[Path, str] = {}
        self.shown: set[tuple[Path, str]] = set()
        self.errors: list[str] = []
        self.notes: list[str] = []

    def weave(self, file: Path) -> tuple[str, str, list[int]]:
        """The file's text, its text made anew, and the lines of the marks whose blocks differ."""
        text = file.read_text("utf-8")
        try:
            found = list(blocks(text))
        except WeaveError as error:
            self._fail(file, getattr(error, "line", 1), str(error))
            return text, text, []
        lines = text.split("\n")
        stale = []
        for block in reversed(found):
            made = self._made(file, block)
            if made is not None and made != list(block.body):
                stale.append(block.line)
                lines[block.line : block.line + len(block.body)] = made
        return text, "\n".join(lines), sorted(stale)

    def _made(self, file: Path, block: Block) -> list[str] | None:
        """The lines of a block, or None if they could not be made."""
        if block.kind == "captured" and not self._capture:
            if not any(block.body):
                self._fail(file, block.line, "captured: the block is empty; docs/weave.py --capture fills it")
            return None
        try:
            return getattr(self, f"_{block.kind}")(file, block.argument).split("\n")
        except WeaveError as error:
            self._fail(file, block.line, f"{block.kind}: {error}")
        except Unavailable as reason:
            self.notes.append(f"{self._name(file)}:{block.line}: {block.kind}: not looked at: {reason}")
        return None

    def _fail(self, file: Path, line: int, message: str) -> None:
        self.errors.append(f"{self._name(file)}:{line}: {message}")

    def _name(self, file: Path) -> str:
        path = file.resolve()
        return str(path.relative_to(self._root) if path.is_relative_to(self._root) else path)

    # ---- one function for each kind of mark ----

    def _code(self, file: Path, argument: str) -> str:
        name, *symbols = argument.split()
        path = (file.resolve().parent / name).resolve()
        if path not in self._sources:
            try:
                self._sources[path] = path.read_text("utf-8")
            except OSError as error:
                raise WeaveError(f"{name}: {(error.strerror or str(error)).lower()}") from None
        text = self._sources[path]
        unmarked = symbols[1:] and symbols[-1] == UNMARKED
        if unmarked:
            symbols.pop()
        if not symbols:
            raise WeaveError("takes a file and a symbol, or a file and a [tag]")
        try:
            parts = [self._part(path, text, symbol) for symbol in symbols]
        except WeaveError as error:
            raise WeaveError(f"{name}: {error}") from None
        listing = "\n\n".join(parts)
        if unmarked:
            listing = EXPECT.sub("", listing)
        return fenced(listing.split("\n"), _LANGUAGES.get(path.suffix, ""))

    def _part(self, path: Path, text: str, symbol: str) -> str:
        if match := re.fullmatch(r"\[([a-z0-9_-]+)\]", symbol):
            self.shown.add((path, match[1]))
            return code.region(text, match[1])
        return code.Source(text).definition(symbol)

    def _diff(self, file: Path, argument: str) -> str:
        names = argument.split()
        if len(names) not in (2, 3):
            raise WeaveError("takes two files, or a file and two definitions")
        files = names if len(names) == 2 else names[:1]
        paths = [(file.resolve().parent / name).resolve() for name in files]
        for name, path in zip(files, paths, strict=True):
            if not path.is_file():
                raise WeaveError(f"{name}: there is no such file")
        lines = differences.differences(*paths) if len(paths) == 2 else differences.between_definitions(paths[0].read_text("utf-8"), *names[1:])
        if not lines:
            raise WeaveError("they do not differ")
        return fenced(lines, "diff")

    def _output(self, _: Path, command: str) -> str:
        return fenced([f"$ {command}", *self._runner.shell(command).split("\n")])

    def _captured(self, _: Path, command: str) -> str:
        return fenced([f"$ {command}", *self._runner.captured(command).split("\n")])

    def _markdown(self, _: Path, command: str) -> str:
        return "\n".join(["", self._runner.shell(command), ""])

    def _mistake(self, file: Path, argument: str) -> str:
        return fenced(self._runner.message(*self._runner.named(file, argument)))

    def _ptx(self, file: Path, argument: str) -> str:
        return self._excerpt(file, "ptx", argument)

    def _sass(self, file: Path, argument: str) -> str:
        return self._excerpt(file, "sass", argument)

    def _excerpt(self, file: Path, language: str, argument: str) -> str:
        kernel, *patterns = shlex.split(argument)
        if not patterns:
            raise WeaveError("takes a kernel and at least one pattern")
        chapter, kernel = self._runner.named(file, kernel)
        return fenced(self._disassembler.excerpt(chapter, language, kernel, patterns), language)

    def _counters(self, file: Path, argument: str) -> str:
        chapter = self._runner.chapter_of(file)
        require_compiler(chapter.program())
        return "\n".join(["", *tables.counters(self._runner, chapter, argument), ""])

    def _measured(self, _: Path, name: str) -> str:
        return "\n".join(["", *tables.measured(self._root, name), ""])

    def _predict(self, file: Path, name: str) -> str:
        chapter = self._runner.chapter_of(file)
        return "\n".join(["", *questions.question(self._root, self._build, chapter.directory, name), ""])

    # ---- the whole tree ----

    def unused_tags(self) -> list[str]:
        """Regions in the chapters that no mark showed."""
        found = []
        for path in sorted((self._root / "chapters").rglob("*")):
            if path.suffix not in (".cu", ".cuh", ".hpp", ".cpp"):
                continue
            for line, tag in code.tags(path.read_text("utf-8")):
                if (path.resolve(), tag) not in self.shown:
                    found.append(f"{self._name(path)}:{line}: no page shows the region [{tag}]")
        return found


def all_files(root: Path) -> list[Path]:
    """Every Markdown file that may have marks: each is a page of the site."""
    patterns = ("README.md", "chapters/*/README.md", "docs/pages/*.md", "docs/measurements/*.md", "common/emulator/README.md")
    return sorted(path for pattern in patterns for path in root.glob(pattern))


def run(root: Path, build: Path, files: Sequence[Path], *, check: bool, capture: bool = False) -> int:
    """Weaves or checks files and says what is wrong; returns the exit status."""
    weaver = Weaver(root, build, capture=capture)
    stale: list[str] = []
    for file in files or all_files(root):
        if not file.is_file():
            weaver.errors.append(f"{file}: there is no such file")
            continue
        text, woven, lines = weaver.weave(file)
        stale += [f"{weaver._name(file)}:{line}: not up to date" for line in lines]
        if not check and woven != text:
            file.write_text(woven, "utf-8")
    if not files:
        weaver.errors += weaver.unused_tags()
    for note in weaver.notes:
        print(f"weave: {note}", file=sys.stderr)
    for message in weaver.errors + (stale if check else []):
        print(f"weave: {message}", file=sys.stderr)
    if check and stale:
        print("weave: docs/weave.py makes them anew", file=sys.stderr)
    return 1 if weaver.errors or (check and stale) else 0
