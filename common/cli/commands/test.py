"""Builds what the tests need and runs them; the last line counts the test cases.

NAME is a chapter, a suite or a part of a test's name. Without names those run that show that the workbook works on this
machine: the chapters, the exercises, and the emulator where they use it, beside a few tests of its own; with --all those too
that check the project itself, the emulator's inside for one, for who changes it: the suite 'project'.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from .. import backend, build, chapters, configuring, progress, requirements, results, setup
from ..backend import Backend
from ..errors import FAILURE, UsageError, UserError
from ..lock import exclusive
from ..process import end_as_on_ctrl_c, streaming
from ..setup import Tools
from ..workspace import Workspace

NAME = "test"
HELP = "build what the tests need and run them"
PROJECT = "project"
"""The suite of the tests that only --all or their names run."""
_LINE = re.compile(r"^\s*(\d+)/(\d+)\s+(.*?)\s{2,}([A-Z]+)\s")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a chapter, a suite or a part of a test's name"
    )
    parser.add_argument(
        "--list", action="store_true", help="list the tests and their suites instead of running them"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help=f"run the tests of the project too (suite '{PROJECT}'): of the emulator's inside, the command, the pages, what the "
        "judges of the exercises refuse, records of an H200 and more; for who changes the workbook",
    )
    parser.add_argument(
        "--with-docs",
        action="store_true",
        help="install what tests of the documentation need and skip otherwise (Doxygen, a browser, a speller), and build "
        f"each chapter by its README's command; with --all, or with '{PROJECT}' or 'docs' as NAME",
    )
    backend.add_option(parser)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    end_as_on_ctrl_c()
    where = backend.select(options.backend)
    tools = build.ready(workspace, emulator=True)
    extra = _disassembler(workspace)
    if options.with_docs:
        with exclusive(workspace.state / "lock", "setting up"):
            setup.ensure(workspace, requirements.documentation_tests(workspace))
    build.build(workspace, tools, ["build.ninja"])  # configures anew where a meson.build or a manifest changed
    known = known_tests(workspace)
    if options.list:
        for test in select(known, options.names, workspace):
            print(f"{test['name']}  ({', '.join(test['suite'])})")
        return 0
    chosen = chosen_by(options, known, workspace)
    build.build(workspace, tools, targets(options, chosen, workspace))
    with exclusive(workspace.state / "tests.lock", "running the tests"):
        env = {**configuring.environment(tools), **backend.environment(where, workspace)}
        directories = [tools.path("nvcc").parent, *([extra.parent] if extra else [])]
        env["PATH"] = os.pathsep.join([*map(str, directories), env.get("PATH", os.defpath)])
        if extra:
            env["CUOBJDUMP"] = str(extra)
        if options.with_docs:
            env["WORKBOOK_WITH_DOCS"] = "1"
        totals = _run(workspace, tools, env, chosen, _processes(where))
    order = {test["name"]: place for place, test in enumerate(chosen)}
    totals.outcomes.sort(key=lambda outcome: order.get(outcome.name, len(order)))
    _report(totals, [] if options.names else [test for test in known if test not in chosen])
    return FAILURE if totals.failed else 0


def _processes(where: Backend) -> int:
    """How many tests run at a time: one more than there are cores, for some wait for a time limit; on a GPU, which they
    share, not more than eight."""
    processes = len(os.sched_getaffinity(0)) + 1
    return min(processes, 8) if where is Backend.GPU else processes


def _disassembler(workspace: Workspace) -> Path | None:
    """cuobjdump for the tests that read machine code; they are skipped where it cannot be had."""
    try:
        with exclusive(workspace.state / "lock", "setting up"):
            return setup.ensure(workspace, (requirements.DISASSEMBLER,)).path("disassembler")
    except UserError as error:
        print(f"workbook: going on without a disassembler: {error}", file=sys.stderr)
        return None


def known_tests(workspace: Workspace) -> list[dict[str, Any]]:
    """Meson's tests, each with `name` and `suite` (a list without the project's name)."""
    tests: list[dict[str, Any]] = json.loads(
        (workspace.build / "meson-info" / "intro-tests.json").read_text("utf-8")
    )
    for test in tests:
        test["suite"] = [suite.split(":", 1)[-1] for suite in test["suite"]]
    return tests


def needs(tests: list[dict[str, Any]], workspace: Workspace) -> list[str]:
    """What Ninja has to build for `tests`, in its words."""
    targets = json.loads((workspace.build / "meson-info" / "intro-targets.json").read_text("utf-8"))
    wanted = {target for test in tests for target in test["depends"]}
    files = [Path(file) for target in targets if target["id"] in wanted for file in target["filename"]]
    return sorted(str(file.relative_to(workspace.build)) for file in files)


def targets(
    options: argparse.Namespace, chosen: list[dict[str, Any]], workspace: Workspace
) -> list[str]:
    """What Ninja has to build before `chosen` run."""
    # What no test runs has to compile too, and that checks the project.
    default = [build.DEFAULT] if options.all or PROJECT in options.names else []
    return [*default, *needs(chosen, workspace), *build.emulator_targets(workspace)]


def chosen_by(
    options: argparse.Namespace, tests: list[dict[str, Any]], workspace: Workspace
) -> list[dict[str, Any]]:
    """The tests that a call runs: those that it names, else all or those that are not the project's own."""
    if options.names:
        return select(tests, options.names, workspace)
    return [test for test in tests if options.all or PROJECT not in test["suite"]]


def select(tests: list[dict[str, Any]], names: list[str], workspace: Workspace) -> list[dict[str, Any]]:
    """The tests that `names` mean: each name a suite, else a chapter, else a part of test names; unknown is an error."""
    if not names:
        return tests
    chosen: list[dict[str, Any]] = []
    known = chapters.all_chapters(workspace)
    for name in names:
        chapter = chapters.find(name, known)
        word = chapter.name if chapter else name
        found = [t for t in tests if name in t["suite"]] or [t for t in tests if word in t["name"]]
        if not found:
            suites = ", ".join(sorted({suite for t in tests for suite in t["suite"]}))
            raise UsageError(
                f"no test is called '{name}'; the suites are: {suites} (./workbook test --list shows all)"
            )
        chosen += [t for t in found if t not in chosen]
    return chosen


def _run(
    workspace: Workspace, tools: Tools, env: dict[str, str], chosen: list[dict[str, Any]], processes: int
) -> results.Totals:
    log = workspace.build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    names = sorted({test["name"] for test in chosen})
    command = [*tools.meson, "test", "-C", str(workspace.build), "--no-rebuild"]
    # The tests' runner limits each case, in time that a busy machine does not use up; Meson's limits are the last resort.
    command += ["--num-processes", str(processes), "--timeout-multiplier", "6", *names]
    line = progress.Line()
    output: list[str] = []
    with streaming(command, workspace.logs / "test.log", env=env) as (process, stream):
        for text in stream:
            output.append(text)
            match = _LINE.match(text)
            if match:
                line.step(
                    progress.Step(int(match[1]), int(match[2]), f"{match[3].split(' / ')[-1]} {match[4]}")
                )
    line.finish()
    try:
        totals = results.read(log.read_text("utf-8").splitlines())
    except (OSError, ValueError):
        raise UserError(
            f"Meson could not run the tests (log: {workspace.logs / 'test.log'})", detail=output[-5:]
        ) from None
    if process.returncode != 0 and not totals.failed:
        raise UserError(
            f"Meson ended with {process.returncode} although no test failed "
            f"(log: {workspace.logs / 'test.log'})",
            detail=output[-5:],
        )
    return totals


def left_out_line(left_out: list[dict[str, Any]]) -> str:
    """What is said of tests that were neither named nor run."""
    count = f"{len(left_out)} test{'s' if len(left_out) != 1 else ''}"
    return (
        f"left out: {count} of the project itself, the emulator's inside among it, for who changes it: "
        "'./workbook test --all' runs them too"
    )


def _report(totals: results.Totals, left_out: list[dict[str, Any]]) -> None:
    """What failed comes last: above the table it would be screens away, and is not in the end of a log."""
    width = max((len(outcome.name) for outcome in totals.outcomes), default=0)
    for outcome in totals.outcomes:
        mark = "FAILED" if outcome.failed else "ok" if outcome.passed else "skipped"
        counts = f"{outcome.passed} of {outcome.passed + outcome.failed + outcome.skipped}"
        print(f"{outcome.name:{width}}  {mark:7} {counts}")
    for why, names in skips(totals).items():
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        print(f"skipped: {why}\n    {'; '.join(names[:2])}{more}")
    if left_out:
        print(left_out_line(left_out))
    for outcome in totals.outcomes:
        for text in outcome.output:
            print(f"  {text}")
    sys.stdout.flush()
    print(totals)


def skips(totals: results.Totals) -> dict[str, list[str]]:
    """What was skipped, by the reason: many cases share one."""
    skips: dict[str, list[str]] = {}
    for outcome in totals.outcomes:
        for reason in dict.fromkeys(outcome.reasons):
            name, _, why = reason.partition(": ")
            skips.setdefault(why or name, []).append(f"{outcome.name}, {name}" if why else outcome.name)
    return skips
