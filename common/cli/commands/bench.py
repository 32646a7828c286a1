"""Measures on a GPU what the book says about speed, and writes it down with everything that it depends on.

CHAPTER is a number or a name; without it all chapters are measured. The file of the GPU (docs/measurements/h200.json) is
updated: tables that were not measured this time stay. `--show` needs no GPU: it prints a file's tables, the reasons that the
book gives with what each stands on, and every claim with its figure, its bound and PASS or FAIL, and ends with status 1 if
one fails. Clocks and other settings are never changed.
"""

import argparse
import datetime
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import backend, bench_chapters, bench_run, bench_tables, build, chapters, reasons
from ..backend import Backend
from ..bench_chapters import Bench, Tuner
from ..bench_file import Measurements, Tables, read, rounded, show_table
from ..chapters import Chapter
from ..errors import FAILURE, UsageError, UserError
from ..workspace import Workspace

NAME = "bench"
HELP = "measure on a GPU, or show what was measured"
_DIRECTORY = Path("docs/measurements")
_SHOWN = "h200.json"
_REPORT = "report"  # the tables of the chapters' own programs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chapter", nargs="*", help="numbers or names of chapters (default: all)")
    backend.add_option(parser)
    parser.add_argument(
        "--show", nargs="?", const="", metavar="FILE", help=f"print a measurement file (default: {_DIRECTORY / _SHOWN})"
    )
    parser.add_argument("--all", action="store_true", help="with --show: print the raw tables too")
    parser.add_argument("--output", metavar="FILE", help="write to this file instead of the GPU's")
    parser.add_argument(
        "--programs", metavar="DIRECTORY", help="programs that are built already, all in one directory: build nothing"
    )
    parser.add_argument(
        "--tune", action="store_true", help="run the tuners that chapters have, too; their trials get a file of their own (5 minutes)"
    )
    parser.add_argument(
        "--against", metavar="FILE", help="note how well the times agree with those of an earlier run's file"
    )
    parser.add_argument("--commit", metavar="ID", help="the commit to note, where git cannot tell")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    if options.show is not None:
        if options.chapter:
            raise UsageError("--show takes a file and no chapters")
        own = reasons.texts(workspace.root, [chapter.directory for chapter in chapters.all_chapters(workspace)])
        return show(Path(options.show) if options.show else workspace.root / _DIRECTORY / _SHOWN, options.all, own)
    known = chapters.all_chapters(workspace)
    chosen = [chapters.resolve(name, known) for name in options.chapter] or known
    benches = bench_chapters.load(workspace.root, [chapter.directory for chapter in known])
    if backend.select(options.backend) is Backend.EMULATOR:
        raise UserError(
            "bench measures time, which the emulator does not have; it needs a GPU of compute capability 9.0 or newer "
            "(`./workbook bench --show` prints what one measured)"
        )
    driver = backend.query_driver()
    gpu = driver.gpus[0].name if driver and driver.gpus else "GPU"
    path = Path(options.output) if options.output else workspace.root / _DIRECTORY / f"{file_name(gpu)}.json"
    found = read(path) if path.exists() else Measurements()
    programs = _programs(options, workspace, chosen, benches)
    _about(found, gpu, workspace, options.commit)
    _measure(options, found, workspace, chosen, programs, path, benches)
    if options.against:
        derived = bench_chapters.derived(benches.values())
        table = bench_tables.agreement(read(Path(options.against)).tables, found.tables, derived)
        _finish(found, {"agreement": table}, path, benches)
    print(f"workbook: wrote {workspace.relative(path)}")
    _draw(workspace)
    failed = [claim for claim in found.claims if not claim.passed]
    for claim in failed:
        print(claim)
    return FAILURE if failed or found.failures else 0


def file_name(gpu: str) -> str:
    """h200 for 'NVIDIA H200': what tells GPUs apart, as a file's name."""
    words = re.sub(r"[^a-z0-9]+", "_", gpu.lower().removeprefix("nvidia").strip()).strip("_")
    return words or "gpu"


def show(path: Path, raw: bool, own: Sequence[reasons.Text] = ()) -> int:
    """Prints a file and the reasons of these texts; fails if one of its claims does."""
    found = read(path)
    for key, value in found.about.items():
        print(f"{key}: {value}")
    for row in found.conditions:
        print("conditions: " + ", ".join(f"{name} {value}" for name, value in row.items()))
    for name, table in found.tables.items():
        if raw or not table.raw:
            print()
            for line in show_table(name, table):
                print(line)
    for line in reasons.shown(own):
        print(line)
    print()
    for claim in found.claims:
        print(claim)
    for failure in found.failures:
        print(f"FAIL  {failure}")
    failed = sum(not claim.passed for claim in found.claims) + len(found.failures)
    print(f"{len(found.claims)} claims, {failed} failed")
    return FAILURE if failed else 0


def _programs(
    options: argparse.Namespace, workspace: Workspace, chosen: Sequence[Chapter], benches: Mapping[str, Bench]
) -> dict[str, Path]:
    """The programs of these chapters by name: NAME and NAME_bench, where a chapter has one."""
    names = {
        name: Path("chapters") / chapter.directory / name
        for chapter in chosen
        for name in (chapter.name, f"{chapter.name}_bench")
        if name == chapter.name or (workspace.root / "chapters" / chapter.directory / "bench.cu").exists()
    }
    if options.tune:
        tuners = {
            tuner.program: Path("chapters") / chapter.directory / tuner.program
            for chapter in chosen
            if (tuner := benches[chapter.directory].tuner)
        }
        if not tuners:
            raise UsageError(f"--tune is for {', '.join(name for name, bench in benches.items() if bench.tuner) or 'no chapter'}")
        names |= tuners
    if options.programs:
        directory = Path(options.programs).absolute()
        found = {name: directory / name for name in names if (directory / name).exists()}
        if not found:
            raise UsageError(f"--programs {options.programs}: there is none of {', '.join(names)}")
        return found
    tools = build.ready(workspace)
    build.build(workspace, tools, [str(path) for path in names.values()])
    return {name: workspace.build / path for name, path in names.items()}


def _about(found: Measurements, gpu: str, workspace: Workspace, commit: str | None) -> None:
    found.about = {
        "gpu": gpu,
        "driver": bench_run.driver_version(),
        "toolkit": bench_run.toolkit_version(["nvcc", "/usr/local/cuda/bin/nvcc"]),
        "commit": commit or bench_run.commit(workspace.root),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    }


def _measure(
    options: argparse.Namespace,
    found: Measurements,
    workspace: Workspace,
    chosen: Sequence[Chapter],
    programs: dict[str, Path],
    path: Path,
    benches: Mapping[str, Bench],
) -> None:
    """Runs everything; the file is written after each program, so that an interruption loses little."""
    env = backend.environment(Backend.GPU, workspace)
    found.conditions = [bench_run.conditions("before")]
    found.failures = []
    for chapter in chosen:
        print(f"workbook: measuring {chapter.directory}", flush=True)
        fresh: Tables = {}
        bench = benches[chapter.directory]
        if program := programs.get(f"{chapter.name}_bench"):
            found.failures += bench_run.measure(program, env, fresh)
            if bench.then:
                found.failures += bench.then(program, env, fresh)
        if bench.tuner and (program := programs.get(bench.tuner.program)) and options.tune:
            found.failures += _tune(bench.tuner, found, program, env, fresh, path.with_name(f"{path.stem}_{bench.tuner.file}.json"))
        if (program := programs.get(chapter.name)) and bench.own_program:
            found.failures += bench_run.chapter_table(program, env, fresh, f"{_REPORT}_{chapter.name}")
        found.conditions.append(bench_run.conditions(f"after {chapter.directory}"))
        _finish(found, fresh, path, benches)


def _tune(
    tuner: Tuner, found: Measurements, program: Path, env: dict[str, str], fresh: Tables, path: Path
) -> list[str]:
    """Runs the tuner, writes its trials to a file of their own, and adds what readers want of them to `fresh`."""
    trials: Tables = {}
    failures = bench_run.measure(program, env, trials)
    Measurements(found.about, found.conditions, tuner.compact(trials), [], failures).write(path)
    fresh |= tuner.derive(trials)
    return failures


def _finish(found: Measurements, fresh: Tables, path: Path, benches: Mapping[str, Bench]) -> None:
    """Takes fresh tables over, makes those for readers and the claims anew, and writes the file."""
    every = benches.values()
    raw = bench_chapters.raw(every)
    found.tables |= fresh
    for name, table in found.tables.items():
        table.raw = name in raw
    found.tables = rounded(found.tables)
    found.tables |= rounded(bench_chapters.derive(every, found.tables))
    found.claims = bench_chapters.check(every, found.tables)
    found.write(path)


def _draw(workspace: Workspace) -> None:
    """Draws the pictures that are made from measurements anew."""
    for script in sorted((workspace.root / "docs" / "figures").glob("*.py")):
        if "import chart\n" not in script.read_text("utf-8"):
            continue
        subprocess.run([sys.executable, str(script)], check=False, cwd=workspace.root)
