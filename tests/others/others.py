#!/usr/bin/env python3
"""Runs published CUDA programs for Hopper, unchanged, on the emulator.

    others.py run --emulator DIR --sources DIR [--only NAME]     builds with nvcc, runs, writes the record
    others.py table                                              Markdown for docs/pages/emulator_reference.md

SOURCES has a checkout of each project of programs.toml, in a directory of the name that stands there; none of them is in
this repository. Each program runs in the late, the early and a random order. A program whose result is another than
programs.toml says is a failure, and the exit code is 1.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RECORD = ROOT / "docs/measurements/others.json"
ORDERS = ("late", "early", "random")
FLAGS = ["-O2", "-w", "-lineinfo", "-cudart=shared", "-gencode=arch=compute_90a,code=[compute_90a,sm_90a]"]


@dataclass(frozen=True)
class Program:
    """A program, and what comes out."""

    name: str
    project: str
    source: str  # In the project, or where `harness`: a header that a file beside this one includes.
    what: str
    arguments: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    include: list[str] = field(default_factory=list)  # Directories, by project and path.
    more: list[str] = field(default_factory=list)  # Sources beside the one, by project and path.
    replace: dict[str, str] = field(default_factory=dict)  # Sizes that are constants in the source.
    harness: str = ""
    needs: str = ""  # What the output must have, of programs that end well.
    refuses: str = ""  # What the output must not have, of programs that end well although they found errors.
    finding: str = ""  # What the emulator tells.
    also: list[str] = field(default_factory=list)  # Told in place of `finding` where the order decides which comes first.
    only_in: list[str] = field(default_factory=list)  # In these orders alone.
    warning: bool = False  # It is a warning, and the program ends well.
    says: str = ""  # Why that is no false alarm.


def programs() -> tuple[dict[str, str], list[Program]]:
    """The version of each project, and the programs."""
    text = tomllib.loads((HERE / "programs.toml").read_text("utf-8"))
    return text["projects"], [Program(**each) for each in text["program"]]


def build(program: Program, sources: Path, directory: Path, nvcc: str) -> Path:
    origin = sources / program.project / program.source
    text = origin.read_text("utf-8")
    for old, new in program.replace.items():
        if old not in text:
            raise SystemExit(f"{program.name}: '{old}' is not in {origin}; is this the version that programs.toml names?")
        text = text.replace(old, new)
    copy = origin
    if program.replace:
        copy = directory / origin.name
        copy.write_text(text, "utf-8")
    binary = directory / program.name
    main = [f"-DHEADER=\"{copy}\"", str(HERE / program.harness)] if program.harness else [str(copy)]
    includes = [f"-I{sources / path}" for path in [*program.include, f"{program.project}/{Path(program.source).parent}"]]
    more = [str(sources / path) for path in program.more]
    command = [nvcc, "-std=c++17", *FLAGS, *program.flags, *includes, *main, *more, "-o", str(binary), "-lcuda"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{program.name} does not compile:\n{done.stderr[-2000:]}")
    return binary


def execute(binary: Path, program: Program, emulator: Path, order: str) -> dict:
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report"
        environment = os.environ | {"LD_LIBRARY_PATH": str(emulator), "EMULATOR_REPORT": str(report), "EMULATOR_ORDER": order}
        begun = time.monotonic()
        done = subprocess.run([binary, *program.arguments], capture_output=True, text=True, errors="replace", env=environment,
                              timeout=1200, check=False)
        seconds = round(time.monotonic() - begun, 1)
        lines = report.read_text("utf-8").splitlines() if report.exists() else []
    findings = sorted({json.loads(line)["name"] for line in lines})
    return {"exit": done.returncode, "findings": findings, "seconds": seconds, "output": done.stdout}


def problem(program: Program, order: str, result: dict) -> str:
    told = program.finding and (not program.only_in or order in program.only_in)
    expected = [[name] for name in (program.finding, *program.also)] if told else [[]]
    if result["findings"] not in expected:
        return f"told {result['findings']}, expected {expected}"
    if (not told or program.warning) and result["exit"]:
        return f"exit code {result['exit']}: {result['output'][-400:]}"
    if program.needs and not told and program.needs not in result["output"]:
        return f"it does not say '{program.needs}'"
    if program.refuses and program.refuses in result["output"]:
        return f"it says '{program.refuses}'"
    return ""


def run(options: argparse.Namespace) -> int:
    failed = 0
    for program in programs()[1]:
        if options.only and options.only not in program.name:
            continue
        with tempfile.TemporaryDirectory() as directory:
            binary = build(program, options.sources, Path(directory), options.nvcc)
            results = {order: execute(binary, program, options.emulator, order) for order in ORDERS}
        wrong = {name: text for name, result in results.items() if (text := problem(program, name, result))}
        failed += bool(wrong)
        print(f"{program.name}: {wrong or 'as expected'}; {[result['seconds'] for result in results.values()]} s", flush=True)
        if not wrong:
            record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
            record[program.name] = {name: {key: result[key] for key in ("exit", "findings", "seconds")}
                                    for name, result in results.items()}
            RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", "utf-8")
    return 1 if failed else 0


def table() -> str:
    """What ran, and what came of it."""
    versions, listed = programs()
    record = json.loads(RECORD.read_text("utf-8"))
    lines = ["| program | what it is | result | seconds |", "|---|---|---|--:|"]
    for program in listed:
        results = record.get(program.name)
        if results is None:
            raise SystemExit(f"{program.name} is not in {RECORD}; run it")
        shown = "passes, nothing told"
        if program.finding:
            how = "passes, with a warning" if program.warning else "stopped"
            where = f", in the {' and '.join(program.only_in)} order; passes in the others" if program.only_in else ""
            names = " or ".join(f"`{name}`" for name in (program.finding, *program.also))
            shown = f"{how}: {names}{where}. {program.says}"
        seconds = max(result["seconds"] for result in results.values())
        lines.append(f"| `{program.project}` {versions[program.project]}, `{program.source}` | {program.what} | {shown} | {seconds:.1f} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--emulator", type=Path, required=True, help="the directory of its libraries")
    runs.add_argument("--sources", type=Path, required=True, help="the directory of the checkouts")
    runs.add_argument("--only", default="", help="programs that this occurs in the name of")
    runs.add_argument("--nvcc", default="nvcc")
    commands.add_parser("table")
    options = parser.parse_args()
    if options.command == "run":
        return run(options)
    sys.stdout.write(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
