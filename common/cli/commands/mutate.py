"""Tests the tests: makes small wrong changes to the kernels and shows that each is caught.

Each change (a mutant of tests/mutants/CHAPTER.toml) is made to a copy, built, and run on the emulator. It is caught
when a result is wrong or the emulator names a mistake, and missed when all is reported well; a miss ends the command
with status 1. So does a mutant that does not compile or whose text is not found exactly once. Without CHAPTER all
chapters are done, which takes some minutes.
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from .. import backend, build, chapters, mutants, progress, requirements
from ..errors import FAILURE, UsageError, UserError
from ..mutants import TEST, Mutant, MutantError
from ..workspace import Workspace

NAME = "mutate"
HELP = "test the tests: change kernels wrongly and show that it is noticed"
SECONDS = 120  # after which a program or a compiler is ended
CAUGHT, MISSED, ERROR = "caught", "missed", "ERROR"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: caught by what, missed, or why it could not be tried."""

    mutant: Mutant
    result: str
    by: str
    line: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Recipe:
    """How the build makes a program: the command that compiles its CUDA source, and the one that links it."""

    source: Path
    object: str
    compile: tuple[str, ...]
    link: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chapter", nargs="?", help="number or name of a chapter")
    parser.add_argument("--only", metavar="TEXT", help="only mutants with this in their name")
    parser.add_argument("--sample", metavar="N", type=int, help="only N mutants, spread over the chapters")
    parser.add_argument("--seed", type=int, default=1, help="which ones --sample draws (default: 1)")
    parser.add_argument("--jobs", metavar="N", type=int, help="mutants at a time (default: one a processor)")
    parser.add_argument("--json", metavar="FILE", help="write the outcomes to FILE too")
    parser.add_argument(
        "--built", action="store_true", help="programs and tests are built already (as in Meson's tests)"
    )


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    chosen = _chosen(options, workspace)
    record = _open_json(options.json)
    ninja, env = _prepare(options.built, chosen, workspace)
    recipes = {target: recipe(ninja, workspace, target) for target in _targets(chosen, workspace)}
    jobs = options.jobs or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(jobs) as pool:
        _check_baseline(pool, chosen, workspace, env)
        outcomes = _try_all(pool, chosen, recipes, workspace, env)
    _report(outcomes, workspace)
    if record:
        with record:
            json.dump(as_json(outcomes, options), record, indent=1, ensure_ascii=False)
            record.write("\n")
    return 0 if all(outcome.result == CAUGHT for outcome in outcomes) else FAILURE


def _chosen(options: argparse.Namespace, workspace: Workspace) -> list[Mutant]:
    for option in ("sample", "jobs"):
        if (number := getattr(options, option)) is not None and number < 1:
            raise UsageError(f"--{option} {number}: expected a number of 1 or more")
    known = chapters.all_chapters(workspace)
    wanted = [chapters.resolve(options.chapter, known)] if options.chapter is not None else known
    chosen = [mutant for chapter in wanted for mutant in mutants.load(workspace, chapter)]
    if options.sample is None:
        chosen += [several for chapter in wanted for several in mutants.load_together(workspace, chapter)]
    if options.only is not None:
        chosen = [mutant for mutant in chosen if options.only in mutant.name]
        if not chosen:
            raise UsageError(f"no mutant has '{options.only}' in its name")
    return mutants.sample(chosen, options.sample, options.seed) if options.sample else chosen


def _open_json(name: str | None) -> TextIO | None:
    """The file of --json, before any work is done."""
    try:
        return open(name, "w", encoding="utf-8") if name else None
    except OSError as error:
        raise UsageError(f"--json {name}: {error.strerror}") from None


# ---- what the build knows ----


def _prepare(built: bool, chosen: Sequence[Mutant], workspace: Workspace) -> tuple[Path, dict[str, str]]:
    """Builds what the mutants are compared with. Returns Ninja and the environment for compilers and programs."""
    if built:
        found = {r.key: r.probe(workspace) for r in (requirements.NINJA, requirements.NVCC)}
        if missing := [key for key, tool in found.items() if tool is None]:
            raise UserError(f"{missing[0]} is missing; ./workbook mutate without --built gets it")
        ninja, nvcc = found["ninja"].path, found["nvcc"].path
    else:
        tools = build.ready(workspace)
        ninja, nvcc = tools.path("ninja"), tools.path("nvcc")
        targets = [*_targets(chosen, workspace), *build.emulator_targets(workspace)]
        build.build(workspace, tools, targets)
    env = backend.environment(backend.Backend.EMULATOR, workspace)
    env["EMULATOR_LIB"] = str(workspace.build / build.EMULATOR_DIRECTORY)
    env["EMULATOR_THREADS"] = "1"  # many mutants run at a time
    env["WORKBOOK_TEST_TIMEOUT"] = str(SECONDS // 2)
    env["PATH"] = os.pathsep.join([str(nvcc.parent), env.get("PATH", os.defpath)])
    return ninja, env


def _target(mutant: Mutant, workspace: Workspace) -> str:
    """What the mutant is built in place of, as Ninja calls it."""
    if mutant.run == TEST:
        return f"tests/chapters/{mutant.chapter.name}_test"
    return str(mutant.chapter.program(workspace).relative_to(workspace.build))


def _targets(chosen: Sequence[Mutant], workspace: Workspace) -> list[str]:
    return list(dict.fromkeys(_target(mutant, workspace) for mutant in chosen))


def recipe(ninja: Path, workspace: Workspace, target: str) -> Recipe:
    """Asks Ninja for the commands of a program, so that a mutant is built with the very same options."""
    done = subprocess.run(
        [ninja, "-C", workspace.build, "-t", "commands", target],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    commands = [words for line in done.stdout.splitlines() if (words := shlex.split(line))]
    objects = [w for w in (commands[-1] if commands else []) if w.startswith(f"{target}.p/")]
    compiling = [words for words in commands if objects and objects[0] in words and "-c" in words]
    if done.returncode != 0 or len(objects) != 1 or len(compiling) != 1:
        raise UserError(f"{workspace.build} does not say how {target} is built; delete it and try again")
    source = (workspace.build / compiling[0][compiling[0].index("-c") + 1]).resolve()
    return Recipe(source, objects[0], tuple(compiling[0]), tuple(commands[-1]))


# ---- trying a mutant ----


def _tree(mutant: Mutant) -> list[str]:
    """The directories that a mutant's program is built from."""
    own = f"chapters/{mutant.chapter.directory}"
    return [own, "common/include", *(["tests/chapters"] if mutant.run == TEST else [])]


def _relocated(words: Sequence[str], mutant: Mutant, workspace: Workspace, copy: Path) -> Iterator[str]:
    """The words of a compiler's command with the copied directories in place of the reader's."""
    for word in words:
        flag, path = ("-I", word[2:]) if word.startswith("-I") else ("", word)
        place = (workspace.build / path).resolve() if "/" in path and not word.startswith("-D") else None
        inside = place is not None and place.is_relative_to(workspace.root)
        relative = place.relative_to(workspace.root) if place and inside else Path()
        if any(relative.is_relative_to(part) for part in _tree(mutant)):
            yield f"{flag}{copy / relative}"
        else:
            yield word


def compile_command(
    plan: Recipe, mutant: Mutant, workspace: Workspace, copy: Path, output: Path
) -> list[str]:
    """The build's command without what costs time: machine code, the host's optimiser, dependencies, warnings."""
    kept: list[str] = []
    words = iter(plan.compile)
    for word in words:
        if word in ("-MT", "-MQ", "-MF", "-o"):
            next(words)
        elif word.startswith("-gencode="):
            target = word.split("arch=", 1)[1].split(",", 1)[0]
            kept.append(f"-gencode=arch={target},code={target}")
        elif word.startswith(("-Xcompiler=-W", "-Werror")) or word in ("-MD", "-g", "-O1", "-O2", "-O3"):
            continue
        else:
            kept.append(word)
    return [*_relocated(kept, mutant, workspace, copy), "-w", "-o", str(output)]


def _build(plan: Recipe, mutant: Mutant, workspace: Workspace, env: dict[str, str], copy: Path) -> Path:
    """Compiles and links the program from the copy."""
    unit, program = copy / "mutant.o", copy / "mutant"
    link = [{plan.object: str(unit), _target(mutant, workspace): str(program)}.get(w, w) for w in plan.link]
    for command in (compile_command(plan, mutant, workspace, copy, unit), link):
        try:
            done = _run(command, env, workspace.build)
        except subprocess.TimeoutExpired:
            raise MutantError(f"compiling took more than {SECONDS} s") from None
        if done.returncode != 0:
            said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            reason = next((line for line in said if "error" in line), said[0] if said else "no message")
            raise MutantError(f"it does not compile: {reason.replace(f'{copy}/', '')}")
    return program


def _run(command: Sequence[str | Path], env: dict[str, str], where: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end; after SECONDS it and all that it started are ended."""
    with subprocess.Popen(
        command,
        env=env,
        cwd=where,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        process_group=0,
    ) as process:
        try:
            output, errors = process.communicate(timeout=SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def verdict(program: Path, mutant: Mutant, env: dict[str, str]) -> list[str]:
    """Runs a program or test. What it and the emulator complain of; nothing if all is well."""
    with tempfile.TemporaryDirectory() as directory:
        report, results = Path(directory) / "report", Path(directory) / "results.json"
        arguments = [mutant.case] if mutant.case else []
        if mutant.run != TEST:
            arguments = ["--json", str(results), *(["--kernel", mutant.kernel] if mutant.kernel else [])]
        try:
            done = _run([program, *arguments], env | {"EMULATOR_REPORT": str(report)}, Path(directory))
        except subprocess.TimeoutExpired:
            raise MutantError(f"still running after {SECONDS} s") from None
        complaints = _diagnoses(report)
        complaints += _failed_cases(done.stdout, mutant.case) if mutant.run == TEST else _failed_kernels(results)
    if done.returncode == 0 or (done.returncode == FAILURE and complaints):
        return complaints
    if done.returncode < 0:
        raise MutantError(f"the program was ended by {signal.Signals(-done.returncode).name}")
    said = (done.stderr or done.stdout).strip().splitlines()
    raise MutantError(f"the program ended with {done.returncode}: {said[-1] if said else 'no message'}")


def _diagnoses(report: Path) -> list[str]:
    lines = report.read_text("utf-8").splitlines() if report.exists() else []
    return list(dict.fromkeys(json.loads(line)["name"] for line in lines if line.strip()))


def _failed_kernels(results: Path) -> list[str]:
    """Kernels whose results are wrong or that ended with an error."""
    text = results.read_text("utf-8") if results.exists() else ""
    if not text.strip():  # the program ended before it could write them
        return []
    kernels = json.loads(text)["kernels"]
    return [f"wrong result of {k['name']}: {k['detail']}" for k in kernels if not k["ok"]]


def _failed_cases(output: str, case: str) -> list[str]:
    lines = output.splitlines()
    failed = [line.split(" (")[0][4:].strip() for line in lines if line.startswith("FAIL  ")]
    if not failed and any(line.startswith("test cases:") and " failed" in line for line in lines):
        failed = [case]
    return [f"failed test: {name}" for name in failed]


def _try(mutant: Mutant, plan: Recipe, workspace: Workspace, env: dict[str, str]) -> Outcome:
    began, line = time.monotonic(), 0
    try:
        with tempfile.TemporaryDirectory(prefix="mutant-") as directory:
            copy = Path(directory).resolve()
            for part in _tree(mutant):
                shutil.copytree(workspace.root / part, copy / part)
            text, line = mutants.mutated((copy / mutant.file).read_text("utf-8"), mutant)
            (copy / mutant.file).write_text(text, "utf-8")
            complaints = verdict(_build(plan, mutant, workspace, env, copy), mutant, env)
        result, by = judge(mutant, complaints)
    except (MutantError, OSError, ValueError) as error:
        result, by = ERROR, str(error)
    return Outcome(mutant, result, by, line, time.monotonic() - began)


def judge(mutant: Mutant, complaints: Sequence[str]) -> tuple[str, str]:
    """Caught or missed, and by what."""
    if not complaints:
        return MISSED, "nothing noticed it"
    if mutant.expect and mutant.expect not in complaints:
        return MISSED, f"expected {mutant.expect}, got {complaints[0]}"
    return CAUGHT, mutant.expect or complaints[0]


def _check_baseline(
    pool: ThreadPoolExecutor, chosen: Sequence[Mutant], workspace: Workspace, env: dict[str, str]
) -> None:
    """The unchanged programs must pass with the same arguments, or a failing mutant would prove nothing."""
    runs = {(_target(m, workspace), m.kernel, m.case): m for m in chosen}
    results = pool.map(lambda m: _baseline(m, workspace, env), runs.values())
    for (target, *_), complaint in zip(runs, results, strict=True):
        if complaint:
            raise UserError(f"{target} fails without any change, so it cannot judge mutants: {complaint}")


def _baseline(mutant: Mutant, workspace: Workspace, env: dict[str, str]) -> str:
    try:
        complaints = verdict(workspace.build / _target(mutant, workspace), mutant, env)
    except (MutantError, OSError, ValueError) as error:
        return str(error)
    return complaints[0] if complaints else ""


def _try_all(
    pool: ThreadPoolExecutor,
    chosen: Sequence[Mutant],
    recipes: dict[str, Recipe],
    workspace: Workspace,
    env: dict[str, str],
) -> list[Outcome]:
    line = progress.Line()
    running = {
        pool.submit(_try, mutant, recipes[_target(mutant, workspace)], workspace, env): index
        for index, mutant in enumerate(chosen)
    }
    outcomes: dict[int, Outcome] = {}
    try:
        for future in as_completed(running):
            outcome = outcomes[running[future]] = future.result()
            text = f"{outcome.mutant.chapter.name}: {outcome.mutant.name}"
            line.step(progress.Step(len(outcomes), len(chosen), text))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    line.finish()
    return [outcomes[index] for index in range(len(chosen))]


# ---- saying it ----


def _report(outcomes: Sequence[Outcome], workspace: Workspace) -> None:
    rows = [(o.mutant.chapter.name, o.mutant.name, o.result, o.by) for o in outcomes]
    rows.insert(0, ("chapter", "mutant", "result", "by"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    rows.insert(1, ("-" * widths[0], "-" * widths[1], "-" * widths[2], "--"))
    for row in rows:
        start = "  ".join(f"{word:{width}}" for word, width in zip(row, widths))
        print(f"{start}  {row[3] if row[2] != CAUGHT or len(row[3]) < 60 else row[3][:57] + '...'}")
    print()
    for outcome in outcomes:
        if outcome.result != CAUGHT:
            mutant = outcome.mutant
            print(f"{outcome.result}: {mutant.chapter.name}, {mutant.name} ({mutant.file}:{outcome.line})")
            print(f"  {mutant.why}")
    counts = {result: sum(o.result == result for o in outcomes) for result in (CAUGHT, MISSED, ERROR)}
    print(f"{counts[CAUGHT]} caught, {counts[MISSED]} missed, {counts[ERROR]} errors")


def as_json(outcomes: Sequence[Outcome], options: argparse.Namespace) -> dict[str, object]:
    """The form of --json."""
    return {
        "schema": 1,
        "sample": options.sample,
        "seed": options.seed if options.sample else None,
        "mutants": [
            {
                "chapter": o.mutant.chapter.name,
                "name": o.mutant.name,
                "why": o.mutant.why,
                "file": o.mutant.file,
                "line": o.line or None,
                "result": o.result.lower(),
                "by": o.by,
                "seconds": round(o.seconds, 1),
            }
            for o in outcomes
        ],
    }
