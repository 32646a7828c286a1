#!/usr/bin/env python3
"""Prints what the emulator supports, read from its source, for the page 'How the emulator works'.

usage: tables.py instructions | runtime | driver | messages
"""

import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
WIDTH = 100

# The chapters of the PTX ISA 9.0 that the rows' sections belong to, in its order.
CHAPTERS = [
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
    ("9.7.17", "stack"),
    ("9.7.18", "video"),
    ("9.7.19", "miscellaneous"),
]


def instruction_rows():
    """Pairs of section and opcode, from the tables at the end of the files in machine/."""
    rows = []
    for file in sorted((HERE / "machine").glob("*.cpp")):
        rows += re.findall(r'\{"([a-z0-9_.:]+)",\s*"(9\.7\.[0-9.]+)",', file.read_text(encoding="utf-8"))
    if len(rows) < 100:
        sys.exit("tables.py: the instruction tables look different from what this script reads")
    return sorted((section, opcode) for opcode, section in rows)


def wrapped(head, names, indent):
    """`head`, then the names, wrapped and aligned behind it."""
    text = textwrap.fill("  ".join(names), WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    lines = text.split("\n")
    return "\n".join([f"{head:<{indent}}{lines[0]}"] + [" " * indent + line for line in lines[1:]])


def print_instructions():
    rows = instruction_rows()
    left = set(rows)
    for chapter, title in CHAPTERS:
        mine = [row for row in rows if row[0] == chapter or row[0].startswith(chapter + ".")]
        left -= set(mine)
        if mine:
            print(wrapped(f"{chapter:<7} {title}", sorted({opcode for _, opcode in mine}), 38))
    if left:
        sys.exit(f"tables.py: no chapter for {sorted(left)}")


def print_functions(library):
    """Functions with a definition in cuda/*.cpp that are in the library's list of names."""
    known = set((HERE / f"cuda/{library}_functions.txt").read_text(encoding="utf-8").split())
    defined = set()
    for file in sorted((HERE / "cuda").glob("*.cpp")):
        defined |= set(re.findall(r"^(?!return\b|static\b)[\w:*& ]*?\b(cu(?:da)?[A-Z]\w*)\(",
                                  file.read_text(encoding="utf-8"), re.MULTILINE))
    names = sorted((defined & known) - {"cuGetExportTable"})  # It is there to say why a program cannot run.
    if len(names) < 50:
        sys.exit("tables.py: the definitions look different from what this script reads")
    groups = {}
    prefix = "cuda" if library == "runtime" else "cu"
    for name in names:
        first = re.match(r"[A-Z][a-z0-9]*", name[len(prefix):])
        groups.setdefault(first.group(0) if first else name, []).append(name)
    for group in [g for g, members in groups.items() if len(members) < 3]:
        groups.setdefault("others", []).extend(groups.pop(group))
    for group in sorted(groups, key=lambda g: (g == "others", g)):
        print(wrapped(group, sorted(groups[group]), 16))


def print_messages():
    text = (HERE / "findings/list.inc").read_text(encoding="utf-8")
    for name, title in re.findall(r'FINDING\(\w+, "([a-z-]+)",\s*"([^"]+)"', text):
        print(f"{name:<31}{title}")


def main():
    actions = {"instructions": print_instructions, "runtime": lambda: print_functions("runtime"),
               "driver": lambda: print_functions("driver"), "messages": print_messages}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        sys.exit(__doc__)
    actions[sys.argv[1]]()


if __name__ == "__main__":
    main()
