"""Kernels that are wrong on purpose, recorded for the site's pages: the chapters' mistakes, and docs/site/messages.

Each runs once on the emulator with its launches kept. A launch counts only if its replay alone tells what the program's run
told; what no replay tells is said in words.
"""

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import backend
from .backend import Backend
from .chapters import Chapter
from .errors import UserError
from .workspace import Workspace

MESSAGES = "docs/site/messages/messages"
"""The program of kernels for messages that no chapter's mistake shows."""
MESSAGES_SET = "messages"
"""What its mistakes are called where those of the chapters have the chapters' names."""
REPLAY = "common/emulator/tools/replay"
CATALOGUE = "common/emulator/tools/catalogue"
_SECONDS = 60

NOT_SHOWN = {
    "race-kernels": "It takes two kernels that run at the same time, and a page runs one launch.",
    "race-host": "It concerns what the host does while a kernel runs, and a page has no host program.",
    "host-touched-device-memory": "It concerns what the host does, and a page has no host program.",
    "freed-in-use": "It concerns what the host frees while a kernel runs, and a page has no host program.",
    "leak": "It is told when the host’s program ends, and a page has no host program.",
    "barrier-init-unfenced": "Only --checks=strict tells it, and a page runs without.",
    "unsupported-instruction": "Such a kernel is refused before it runs, so that there is no launch to run again.",
}
"""Messages of which no page can show a launch, and why."""
_REFUSED = "The host’s library refuses this before any kernel runs, so that there is no launch to run here."


@dataclass(frozen=True)
class Mistake:
    """One kernel as it was recorded. `launch` counts the capsule's from 0; there is none if no replay shows the mistake."""

    name: str
    capsule: bytes
    findings: list[str]
    launch: int | None
    kernel: str
    """Its name without its namespaces and parameters."""
    why: str
    """Why there is no launch."""


def programs(workspace: Workspace, known: Iterable[Chapter]) -> list[str]:
    """What has to be built for them, as Ninja calls it."""
    made = [str(chapter.mistakes(workspace).relative_to(workspace.build)) for chapter in known]
    return [*made, MESSAGES, REPLAY, CATALOGUE]


def recorded(workspace: Workspace, program: Path, directory: Path) -> list[Mistake]:
    """All mistakes of a program; files are made in `directory`. Raises UserError if one is not noticed."""
    names = _run(workspace, [str(program), "--list"]).stdout.split()
    if not names:
        raise UserError(f"{workspace.relative(program)} lists no mistakes")
    return [_recorded(workspace, program, name, directory) for name in names]


def _recorded(workspace: Workspace, program: Path, name: str, directory: Path) -> Mistake:
    capsule, report = directory / f"{name}.capsule", directory / f"{name}.report"
    done = _run(workspace, [str(program), name], {"EMULATOR_RECORD": str(capsule), "EMULATOR_REPORT": str(report)})
    told = findings(report)
    if not told and done.returncode == 0:
        raise UserError(f"the emulator noticed nothing of {name} in {workspace.relative(program)}")
    listed = _run(workspace, [str(workspace.build / REPLAY), str(capsule), "--list"]).stdout.splitlines()
    for launch in range(len(listed)):
        again = directory / f"{name}.{launch}"
        _run(workspace, [str(workspace.build / REPLAY), str(capsule), f"--launch={launch + 1}", f"--report={again}"])
        if told and told[0] in findings(again):
            return Mistake(name, capsule.read_bytes(), told, launch, _kernel(listed[launch]), "")
    return Mistake(name, b"", told, None, "", NOT_SHOWN.get(told[0], "One launch alone does not show it.") if told else _REFUSED)


def _kernel(listed: str) -> str:
    """Of a line such as '1  launch 1: (anonymous namespace)::name(int*), grid (1,1,1), …'."""
    found = re.search(r"launch \d+: (?:void )?(?:\w+::)*(\w+)", listed.replace("(anonymous namespace)::", ""))
    return found[1] if found else ""


def findings(report: Path) -> list[str]:
    """The names in a report, the first one first."""
    if not report.exists():
        return []
    return [json.loads(line)["name"] for line in report.read_text("utf-8").splitlines() if line.strip()]


def _run(
    workspace: Workspace, command: list[str], settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    env = backend.environment(Backend.EMULATOR, workspace) | {"EMULATOR_THREADS": "1", **(settings or {})}
    return subprocess.run(
        command, env=env, cwd=workspace.root, capture_output=True, text=True, timeout=_SECONDS, check=False
    )


def as_data(workspace: Workspace, mistakes: Iterable[Mistake], sources: Iterable[Path]) -> dict[str, Any]:
    """What a page loads of a program's mistakes. The capsules begin alike, with the program's module: that part is there once."""
    known = list(mistakes)
    common = os.path.commonprefix([each.capsule for each in known if each.capsule])
    return {
        "common": base64.b64encode(common).decode("ascii"),
        "mistakes": {
            each.name: {"findings": each.findings, "why": each.why}
            if each.launch is None
            else {
                "findings": each.findings,
                "launch": each.launch,
                "kernel": each.kernel,
                "rest": base64.b64encode(each.capsule[len(common) :]).decode("ascii"),
            }
            for each in known
        },
        "files": {workspace.relative(file): file.read_text("utf-8") for file in sources},
    }


def shown(mistakes: Iterable[Mistake]) -> dict[str, str]:
    """By each message the first of the mistakes that shows it, by being told of nothing else before."""
    first: dict[str, str] = {}
    for mistake in mistakes:
        if mistake.launch is not None:
            first.setdefault(mistake.findings[0], mistake.name)
    return first


def catalogue(workspace: Workspace, by_set: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """For each message what shows it, {"set", "mistake"}, or {"why"} nothing does. `by_set`: what `shown` says of each program.

    Raises UserError if there is neither although all programs are there.
    """
    done = _run(workspace, [str(workspace.build / CATALOGUE)])
    if done.returncode != 0:
        raise UserError(f"{CATALOGUE} ended with {done.returncode}: {done.stderr[:300]}")
    found: dict[str, dict[str, str]] = {}
    for message in (json.loads(line)["name"] for line in done.stdout.splitlines()):
        name = next((name for name, messages in by_set.items() if message in messages), None)
        if name is not None:
            found[message] = {"set": name, "mistake": by_set[name][message]}
        elif message in NOT_SHOWN:
            found[message] = {"why": NOT_SHOWN[message]}
        else:
            raise UserError(f"no mistake shows the message {message}, and nothing says why")
    return found
