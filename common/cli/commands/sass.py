"""Shows the machine code of a chapter's kernels beside the source lines that it comes from.

KERNEL is a part of a kernel's name; without it all kernels of the chapter are shown.
"""

import argparse
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import build, chapters, requirements, setup
from ..errors import UsageError, UserError
from ..lock import exclusive
from ..process import capture
from ..workspace import Workspace

NAME = "sass"
HELP = "show a chapter's machine code beside its source lines"

_SECTION = re.compile(r"^\.text\.(\S+):")
_LABEL = re.compile(r"^(\.L_x_\d+):")
_PLACE = re.compile(r'^\s*//## File "([^"]+)", line (\d+)')
_INSTRUCTION = re.compile(r"^\s*(?:/\*([0-9a-f]{4,})\*/)\s+(.*?)\s*;?\s*(?:/\*.*)?$")


@dataclass
class Kernel:
    """One kernel: its mangled name and its instructions and labels, each with the source place it belongs to."""

    symbol: str
    lines: list[tuple[tuple[str, int] | None, str]] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chapter", metavar="CHAPTER", help="number or name of a chapter")
    parser.add_argument("kernel", metavar="KERNEL", nargs="?", help="a part of a kernel's name")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    chapter = chapters.resolve(options.chapter, chapters.all_chapters(workspace))
    tools = build.ready(workspace)
    with exclusive(workspace.state / "lock", "setting up"):
        cuobjdump = setup.ensure(workspace, (requirements.DISASSEMBLER,)).path("disassembler")
    program = chapter.program(workspace)
    build.build(workspace, tools, [str(program.relative_to(workspace.build))])
    kernels = parse(disassemble(cuobjdump, program))
    names = demangle([kernel.symbol for kernel in kernels])
    shown = [
        (kernel, names[kernel.symbol])
        for kernel in kernels
        if not options.kernel or options.kernel in names[kernel.symbol]
    ]
    if not shown:
        short = sorted({name.split("(")[0].split(" ")[-1] for name in names.values()})
        raise UsageError(
            f"{chapter.name} has no kernel '{options.kernel}'; its kernels are: {', '.join(short)}"
        )
    for index, (kernel, name) in enumerate(shown):
        if index:
            print()
        print(name)
        for line in render(kernel, workspace):
            print(line)
    return 0


def disassemble(cuobjdump: Path, program: Path) -> str:
    """nvdisasm's listing, with line marks, of every image for a Hopper GPU in `program`."""
    nvdisasm = shutil.which(str(cuobjdump.with_name("nvdisasm"))) or shutil.which("nvdisasm")
    if nvdisasm is None:
        raise UserError("nvdisasm is missing although cuobjdump is there")
    with tempfile.TemporaryDirectory() as directory:
        images = Path(directory)
        link = images / "program"
        link.symlink_to(program)
        script = ["sh", "-c", 'cd "$1" && "$2" -xelf all program', "sh", directory, str(cuobjdump)]
        capture(script)
        cubins = sorted(images.glob("*sm_9*.cubin")) or sorted(images.glob("*.cubin"))
        if not cubins:
            raise UserError(f"{program.name} has no machine code")
        return "\n".join(capture([nvdisasm, "-g", "-c", str(cubin)]) or "" for cubin in cubins)


def parse(listing: str) -> list[Kernel]:
    """The kernels of a listing in order."""
    kernels: list[Kernel] = []
    place: tuple[str, int] | None = None
    inside = False
    for line in listing.splitlines():
        if match := _SECTION.match(line):
            kernels.append(Kernel(match[1]))
            place, inside = None, True
        elif line.startswith("//-----") or line.lstrip().startswith(".section"):
            inside = inside and ".text." in line
        elif inside and (match := _PLACE.match(line)):
            # Of a chain of inlined places the listing names the innermost first; that is the one a reader looks for.
            if "inlined at" not in line or place is None:
                place = (match[1], int(match[2]))
        elif inside and (match := _LABEL.match(line)):
            kernels[-1].lines.append((place, f"{match[1]}:"))
        elif inside and (match := _INSTRUCTION.match(line)):
            kernels[-1].lines.append((place, f"/*{match[1]}*/ {match[2]}"))
    return kernels


def demangle(symbols: Sequence[str]) -> dict[str, str]:
    """C++ names by symbol; where c++filt is absent the symbols themselves."""
    output = capture(["c++filt", *symbols]) if symbols else None
    names = output.splitlines() if output else list(symbols)
    return dict(zip(symbols, names, strict=True)) if len(names) == len(symbols) else {s: s for s in symbols}


def render(kernel: Kernel, workspace: Workspace) -> Iterator[str]:
    """The instructions, under the text of the source line they belong to."""
    last: tuple[str, int] | None = None
    for place, text in kernel.lines:
        if place != last and place is not None:
            path, number = Path(os.path.normpath(place[0])), place[1]
            yield f"  {workspace.relative(path)}:{number}: {_source(path, number)}"
        last = place
        yield f"      {text}"


_cache: dict[Path, list[str]] = {}


def _source(path: Path, number: int) -> str:
    if path not in _cache:
        try:
            _cache[path] = path.read_text("utf-8", errors="replace").splitlines()
        except OSError:
            _cache[path] = []
    lines = _cache[path]
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
