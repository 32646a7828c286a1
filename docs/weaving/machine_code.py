"""PTX and machine code of a chapter's kernels, cut down to the lines that the prose speaks of."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli import requirements
from cli.workspace import Workspace

from .errors import Unavailable, WeaveError
from .programs import Chapter, Runner

COMPILER = "13.0"
"""The nvcc whose code the prose shows; another one's differs in registers and order."""
LIBRARY = "3.0.1"
"""The CCCL whose barriers and copies it shows."""

_ENTRY = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)?\.entry\s+(\w+)", re.MULTILINE)
_FUNCTION = re.compile(r"^\s*Function : (\S+)$", re.MULTILINE)
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;?\s*/\*.*$")
_MANGLED = re.compile(r"_Z\w+")


@dataclass(frozen=True)
class Listing:
    """One kernel: its C++ name with arguments and its instructions."""

    name: str
    lines: tuple[str, ...]

    @property
    def short(self) -> str:
        """The name without return type, namespaces, template arguments and parameters."""
        return re.split(r"[<(]", self.qualified)[0].split("::")[-1]

    @property
    def qualified(self) -> str:
        name = self.name.replace("(anonymous namespace)::", "")
        depth = 0
        for index, char in enumerate(name):
            if char == " " and depth == 0:
                return self._without_return(name, index)
            depth += (char in "<(") - (char in ">)")
        return name

    @staticmethod
    def _without_return(name: str, space: int) -> str:
        return name[space + 1 :] if "(" not in name[:space] else name


class Disassembler:
    """Reads PTX and SASS of programs with cuobjdump, each program once."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._listings: dict[tuple[Path, str], list[Listing]] = {}

    def excerpt(self, chapter: Chapter, language: str, kernel: str, patterns: Sequence[str]) -> list[str]:
        """The lines of a kernel in which one of `patterns` is found; '…' stands for lines between them."""
        listing = self._kernel(chapter, language, kernel)
        expressions = [_compiled(pattern) for pattern in patterns]
        for pattern, expression in zip(patterns, expressions, strict=True):
            if not any(expression.search(line) for line in listing.lines):
                raise WeaveError(f"no line of {kernel} in {language.upper()} has '{pattern}'")
        shown: list[str] = []
        last = None
        for index, line in enumerate(listing.lines):
            if any(expression.search(line) for expression in expressions):
                if last is not None and index != last + 1:
                    shown.append("…")
                shown.append(line)
                last = index
        return shown

    def _kernel(self, chapter: Chapter, language: str, kernel: str) -> Listing:
        listings = self._read(chapter.program(), language)
        if not any(kernel in listing.name for listing in listings):
            listings = listings + self._read(chapter.program("_mistakes"), language)
        found = [listing for listing in listings if listing.short == kernel]
        if not found:
            found = [listing for listing in listings if kernel in listing.name]
        if not found:
            names = ", ".join(sorted({listing.short for listing in listings}))
            raise WeaveError(f"chapter {chapter.name} has no kernel '{kernel}'; its kernels are {names}")
        if len(found) > 1:
            names = "; ".join(listing.qualified for listing in found)
            raise WeaveError(f"'{kernel}' is {len(found)} kernels, name more of one, in quotes: {names}")
        return found[0]

    def _read(self, program: Path, language: str) -> list[Listing]:
        key = (program, language)
        if key not in self._listings:
            tool = _cuobjdump(self._runner.root, self._runner.build)
            require_compiler(program)
            text = _output([str(tool), f"-{language}", str(program)])
            self._listings[key] = ptx(text) if language == "ptx" else sass(text)
        return self._listings[key]


def require_compiler(program: Path) -> None:
    """Raises Unavailable if another nvcc made the program, which its machine code says, or another libcu++, which the
    toolkit's headers say."""
    match = re.search(rb"Cuda compilation tools, release (\d+\.\d+)", program.read_bytes())
    made = match[1].decode() if match else COMPILER
    library = library_version(os.environ) or LIBRARY
    if (made, library) != (COMPILER, LIBRARY):
        raise Unavailable(
            f"the pages show what nvcc {COMPILER} with CCCL {LIBRARY} makes, "
            f"and this build is of nvcc {made} with CCCL {library}"
        )


def library_version(environment: Mapping[str, str]) -> str:
    """The version of CCCL (libcu++ is a part of it) beside the nvcc that is used; empty where that cannot be seen."""
    path = os.pathsep.join([environment.get("PATH", os.defpath), "/usr/local/cuda/bin"])
    nvcc = shutil.which(environment.get("WORKBOOK_NVCC") or "nvcc", path=path)
    if nvcc is None:
        return ""
    include = Path(nvcc).resolve().parent.parent / "include"
    for header in ("cccl/cuda/std/__cccl/version.h", "cuda/std/__cccl/version.h"):
        with contextlib.suppress(OSError):
            if number := re.search(r"#\s*define CCCL_VERSION (\d+)", (include / header).read_text("utf-8")):
                version = int(number[1])
                return f"{version // 1_000_000}.{version // 1000 % 1000}.{version % 1000}"
    return ""


def ptx(text: str) -> list[Listing]:
    """The kernels of cuobjdump's PTX. Names of variables are shown as the source has them."""
    names = demangled(set(_MANGLED.findall(text)) | set(_ENTRY.findall(text)))
    result = []
    for symbol, part in _split(text, _ENTRY):
        body = part[part.index("{") + 1 :] if "{" in part else part
        body = body[: _closing(body)]
        short = Listing(names[symbol], ()).short
        body = re.sub(rf"\b{re.escape(symbol)}(?=_param)", short, body)
        body = _MANGLED.sub(lambda match: names.get(match[0], match[0]).split("::")[-1], body)
        lines = (re.sub(r"\s+", " ", line.partition("//")[0]).strip() for line in body.split("\n"))
        kept = tuple(line for line in lines if line and not line.startswith((".loc", "{", "}")))
        result.append(Listing(names[symbol], kept))
    return result


def _closing(body: str) -> int:
    depth = 1
    for match in re.finditer(r"[{}]", body):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(body)


def sass(text: str) -> list[Listing]:
    """The kernels of cuobjdump's machine code: opcode and operands."""
    names = demangled(set(_FUNCTION.findall(text)))
    result = []
    for symbol, part in _split(text, _FUNCTION):
        lines = (match[1] for line in part.split("\n") if (match := _INSTRUCTION.match(line)))
        result.append(Listing(names[symbol], tuple(re.sub(r"\s+", " ", line) for line in lines if line)))
    return result


def _split(text: str, heading: re.Pattern[str]) -> list[tuple[str, str]]:
    matches = list(heading.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return [(match[1], text[match.end() : end]) for match, end in zip(matches, ends, strict=True)]


def demangled(symbols: set[str]) -> dict[str, str]:
    """C++ names by symbol."""
    ordered = sorted(symbols)
    if not ordered:
        return {}
    names = _output(["c++filt", *ordered]).splitlines()
    return dict(zip(ordered, names, strict=True))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise WeaveError(f"'{pattern}' is no regular expression: {error}") from None


def _cuobjdump(root: Path, build: Path) -> Path:
    found = requirements.DISASSEMBLER.probe(Workspace(root, build))
    if found is None:
        raise Unavailable("needs cuobjdump ('./workbook doctor' says how to get it)")
    return found.path


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise Unavailable(f"needs {command[0]} ({error.strerror})") from None
    if done.returncode != 0:
        raise WeaveError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[:200]}")
    return done.stdout
