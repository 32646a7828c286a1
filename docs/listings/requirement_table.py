#!/usr/bin/env python3
"""Writes what the command needs, and where it takes it from, as Markdown for docs/pages/setup.md."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common")]

from cli import requirements  # noqa: E402
from cli.requirements import Requirement  # noqa: E402
from weaving.tables import markdown  # noqa: E402

GROUPS = (
    ("`run`, `test`, `check`", requirements.CHAPTERS),
    ("`sass`, some tests", (requirements.DISASSEMBLER,)),
    ("`site`", requirements.LIVE_SITE),
    ("`site --check`", tuple(r for r in requirements.DOCUMENTATION_TESTS if r not in requirements.SITE)),
)


def _root(requirement: Requirement) -> str:
    """Where it comes from if root has to install it."""
    packages = (requirement.system_packages or requirement.packages)[:1]
    return f"package `{packages[0]}`" if packages else _wheels(requirement)


def _user(requirement: Requirement) -> str:
    """Where it comes from if an ordinary user has to do without root."""
    if requirement in (requirements.COMPILER, requirements.EMSCRIPTEN):
        return "cannot: ask root"
    return _wheels(requirement) if requirement.wheels else f"package `{requirement.packages[0]}`, unpacked"


def _wheels(requirement: Requirement) -> str:
    return "Python wheel" + ("s " if len(requirement.wheels) > 1 else " ") + ", ".join(f"`{w}`" for w in requirement.wheels)


def table() -> list[str]:
    """A row for each requirement, under the commands that need it."""
    rows = [
        [
            commands if number == 0 else "",
            requirement.title.removeprefix("a ").removeprefix("the "),
            ".".join(map(str, requirement.minimum)) or "any",
            requirement.purpose,
            _root(requirement),
            "the same" if _user(requirement) == _root(requirement) else _user(requirement),
        ]
        for commands, group in GROUPS
        for number, requirement in enumerate(group)
    ]
    return markdown(["for", "what", "at least", "purpose", "root gets", "an ordinary user gets"], rows, [False] * 6)


if __name__ == "__main__":
    print("\n".join(table()))
