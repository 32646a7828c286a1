"""Checks a directory of solutions and prints a table: NAME.cu files, or one directory of them for each learner.

A learner's whole `workspace/` will do; backups are left out. Exits with 0 if every file that is there is right.
"""

import argparse
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .. import backend, exercises, judging, progress
from ..errors import FAILURE, UsageError
from ..exercises import Exercise
from ..judging import Outcome
from ..workspace import Workspace

NAME = "grade"
HELP = "check a directory of solutions"
_SHORT = 90


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="checks at a time")
    backend.add_option(parser, judging.DEFAULT_BACKEND)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    if options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs}: must be at least 1")
    known = {exercise.name: exercise for exercise in exercises.all_exercises(workspace)}
    files = collect(Path(options.directory), known)
    tasks = [(learner, name, file) for learner, mine in files.items() for name, file in mine.items()]
    where = backend.select(options.backend, judging.DEFAULT_BACKEND)
    tools = judging.prepare(workspace, [e for e in known.values() if any(e.name in m for m in files.values())], where)
    line = progress.Line()

    def judged(task: tuple[str, str, Path]) -> Outcome:
        outcome = judging.check(workspace, tools, known[task[1]], task[2].resolve(), where)
        done.append(task)
        line.step(progress.Step(len(done), len(tasks), " ".join(word for word in task[:2] if word)))
        return outcome

    done: list[tuple[str, str, Path]] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(judged, tasks))
    line.finish()
    results: dict[str, dict[str, Outcome]] = {learner: {} for learner in files}
    for (learner, name, _), outcome in zip(tasks, outcomes, strict=True):
        results[learner][name] = outcome
    order = [e for e in known.values() if any(e.name in mine for mine in results.values())]
    print(json.dumps(_report(options.directory, results), indent=2) if options.json else table(results, order))
    return 0 if all(outcome.passed for outcome in outcomes) else FAILURE


def collect(directory: Path, known: dict[str, Exercise]) -> dict[str, dict[str, Path]]:
    """The files of each learner by exercise; a learner is a directory, named from `directory` on."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is no directory")
    found: dict[str, dict[str, Path]] = {}
    for file in sorted(directory.rglob("*.cu")):
        place = file.parent.relative_to(directory)
        if file.stem in known and "backups" not in place.parts:
            found.setdefault("" if place == Path() else str(place), {})[file.stem] = file
    if not found:
        raise UsageError(f"{directory} has no file that is named after an exercise")
    return found


def reason(outcome: Outcome) -> str:
    """What is wrong, in one line."""
    if outcome.passed:
        return ""
    if outcome.diagnostic is not None:
        place = next((f":{entry['line']}" for entry in outcome.diagnostic["locations"]), "")
        return f"{outcome.diagnostic['name']}{' in line ' + place[1:] if place else ''}"
    lines = [line for line in outcome.lines if not line.startswith("Tried ")] or outcome.lines
    text = "does not compile" if outcome.stage == "compile" else lines[0].removeprefix(judging.MISSED)
    return text if len(text) <= _SHORT else text[: _SHORT - 4] + " ..."


def table(results: dict[str, dict[str, Outcome]], order: list[Exercise]) -> str:
    """One row for each file; with several learners a row for each of them at the end."""
    width = max(len(e.name) for e in order)
    lines = []
    for learner, mine in results.items():
        if learner:
            lines.append(f"{learner}:")
        for exercise in order:
            if exercise.name in mine:
                outcome = mine[exercise.name]
                mark = "ok" if outcome.passed else "wrong"
                lines.append(f"  {exercise.name:{width}}  {mark:5}  {reason(outcome)}".rstrip())
            else:
                lines.append(f"  {exercise.name:{width}}  -")
    if len(results) > 1:
        longest = max(map(len, results))
        lines.append("")
        lines += [f"{learner or '.':{longest}}  {_count(mine)}" for learner, mine in results.items()]
    else:
        lines.append(_count(next(iter(results.values()))))
    return "\n".join(lines)


def _count(mine: dict[str, Outcome]) -> str:
    return f"{sum(outcome.passed for outcome in mine.values())} of {len(mine)} are right"


def _report(directory: str, results: dict[str, dict[str, Outcome]]) -> dict[str, Any]:
    return {
        "schema": 1,
        "directory": directory,
        "learners": [
            {
                "name": learner,
                "right": sum(outcome.passed for outcome in mine.values()),
                "results": {
                    name: {
                        "passed": outcome.passed,
                        "stage": outcome.stage,
                        "reason": reason(outcome),
                        "diagnostic": outcome.diagnostic["name"] if outcome.diagnostic else None,
                    }
                    for name, outcome in mine.items()
                },
            }
            for learner, mine in results.items()
        ],
    }
