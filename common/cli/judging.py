"""One check: compile the learner's file alone, link it with the judge, run both in a process of their own, and say what
came of it. Whatever the file does, the check ends, and the next one works."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from . import backend, build, counted, temporary
from .backend import Backend
from .confine import Cage
from .errors import UserError
from .exercises import Condition, Exercise
from .setup import Tools
from .workspace import Workspace

DEFAULT_BACKEND = "emulator"
"""It explains what is wrong and counts, which a GPU does not."""
MISSED = "The results are right, but "
COMPILE_SECONDS = 120
RUN_SECONDS = 20
_WATCHDOG_BILLIONS = 1
"""Of instructions of threads that change nothing, before a kernel counts as an endless loop."""
_EMULATOR_THREADS = 8
_MEMORY_KIB = 12 * 1024 * 1024
_FILE_BLOCKS = 64 * 1024  # of 512 bytes: 32 MiB
_CAPTURED = 16 * 1024
_PRINTED_LINES = 10
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
    """Builds what checks need beside the learner's file: the judges, and the emulator."""
    for number in (signal.SIGTERM, signal.SIGHUP):  # end like Ctrl-C does: with everything that was started
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    tools = build.ready(workspace)
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
        program = directory / exercise.name
        problem = _compile(workspace, tools, exercise, file, program, cage)
        outcome = problem or run(workspace, exercise, program, where, seconds, cage=cage)
        if not outcome.passed:
            temporary.require_room(directory, outcome.lines if outcome.stage == "compile" else ())
        return outcome


# ---- compiling ----


def _compile(
    workspace: Workspace, tools: Tools, exercise: Exercise, file: Path, program: Path, cage: Cage | None
) -> Outcome | None:
    """None if all went well. Paths are relative to the clone, so that messages are short."""
    source = os.path.relpath(file, workspace.root)
    judge = exercise.judge(workspace)
    command = [
        *(str(tools.path("nvcc")), "-std=c++20", "-gencode=arch=compute_90,code=compute_90", "-lineinfo"),
        *("-cudart=shared", "-I", "common/include", source, str(judge)),
        # Takes the judge's main in any case, so that a second one is noticed.
        *("-Xlinker=--undefined=_ZN5judge3runEv", "-Xlinker=--no-demangle", "-o", str(program)),
    ]
    if not file.is_file():
        raise UserError(f"there is no file {source}")
    env = {**os.environ, "TMPDIR": str(program.parent)}
    if cage is not None:
        command = cage.command(command, workspace.root, readable=[file, *_parts(judge)], writable=[program.parent])
        env = cage.environment(env)
    status, output, errors = _finish(command, workspace.root, env, COMPILE_SECONDS)
    if status == 0:
        return None
    if status is None:
        return Outcome("compile", [f"The compiler had not finished after {COMPILE_SECONDS} s, and was stopped."])
    return Outcome("compile", compiler_problem((output + errors).splitlines(), source))


def _parts(judge: Path) -> list[Path]:
    """What a linker opens for the judge: Meson's archives only name their members."""
    return [*judge.parent.glob(f"{judge.name}*"), *judge.parent.glob("libjudge_main.a*")]


_ERROR = re.compile(r"^(?P<place>\S+?\(\d+\)|[^\s:]+:\d+(:\d+)?): (fatal |catastrophic )?error|^ptxas .*(error|fatal)")


def compiler_problem(lines: list[str], source: str) -> list[str]:
    """The first error, with the place in the learner's file, in a few lines."""
    for number, line in enumerate(lines):
        if match := re.search(r"undefined (?:reference to|symbol:?) [`']?(\w+)", line):
            return [
                f"{source} defines no function with the signature that the judge calls: {_demangled(match[1])}",
                "It must be declared exactly as the exercise has it.",
            ]
        if "multiple definition of" in line and "main" in line:
            return [f"{source} has a function `main`: leave it out, the judge has one."]
        if _ERROR.match(line):
            rest = []
            for after in lines[number + 1 : number + 8]:
                if not after.strip() or _ERROR.match(after) or "error" in after.split(":")[0]:
                    break
                rest.append(after)
            if source not in line:  # in a header: where the learner's file comes in
                rest += [after.strip() for after in lines[number + 1 :] if source in after][:1]
            return [_without_temporary(line), *rest]
    return ["The compiler stopped without naming an error:", *lines[-5:]]


def _without_temporary(line: str) -> str:
    """ptxas names a file that is gone already."""
    return re.sub(r"ptxas \S+, line \d+; ", "assembler: ", line)


def _demangled(symbol: str) -> str:
    try:
        done = subprocess.run(["c++filt", symbol], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return symbol
    text = done.stdout.strip() or symbol
    return re.sub(r", 18446744073709551615ul", "", text)


# ---- running ----


def run(
    workspace: Workspace,
    exercise: Exercise,
    program: Path,
    where: Backend,
    seconds: float = RUN_SECONDS,
    *,
    order: str = "late",
    cage: Cage | None = None,
) -> Outcome:
    """Runs a program that is linked with its judge, within limits of time, memory and output."""
    with temporary.directory("run") as place:
        env = backend.environment(where, workspace)
        env = {name: value for name, value in env.items() if not name.startswith("EMULATOR_")}
        env["JUDGE_VERDICT"] = str(place / "verdict")
        command = [str(program)]
        if where is Backend.EMULATOR:
            env |= _steering(place, exercise, order)
            processor = int(seconds * _EMULATOR_THREADS) + 1  # ends it even if nobody is left to do so
            limits = f"ulimit -c 0; ulimit -v {_MEMORY_KIB}; ulimit -f {_FILE_BLOCKS}; ulimit -t {processor}"
            command = ["/bin/sh", "-c", f'{limits}; exec "$0"', str(program)]
        if cage is not None:
            command = cage.command(command, workspace.root, readable=[program], writable=[place])
            env = cage.environment(env)
        status, output, errors = _finish(command, workspace.root, env, seconds)
        outcome = _judged(_lines(place / "verdict"), status, seconds)
        _diagnose(outcome, _records(place / "report"))
        if outcome.passed and where is Backend.EMULATOR:
            outcome = missed(exercise.counters, _records(place / "counters"), workspace) or outcome
        if outcome.stage == "run" and where is Backend.GPU:
            outcome.lines.append(f"The emulator says why: ./workbook check {exercise.name} --backend emulator")
        if outcome.diagnostic is None:  # else the emulator says there what the verdict says better
            output += errors
        outcome.printed = [line for line in output.splitlines() if line.strip()][-_PRINTED_LINES:]
        return outcome


def _steering(place: Path, exercise: Exercise, order: str) -> dict[str, str]:
    """How the emulator shall run, and where it shall write what it found."""
    settings = {
        "EMULATOR_ORDER": order,
        "EMULATOR_REPORT": str(place / "report"),
        "EMULATOR_WATCHDOG": str(_WATCHDOG_BILLIONS),
        "EMULATOR_THREADS": str(min(os.cpu_count() or 1, _EMULATOR_THREADS)),
    }
    return settings | ({"EMULATOR_COUNTERS": str(place / "counters")} if exercise.counters else {})


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


def _records(file: Path) -> list[dict[str, Any]]:
    """The objects in a file with one of them a line; a line that the program's end cut short is none."""
    records = []
    for line in _lines(file):
        with contextlib.suppress(ValueError):
            records.append(json.loads(line))
    return records


def _finish(
    command: list[str], cwd: Path, env: dict[str, str], seconds: float
) -> tuple[int | None, str, str]:
    """Runs `command` in a process group of its own; returns its status and what it wrote to stdout and stderr.

    Status None: it was stopped after `seconds`.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"cannot start {command[0]}: {error.strerror}") from None
        with _ended(process):
            try:
                status: int | None = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                status = None
        return status, _captured(output), _captured(errors)


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leaves no process of the group behind, not even on Ctrl-C, which does not reach another session."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _captured(output: BinaryIO) -> str:
    """The beginning and the end of what was printed."""
    size = output.seek(0, os.SEEK_END)
    output.seek(0)
    if size <= 2 * _CAPTURED:
        return output.read().decode(errors="replace")
    head = output.read(_CAPTURED)
    output.seek(size - _CAPTURED)
    return (head + b"\n" + output.read(_CAPTURED)).decode(errors="replace")


def _judged(verdict: list[str], status: int | None, seconds: float) -> Outcome:
    """What the judge wrote, or why it could not."""
    word, case, *message = verdict + [""] * (3 - len(verdict))
    if status is None:
        return Outcome(
            "run",
            [
                *([f"Tried {case}."] if case else []),
                f"It had not ended after {seconds:g} s, and was stopped.",
                "Look for a loop whose condition never becomes false, in the kernel or in the launch function.",
            ],
        )
    if word == "passed":
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
            f"It ended with exit status {status} before the judge had seen a result.",
            "Only the judge may end the program: leave out exit().",
        ],
    )


def _death(number: int) -> str:
    if number == signal.SIGXFSZ:
        return "It printed more than 32 MB, and was stopped."
    if number == signal.SIGABRT:
        return "It was aborted: by abort(), a failed assert, or an exception that nobody caught."
    if number in (signal.SIGSEGV, signal.SIGBUS):
        return "It crashed on the host: the launch function used memory that is not its own (device memory?)."
    try:
        return f"It was ended by signal {signal.Signals(number).name}."
    except ValueError:
        return f"It was ended by signal {number}."


# ---- counters ----


def missed(
    conditions: tuple[Condition, ...], launches: list[dict[str, Any]], workspace: Workspace
) -> Outcome | None:
    """The first condition that the counters do not meet, with the source line that counts most."""
    for condition in conditions:
        mine = [launch for launch in launches if condition.kernel in launch["kernel"]]
        if not mine:
            return Outcome("counters", [f"No kernel whose name contains `{condition.kernel}` was launched."])
        value = sum(launch["total"][condition.field] for launch in mine)
        per = sum(launch["total"][condition.per] for launch in mine) if condition.per else 1
        if not _holds(condition, value, per):
            return Outcome("counters", _counted(condition, mine, value, per, workspace))
    return None


def _holds(condition: Condition, value: int, per: int) -> bool:
    limit = condition.limit * per
    return {"at_most": value <= limit, "at_least": value >= limit, "equals": value == limit}[condition.bound]


def _counted(
    condition: Condition, launches: list[dict[str, Any]], value: int, per: int, workspace: Workspace
) -> list[str]:
    count = counted.amount(value, condition.field)
    unit = f" per {counted.one(condition.per)}" if condition.per else ""
    wanted = counted.bound(condition.bound, condition.limit)
    if condition.per and per:
        count = counted.amount(float(f"{value / per:.4g}"), condition.field) + unit
    elif condition.per:
        count, wanted = f"{count} and no {counted.one(condition.per)}", wanted + unit
    text = f"{MISSED}the emulator counts {count}; asked for: {wanted}."
    result = [text, condition.says]
    by_line: dict[tuple[str, int], int] = {}
    for launch in launches:
        for entry in launch["lines"]:
            place = (entry["file"], entry["line"])
            by_line[place] = by_line.get(place, 0) + entry["counts"].get(condition.field, 0)
    place = max(by_line, key=lambda key: by_line[key], default=None)
    if place and by_line[place] and condition.bound != "at_least":
        result.append(f"Most of them come from {quoted(place[0], place[1], workspace)}")
    return result


def quoted(file: str, line: int, workspace: Workspace) -> str:
    """`file:line: text of the line`, the file as short as it can be."""
    path = Path(file) if os.path.isabs(file) else workspace.root / file
    try:
        text = path.read_text("utf-8").splitlines()[line - 1].strip()
    except (OSError, UnicodeDecodeError, IndexError):
        text = ""
    name = workspace.relative(Path(os.path.normpath(path)))
    return f"{name}:{line}" + (f": {text}" if text else "")
