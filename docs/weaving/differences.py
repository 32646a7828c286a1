"""What one source file changes of another: the lines of a unified diff that a reader wants."""

import difflib
import re
from pathlib import Path

from .code import Source

_NAMESPACE = re.compile(r"^namespace (?:\w+::)*(\w+) \{$", re.MULTILINE)


def body(text: str) -> str:
    """The text without the comment at its head, from the first line after `#pragma once`; its own name made neutral, so
    that two files that differ in nothing else are equal."""
    _, _, rest = text.partition("#pragma once\n")
    rest = (rest or text).strip("\n") + "\n"
    if match := _NAMESPACE.search(rest):
        rest = re.sub(rf"\b{match[1]}_gemm\b", "kernel", rest)
        rest = re.sub(rf"\b{match[1]}\b", "rung", rest)
    # A kernel's head breaks where its name's length wants it: all of it on one line compares alike.
    return re.sub(r"\(([^(){};]*\n[^(){};]*)\) \{$", lambda m: f"({' '.join(m[1].split())}) {{", rest, flags=re.MULTILINE)


def differences(old: Path, new: Path, context: int = 1) -> list[str]:
    """Lines that go (-) and come (+), with `context` lines around them; places that lie apart are parted by `…`."""
    return hunks(*(body(path.read_text("utf-8")) for path in (old, new)), context)


def between_definitions(text: str, old: str, new: str, context: int = 1) -> list[str]:
    """The same for two definitions of one file, their names apart."""
    source = Source(text)
    return hunks(*(re.sub(rf"\b{re.escape(name)}\b", "kernel", source.definition(name)) for name in (old, new)), context)


def hunks(old: str, new: str, context: int) -> list[str]:
    found: list[str] = []
    for line in list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=context, lineterm=""))[2:]:
        if line.startswith("@@"):
            if found:
                found.append("…")
        else:
            found.append(line.rstrip())
    return found
