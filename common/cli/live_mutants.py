"""The mutants of a chapter as PTX, for pages that let a reader break its kernels.

Compiling each of them alone would take a minute a chapter: most of the time the compiler reads headers. So one source has
them all, each in a namespace of its own, and the PTX is cut into modules of one kernel each.
"""

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .chapters import Chapter
from .errors import UserError
from .mutants import Mutant, MutantError, mutated
from .workspace import Workspace

_INCLUDE = re.compile(r'^\s*#\s*include\s+(?P<what><[^>]+>|"(?P<file>[^"]+)")')
_ITEM = re.compile(r"^[ \t]*(?:\.visible |\.weak |\.extern |\.common )*\.(?P<kind>entry|func|global|const|section|file)\b", re.MULTILINE)
_NAME = re.compile(r"[\w$.]+")
_COPY = re.compile(r"\bcopy(\d+)_::")


@dataclass(frozen=True)
class Broken:
    """A mutant as a page needs it."""

    mutant: Mutant
    line: int
    """Where its change begins in the file."""
    source: str
    """The file with the change."""
    kernels: dict[str, tuple[str, str]]
    """By the demangled name of each kernel that it changes: the mangled name and the PTX of that kernel alone, which is a
    module between the two texts of `Compiled`."""


@dataclass(frozen=True)
class Compiled:
    """A chapter's mutants, and what their modules have in common: how each begins and ends."""

    begin: str
    end: str
    mutants: list[Broken]


def compiled(workspace: Workspace, nvcc: Path, chapter: Chapter, mutants: Iterable[Mutant], directory: Path, arguments: list[str]) -> Compiled:
    """Those of the mutants that change the PTX of a kernel of the chapter's program; files are made in `directory`.

    Changes to what all chapters share, and to host code, are none of them.
    """
    copies: list[tuple[Mutant, int, str]] = []
    for mutant in mutants:
        if not mutant.file.startswith(f"chapters/{chapter.directory}/"):
            continue
        try:
            text, line = mutated((workspace.root / mutant.file).read_text("utf-8"), mutant)
        except MutantError as error:
            raise UserError(f"the mutant '{mutant.name}' of {chapter.name} cannot be made: {error}") from None
        copies.append((mutant, line, text))
    flat = _Flat(workspace.root, chapter)
    parts = [flat.copy(0, {})] + [
        flat.copy(number, {mutant.file: text}) for number, (mutant, _, text) in enumerate(copies, 1)
    ]
    source, ptx = directory / f"{chapter.name}.cu", directory / f"{chapter.name}.ptx"
    source.write_text("".join(f"#include {each}\n" for each in flat.headers) + "".join(parts), "utf-8")
    command = [str(nvcc), "-ptx", "-lineinfo", "-std=c++20", "-I", "common/include", *arguments, str(source), "-o", str(ptx)]
    done = subprocess.run(command, cwd=workspace.root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"the mutants of {chapter.name} do not compile together:\n{done.stderr[:2000]}")
    # Files of the repository as findings name them.
    module = Module(ptx.read_text("utf-8").replace(f'"{workspace.root}/', '"'))
    names = module.demangled()
    entries: dict[int, dict[str, str]] = {}
    for mangled, name in names.items():
        if match := _COPY.search(name):
            entries.setdefault(int(match[1]), {})[_COPY.sub("", name)] = mangled
    right = {name: _plain(module, mangled) for name, mangled in entries.get(0, {}).items()}
    broken = []
    for number, (mutant, line, text) in enumerate(copies, 1):
        changed = {
            name: (mangled, module.alone(mangled))
            for name, mangled in entries.get(number, {}).items()
            if _plain(module, mangled) != right.get(name)
        }
        if changed:
            broken.append(Broken(mutant, line, text, changed))
    return Compiled(module.begin, module.end, broken)


class _Flat:
    """A chapter's program as one text without its own headers, of which there can be several copies in one source."""

    def __init__(self, root: Path, chapter: Chapter) -> None:
        self._root, self._directory = root, root / "chapters" / chapter.directory
        self.headers: dict[str, None] = {}
        """What the copies share, in the order in which it is included."""

    def copy(self, number: int, changed: dict[str, str]) -> str:
        text = self._inlined(self._directory / "main.cu", changed, set())
        text = re.sub(r"^int main\(", "int program(", text, flags=re.MULTILINE)
        return f"namespace copy{number}_ {{\n{text}\n}}\n"

    def _inlined(self, path: Path, changed: dict[str, str], seen: set[Path]) -> str:
        seen.add(path)
        name = str(path.relative_to(self._root))
        lines = [f'#line 1 "{name}"']
        for number, line in enumerate((changed.get(name) or path.read_text("utf-8")).splitlines(), 1):
            match = _INCLUDE.match(line)
            own = match and match["file"] and next(
                (file for file in (path.parent / match["file"], self._directory / match["file"]) if file.exists()), None
            )
            if own:
                inside = "" if own.resolve() in seen else self._inlined(own.resolve(), changed, seen)
                lines += [inside, f'#line {number + 1} "{name}"']
            elif match:
                self.headers[match["what"]] = None
                lines.append("")
            else:
                lines.append("" if line.strip() == "#pragma once" else line)
        return "\n".join(lines)


class Module:
    """PTX in pieces: functions, variables and the rest."""

    def __init__(self, text: str) -> None:
        starts = [match.start() for match in _ITEM.finditer(text)]
        self.begin = text[: starts[0]] if starts else text
        self.end = ""
        """Source files and the names in debug information: what the lines of all kernels refer to."""
        self._named: dict[str, list[str]] = {}
        """Declarations and definitions of functions and variables."""
        self.entries: dict[str, str] = {}
        for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
            piece = text[begin:end]
            kind = _ITEM.match(piece)["kind"]  # type: ignore[index]
            if kind in ("section", "file"):
                self.end += piece
            elif kind == "entry":
                self.entries[_NAME.search(piece, piece.index(".entry") + 6)[0]] = piece  # type: ignore[index]
            else:
                self._named.setdefault(_declared(kind, piece), []).append(piece)

    def alone(self, entry: str) -> str:
        """One kernel and what it refers to."""
        needed, waiting = {entry}, [self.entries[entry]]
        while waiting:
            for name in set(_NAME.findall(waiting.pop())) & self._named.keys():
                if name not in needed:
                    needed.add(name)
                    waiting += self._named[name]
        pieces = [piece for name, all_of_it in self._named.items() if name in needed for piece in all_of_it]
        return "".join([*pieces, self.entries[entry]])

    def demangled(self) -> dict[str, str]:
        """The kernels' names as a reader knows them."""
        names = list(self.entries)
        done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
        return dict(zip(names, done.stdout.splitlines(), strict=True))


def _declared(kind: str, piece: str) -> str:
    """The name of a function or variable: behind its result, or in front of its size or value."""
    if kind == "func":
        after = re.sub(r"^[^(]*\.func\s*(?:\([^)]*\))?", "", piece, count=1)
        return _NAME.search(after)[0]  # type: ignore[index]
    head = re.split(r"[\[=;]", piece, maxsplit=1)[0]
    return head.split()[-1]


def _plain(module: Module, mangled: str) -> str:
    """The kernel's instructions, whatever namespace it is in and wherever its lines are."""
    text = re.sub(r"^\s*\.loc.*\n", "", module.entries[mangled], flags=re.MULTILINE)
    text = re.sub(r"//.*", "", text)
    text = re.sub(r"\$L__(\w*?)\d+", r"$L__\1", text)  # Labels have the number of the function.
    return re.sub(r"\d+copy\d+_", "", re.sub(r"__\w+?_\d+_\w+_cu_\w+", "", text))
