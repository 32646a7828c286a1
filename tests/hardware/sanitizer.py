#!/usr/bin/env python3
"""Who finds the chapters' mistakes: the tools of compute-sanitizer on a GPU, and the emulator.

    sanitizer.py measure --programs DIR --output FILE                      on a GPU
    sanitizer.py compare --programs DIR --emulator DIR --measured FILE --output FILE
    sanitizer.py table                                                     Markdown for docs/pages/emulator_reference.md
    sanitizer.py summary                                                   what the table comes to, for README.md

A mistake that hangs is stopped after 15 s.
"""

import argparse
import json
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from subprocess import CompletedProcess

from programs import HUNG, ROOT, chapters, on_emulator, program, run

RESULT = Path("docs/measurements/h200_sanitizer.json")
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SECONDS = 15
KILLED = 137


def mistakes(binary: Path, environment: dict[str, str]) -> list[str]:
    return run([binary, "--list"], 30, environment).stdout.split()


def outcome(stdout: str, returncode: int) -> dict[str, str]:
    """What a run of compute-sanitizer came to, and the first line it said about the program."""
    said = [line.lstrip("= ") for line in stdout.splitlines() if line.startswith("=========")]
    summary = next((line for line in said if "SUMMARY" in line), "")
    counts = [int(number) for number in re.findall(r"\d+", summary)]
    noise = ("COMPUTE-SANITIZER", "Target application", "Saved host", "Host Frame", "Internal")
    lines = [line for line in said if line and "SUMMARY" not in line and not line.startswith(noise)]
    first = lines[0] if lines else ""
    if first.startswith(("Error: Target application terminated", "Error: process")):
        first = ""
    if returncode in (HUNG, KILLED) and not first:
        return {"result": "hung"}
    if first and (any(counts) or not summary):
        return {"result": "found", "first": first}
    if "tensor map at" in stdout:
        return {"result": "refused"}
    if not summary:
        return {"result": "failed", "first": stdout.strip()[-200:]}
    return {"result": "silent"}


def raw(result: CompletedProcess[str]) -> dict[str, str | int]:
    """How a run ended, with the start and the end of what it printed."""
    text = result.stdout + result.stderr
    return {"exit": result.returncode, "output": text if len(text) < 4000 else text[:3000] + "\n...\n" + text[-900:]}


def check(binary: Path, mistake: str, tool: str) -> dict[str, str | int]:
    # The inner limit ends the mistake alone, so that the tool still says what it found.
    command = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", "timeout", str(SECONDS)]
    return raw(run([*command, binary, mistake, "--on-gpu"], SECONDS + 5))


def bare(binary: Path, mistake: str) -> dict[str, str | int]:
    return raw(run([binary, mistake, "--on-gpu"], SECONDS))


def alone(stdout: str, returncode: int) -> dict[str, str]:
    """The mistake without any tool: does it run, fail, or hang, or is it refused before it runs?"""
    kind = {0: "no error", HUNG: "hung", KILLED: "hung"}.get(returncode, "error")
    if kind == "error" and "kernel failed" not in stdout:
        kind = "refused"
    code = re.search(r"cudaError\w+", stdout)
    return {"result": kind, "first": code[0]} if code else {"result": kind}


def measure(options: argparse.Namespace) -> None:
    found: dict[str, dict[str, dict[str, dict[str, str | int]]]] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = {}
        for chapter in chapters():
            binary = program(options.programs, chapter, "_mistakes")
            found[chapter] = {mistake: {} for mistake in mistakes(binary, {})}
            for mistake in found[chapter]:
                jobs[pool.submit(bare, binary, mistake)] = (chapter, mistake, "alone")
                for tool in TOOLS:
                    jobs[pool.submit(check, binary, mistake, tool)] = (chapter, mistake, tool)
        for job in as_completed(jobs):
            chapter, mistake, tool = jobs[job]
            found[chapter][mistake][tool] = job.result()
            options.output.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
            print(chapter, mistake, tool, job.result()["exit"], flush=True)


def on_the_emulator(binary: Path, mistake: str, emulator: Path) -> dict[str, str]:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        ran = run([binary, mistake], 60, on_emulator(emulator, EMULATOR_REPORT=file.name))
        said = [json.loads(line) for line in Path(file.name).read_text("utf-8").splitlines()]
    if said:
        return {"result": "found", "first": said[0]["name"]}
    return alone(ran.stdout + ran.stderr, ran.returncode)


def compare(options: argparse.Namespace) -> None:
    found = json.loads(options.measured.read_text("utf-8"))
    for chapter, by_mistake in found.items():
        binary = program(options.programs, chapter, "_mistakes")
        for mistake, by_tool in by_mistake.items():
            for tool, ran in by_tool.items():
                by_tool[tool] = (alone if tool == "alone" else outcome)(ran["output"], ran["exit"])
            by_tool["emulator"] = on_the_emulator(binary, mistake, options.emulator)
    ordered = {
        chapter: {
            mistake: {column: by_tool[column] for column in ("alone", *TOOLS, "emulator")}
            for mistake, by_tool in tools.items()
        }
        for chapter, tools in found.items()
    }
    options.output.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


def cell(outcome: dict[str, str]) -> str:
    """A result in few words: what was found without where."""
    if outcome["result"] != "found":
        return f"`{outcome['first']}`" if "first" in outcome else outcome["result"]
    first = re.sub(r"^(Error: |(Warning): )?(Race) reported.*", r"race \2", outcome["first"]).strip()
    return re.sub(r"(__\w+__|^[a-z]+-[a-z-]+$)", r"`\1`", first.replace("race Warning", "race (warning)").rstrip("."))


def found_by(found: dict, column: str) -> int:
    return sum(by_tool[column]["result"] == "found" for tools in found.values() for by_tool in tools.values())


def markdown(path: Path) -> str:
    found = json.loads(path.read_text("utf-8"))
    columns = ("emulator", "alone", *TOOLS)
    mistakes = sum(map(len, found.values()))
    counts = ", ".join(f"`{tool}` {found_by(found, tool)}" for tool in TOOLS)
    lines = [f"Of {mistakes} mistakes found: {counts}, the emulator {found_by(found, 'emulator')}.", ""]
    headings = ["emulator", "alone", *(f"`{tool}`" for tool in TOOLS)]
    lines += ["| chapter | mistake | " + " | ".join(headings) + " |", "|---" * (len(columns) + 2) + "|"]
    for chapter, by_mistake in found.items():
        for mistake, by_tool in by_mistake.items():
            cells = [cell(by_tool[column]) for column in columns]
            lines.append(f"| {int(chapter[:2])} | `{mistake}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def summary(path: Path) -> str:
    every = [by_tool for tools in json.loads(path.read_text("utf-8")).values() for by_tool in tools.values()]
    unnamed = [by_tool for by_tool in every if all(by_tool[tool]["result"] != "found" for tool in TOOLS)]
    passing = [by_tool for by_tool in unnamed if by_tool["alone"]["result"] == "no error"]
    hanging = [by_tool for by_tool in unnamed if by_tool["alone"]["result"] == "hung"]
    named = sum(by_tool["emulator"]["result"] == "found" for by_tool in passing + hanging)
    both = len(passing + hanging)
    those = f"all {both}" if named == both else f"{named} of these {both}"
    return (
        f"This book has {len(every)} kernels that are wrong on purpose. On an H200 {len(passing)} of them run to their end without a complaint, and {len(hanging)}\n"
        f"hang; no tool of `compute-sanitizer` finds anything in these. The emulator names the mistakes of {those}.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("measure", "compare"):
        command = commands.add_parser(name)
        command.add_argument("--programs", type=Path, required=True, help="a build directory, or one with the programs")
        command.add_argument("--output", type=Path, required=True)
    commands.choices["measure"].add_argument("--jobs", type=int, default=8, help="runs at a time; default 8")
    commands.choices["compare"].add_argument("--emulator", type=Path, required=True)
    commands.choices["compare"].add_argument("--measured", type=Path, required=True)
    commands.add_parser("table")
    commands.add_parser("summary")
    options = parser.parse_args()
    if options.command == "table":
        sys.stdout.write(markdown(ROOT / RESULT))
    elif options.command == "summary":
        sys.stdout.write(summary(ROOT / RESULT))
    elif options.command == "measure":
        measure(options)
    else:
        compare(options)


if __name__ == "__main__":
    main()
