"""One check: compile the learner's kernel, run it with the judge in a process of its own, and say what came of it. Whatever
the file does, the check ends, and the next one works."""

import contextlib
import json
import os
import re
import secrets
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import backend, build, compiling, evidence, temporary
from .backend import Backend
from .confine import Cage
from .evidence import MISSED as MISSED
from .evidence import quoted as quoted
from .exercises import Exercise
from .limited import finish, limits
from .process import end_as_on_ctrl_c
from .setup import Tools
from .workspace import Workspace

DEFAULT_BACKEND = "emulator"
"""It explains what is wrong and counts, which a GPU does not."""
RUN_SECONDS = 20
_WATCHDOG_BILLIONS = 1
"""Of instructions of threads that change nothing, before a kernel counts as an endless loop."""
_EMULATOR_THREADS = 8
_MEMORY_KIB = 12 * 1024 * 1024
_PRINTED_LINES = 10
_CHANGED = {"EMULATOR_CHANGE_SHARED": "1", "EMULATOR_WATCHDOG": "0.05"}
_UNUSED = "they stay right when what lies in shared memory is changed behind every barrier: nothing depends on it."
_CONSEQUENCES = ("exited-with-copies-in-flight",)
"""Findings that mostly follow from another one."""


@dataclass
class Outcome:
    """What a check found. `stage` is where it ended: compile, run, result, counters or passed."""

    stage: str
    lines: list[str] = field(default_factory=list)
    """What happened, in sentences and quoted lines."""
    diagnostic: dict[str, Any] | None = None
    """The emulator's first finding, as it reports it."""
    more_diagnostics: int = 0
    printed: list[str] = field(default_factory=list)
    """The end of what the learner's program printed."""

    @property
    def passed(self) -> bool:
        return self.stage == "passed"


def prepare(workspace: Workspace, exercises: list[Exercise], where: Backend) -> Tools:
    """Builds what checks need beside the learner's file, and ends like Ctrl-C does: with everything that was started."""
    end_as_on_ctrl_c()
    return built(workspace, exercises, where)


def built(workspace: Workspace, exercises: list[Exercise], where: Backend) -> Tools:
    """Builds what checks need beside the learner's file: the judges, and the emulator."""
    tools = build.ready(workspace, emulator=where is Backend.EMULATOR)
    judges = [exercise.judge(workspace) for exercise in exercises]
    configured = (workspace.build / "build.ninja").exists()
    if configured and not build.is_built() and not {str(judge) for judge in judges} <= _known(workspace):
        build.reconfigure(workspace, tools)
    targets = [str(judge.relative_to(workspace.build)) for judge in judges]
    if where is Backend.EMULATOR:
        targets += build.emulator_targets(workspace)
    build.build(workspace, tools, targets)
    return tools


def _known(workspace: Workspace) -> set[str]:
    """The files that Meson knows how to build."""
    targets = json.loads((workspace.build / "meson-info" / "intro-targets.json").read_text("utf-8"))
    return {file for target in targets for file in target["filename"]}


def check(
    workspace: Workspace,
    tools: Tools,
    exercise: Exercise,
    file: Path,
    where: Backend,
    seconds: float = RUN_SECONDS,
    *,
    cage: Cage | None = None,
) -> Outcome:
    """Judges `file`; the whole of it leaves nothing behind. `cage` confines the compiler and the program."""
    with temporary.directory("check") as directory:
        program, problem = _compile(workspace, tools, exercise, file, directory, cage)
        outcome = problem or run(workspace, exercise, program, where, seconds, cage=cage)
        if not outcome.passed:
            temporary.require_room(directory, outcome.lines if outcome.stage == "compile" else ())
        return outcome


def record(workspace: Workspace, tools: Tools, exercise: Exercise, file: Path, recording: Path) -> None:
    """Runs the judge once more on the emulator, which writes the launches to `recording`."""
    with temporary.directory("record") as directory:
        program, problem = _compile(workspace, tools, exercise, file, directory, None)
        if problem is None:
            recorded(workspace, exercise, program, recording)


def recorded(workspace: Workspace, exercise: Exercise, program: list[Path], recording: Path) -> Outcome:
    """Runs a judge with a kernel on the emulator, which writes the launches to `recording`."""
    more = {"EMULATOR_RECORD": str(recording.absolute())}
    return _once(workspace, exercise, program, Backend.EMULATOR, RUN_SECONDS, "late", None, more)


def _compile(
    workspace: Workspace, tools: Tools, exercise: Exercise, file: Path, directory: Path, cage: Cage | None
) -> tuple[list[Path], Outcome | None]:
    """The program that judges `file`, with its argument; and what is wrong, if it does not compile."""
    ptx = directory / f"{exercise.name}.ptx"
    program = [exercise.judge(workspace), ptx]
    problem = compiling.kernels(workspace, tools, exercise, file, ptx, cage)
    return program, Outcome("compile", problem) if problem else None


def run(
    workspace: Workspace,
    exercise: Exercise,
    program: list[Path],
    where: Backend,
    seconds: float = RUN_SECONDS,
    *,
    order: str = "late",
    cage: Cage | None = None,
) -> Outcome:
    """Runs a judge with the kernel within limits of time, memory and output."""
    outcome = _once(workspace, exercise, program, where, seconds, order, cage, {})
    if outcome.passed and where is Backend.EMULATOR and exercise.uses_shared:
        changed = _once(workspace, exercise, program, where, seconds, order, cage, _CHANGED)
        if changed.passed:
            return Outcome("counters", [f"{MISSED}{_UNUSED}", exercise.uses_shared])
    return outcome


def _once(
    workspace: Workspace,
    exercise: Exercise,
    program: list[Path],
    where: Backend,
    seconds: float,
    order: str,
    cage: Cage | None,
    more: dict[str, str],
) -> Outcome:
    """`more` goes to the emulator's settings."""
    with temporary.directory("run") as place:
        env = backend.environment(where, workspace)
        env = {name: value for name, value in env.items() if not name.startswith("EMULATOR_")}
        token = secrets.token_hex(16)
        env |= {"JUDGE_VERDICT": str(place / "verdict"), "JUDGE_TOKEN": token}
        command = list(map(str, program))
        if where is Backend.EMULATOR:
            env |= _steering(place, order) | more
            processor = int(seconds * _EMULATOR_THREADS) + 1
            command = limits(command, memory_kib=_MEMORY_KIB, seconds=processor)
        if cage is not None:
            command = cage.command(command, workspace.root, readable=program, writable=[place])
            env = cage.environment(env)
        status, output, errors = finish(command, workspace.root, env, seconds)
        outcome = _judged(_verdict(place / "verdict", token), status, seconds)
        _diagnose(outcome, _records(place / "report"))
        if outcome.passed and where is Backend.EMULATOR:
            outcome = _examined(workspace, exercise, _records(place / "counters"))
        if outcome.stage == "run" and where is Backend.GPU:
            outcome.lines.append(f"The emulator says why: ./workbook check {exercise.name} --backend emulator")
        if outcome.diagnostic is None:  # else the emulator says there what the verdict says better
            output += errors
        outcome.printed = [line for line in output.splitlines() if line.strip()][-_PRINTED_LINES:]
        return outcome


def _examined(workspace: Workspace, exercise: Exercise, launches: list[dict[str, Any]]) -> Outcome:
    """The outcome for right results: whether they came about as the exercise asks, by the emulator's own record."""
    if not launches:
        return Outcome("run", ["The emulator saw no launch of a kernel."])
    missed = evidence.missed(exercise.counters, launches, workspace)
    return Outcome("counters", missed) if missed else Outcome("passed")


def _steering(place: Path, order: str) -> dict[str, str]:
    """How the emulator shall run, and where it shall write what it found."""
    return {
        "EMULATOR_ORDER": order,
        "EMULATOR_REPORT": str(place / "report"),
        "EMULATOR_WATCHDOG": str(_WATCHDOG_BILLIONS),
        "EMULATOR_THREADS": str(min(os.cpu_count() or 1, _EMULATOR_THREADS)),
        "EMULATOR_COUNTERS": str(place / "counters"),
    }


def _diagnose(outcome: Outcome, report: list[dict[str, Any]]) -> None:
    """Adds the emulator's findings, if there are any; they are the reason why the program was stopped."""
    findings = sorted(report, key=_rank)
    if not findings:
        return
    outcome.diagnostic, outcome.more_diagnostics = findings[0], len(findings) - 1
    if outcome.stage in ("run", "passed"):
        outcome.stage = "run"
        outcome.lines = [re.sub(r"(the kernel was stopped): .*", r"\1:", line) for line in outcome.lines]


def _rank(finding: dict[str, Any]) -> bool:
    """What to show last: warnings, and what mostly follows from something else."""
    return finding.get("severity") in ("warning", "note") or finding["name"] in _CONSEQUENCES


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8", errors="replace").splitlines() if file.exists() else []


def _verdict(file: Path, token: str) -> list[str]:
    """What the judge of this run wrote; nothing if the file is somebody else's."""
    first, *rest = _lines(file) or [""]
    return rest if first == token else []


def _records(file: Path) -> list[dict[str, Any]]:
    """The objects in a file with one of them a line; a line that the program's end cut short is none."""
    records = []
    for line in _lines(file):
        with contextlib.suppress(ValueError):
            records.append(json.loads(line))
    return records


def _judged(verdict: list[str], status: int | None, seconds: float) -> Outcome:
    """What the judge wrote, or why it could not."""
    word, case, *message = verdict + [""] * (3 - len(verdict))
    if status is None:
        return Outcome(
            "run",
            [
                *([f"Tried {case}."] if case else []),
                f"It had not ended after {seconds:g} s, and was stopped.",
                "Look for a wait that nothing ends, or a loop whose condition never becomes false, in the kernel.",
            ],
        )
    if word == "passed" and status == 0:
        return Outcome("passed")
    if word == "failed":
        return Outcome("result", [*([f"Tried {case}."] if case else []), *message])
    if word == "stopped":
        return Outcome("run", [f"Tried {case}; the kernel was stopped: {message[0]}."])
    if status < 0 or status > 128:
        return Outcome("run", [_death(-status if status < 0 else status - 128)])
    return Outcome(
        "run",
        [
            f"The judge ended with exit status {status} before it had seen a result.",
            "That is a mistake of the workbook, not yours.",
        ],
    )


def _death(number: int) -> str:
    if number == signal.SIGXFSZ:
        return "It printed more than 32 MB, and was stopped."
    if number == signal.SIGABRT:
        return "The judge was aborted. That is a mistake of the workbook, not yours."
    if number in (signal.SIGSEGV, signal.SIGBUS):
        return "The judge crashed. That is a mistake of the workbook, not yours."
    try:
        return f"It was ended by signal {signal.Signals(number).name}."
    except ValueError:
        return f"It was ended by signal {number}."
