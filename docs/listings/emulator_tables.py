#!/usr/bin/env python3
"""Prints what the emulator supports, for docs/pages/emulator.md.

usage: emulator_tables.py instructions | counters | runtime | driver | messages

The programs `tables` and `catalogue` of the build tell it, from the tables that the emulator works with; the build is
$WORKBOOK_BUILD or build/.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 100
TOOLS = Path("common/emulator/tools")
LIBRARIES = Path("common/emulator/cuda")

# The chapters of the PTX ISA 9.0 that the rows' sections belong to, in its order.
CHAPTERS = (
    ("9.7.1", "integer arithmetic"),
    ("9.7.2", "extended precision"),
    ("9.7.3", "floating point"),
    ("9.7.4", "half precision"),
    ("9.7.6", "comparison and selection"),
    ("9.7.7", "half-precision comparison"),
    ("9.7.8", "logic and shift"),
    ("9.7.9", "data movement and conversion"),
    ("9.7.12", "control flow"),
    ("9.7.13", "synchronisation"),
    ("9.7.14.4", "matrices: wmma"),
    ("9.7.14.5", "matrices: mma and moves"),
    ("9.7.15", "matrices of a warpgroup"),
    ("9.7.17", "stack"),
    ("9.7.18", "video"),
    ("9.7.19", "miscellaneous"),
)


class TableError(Exception):
    """What is wrong, in one line."""


def wrapped(head: str, names: Iterable[str], indent: int) -> Iterator[str]:
    """`head`, then the names, wrapped and aligned behind it."""
    text = textwrap.fill("  ".join(names), WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    first, *others = text.split("\n")
    yield f"{head:<{indent}}{first}"
    for line in others:
        yield " " * indent + line


def instructions(lines: Iterable[str]) -> Iterator[str]:
    """Opcodes by the chapter of the manual that their section belongs to. `lines`: section and opcode."""
    rows = {(section, opcode) for section, opcode in (line.split() for line in lines)}
    for chapter, title in CHAPTERS:
        mine = {row for row in rows if row[0] == chapter or row[0].startswith(chapter + ".")}
        rows -= mine
        if mine:
            yield from wrapped(f"{chapter:<7} {title}", sorted({opcode for _, opcode in mine}), 38)
    if rows:
        raise TableError(f"no chapter for {sorted(rows)}")


def functions(names: Iterable[str], prefix: str) -> Iterator[str]:
    """Functions by the first word behind the prefix."""
    groups: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        # What the compiler alone calls begins otherwise, and cuGetExportTable says why a program cannot run.
        if not re.match(rf"{prefix}[A-Z]", name) or name == "cuGetExportTable":
            continue
        first = re.match(r"[A-Z][a-z0-9]*", name[len(prefix) :])
        assert first is not None
        groups.setdefault(first[0], []).append(name)
    for group in [g for g, members in groups.items() if len(members) < 3]:
        groups.setdefault("others", []).extend(groups.pop(group))
    for group in sorted(groups, key=lambda g: (g == "others", g)):
        yield from wrapped(group, sorted(groups[group]), 16)


def messages(lines: Iterable[str]) -> Iterator[str]:
    """Findings with their titles. `lines`: the catalogue's JSON."""
    for line in lines:
        entry = json.loads(line)
        yield f"{entry['name']:<31}{entry['title']}"


def counters(lines: Iterable[str]) -> Iterator[str]:
    """Counters with their meanings. `lines`: the name, then the words."""
    for line in lines:
        name, _, meaning = line.partition(" ")
        yield f"{name:<30}{meaning}"


def told(build: Path, program: str, arguments: Sequence[str] = (), given: str = "") -> list[str]:
    """The lines that a tool of the build prints."""
    path = build / TOOLS / program
    if not path.exists():
        raise TableError(f"{path} is not built; './workbook test' builds everything")
    done = subprocess.run([str(path), *arguments], input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout:
        raise TableError(f"{program} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def table(which: str, build: Path) -> list[str]:
    if which == "instructions":
        return list(instructions(told(build, "tables", ["instructions"])))
    if which == "counters":
        return list(counters(told(build, "tables", ["counters"])))
    if which == "messages":
        return list(messages(told(build, "catalogue")))
    library, prefix = {"runtime": ("libcudart.so.13", "cuda"), "driver": ("libcuda.so.1", "cu")}[which]
    known = (ROOT / LIBRARIES / f"{which}_functions.txt").read_text("utf-8")
    return list(functions(told(build, "tables", ["functions", str(build / LIBRARIES / library)], known), prefix))


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in ("instructions", "counters", "runtime", "driver", "messages"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print("\n".join(table(arguments[0], Path(os.environ.get("WORKBOOK_BUILD") or ROOT / "build").absolute())))
    except TableError as error:
        print(f"emulator_tables: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
