"""Says what is there, what is missing, and the command that installs it. Changes nothing.

Exits with 0 when nothing is missing that `run` and `test` need, else with 1.
"""

import argparse
import json
import platform
from typing import Any

from .. import backend, requirements, setup
from ..errors import FAILURE
from ..workspace import Workspace

NAME = "doctor"
HELP = "say what is missing and how to get it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    report = examine(workspace)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        _print(report)
    return 0 if report["ready"] else FAILURE


def examine(workspace: Workspace) -> dict[str, Any]:
    """The whole report as plain data; its form is what --json prints."""
    entries = []
    for requirement in requirements.ALL:
        found = requirement.probe(workspace)
        satisfied = requirement.satisfied_by(found)
        entries.append(
            {
                "key": requirement.key,
                "title": requirement.title,
                "purpose": requirement.purpose,
                "minimum": ".".join(map(str, requirement.minimum)) or None,
                "status": "ok" if satisfied else "old" if found else "missing",
                "optional": requirement not in requirements.CHAPTERS,
                "version": found.version if found else None,
                "path": str(found.path) if found else None,
                "install": None if satisfied else setup.advice(requirement),
            }
        )
    driver = backend.query_driver()
    problem = driver.problem() if driver else "no CUDA driver with a GPU"
    return {
        "schema": 1,
        "ready": all(entry["status"] == "ok" or entry["optional"] for entry in entries),
        "python": platform.python_version(),
        "requirements": entries,
        "backend": {
            "auto": "emulator" if problem else "gpu",
            "gpu_problem": problem,
            "gpus": [
                {"name": gpu.name, "capability": f"{gpu.capability[0]}.{gpu.capability[1]}"}
                for gpu in (driver.gpus if driver else ())
            ],
        },
    }


def _print(report: dict[str, Any]) -> None:
    width = max(len(entry["title"]) for entry in report["requirements"])
    print(f"ok       {'Python':{width}}  {report['python']}")
    for entry in report["requirements"]:
        if entry["status"] == "ok":
            print(f"ok       {entry['title']:{width}}  {entry['version']}  {entry['path']}")
        else:
            have = (
                f"found {entry['version']}, needs {entry['minimum']}"
                if entry["status"] == "old"
                else entry["purpose"]
            )
            status = "optional" if entry["optional"] else entry["status"]
            print(f"{status:8} {entry['title']:{width}}  {have}; install: {entry['install']}")
    place = report["backend"]
    for gpu in place["gpus"]:
        print(f"gpu      {gpu['name']}, compute capability {gpu['capability']}")
    reason = f" ({place['gpu_problem']})" if place["gpu_problem"] else ""
    print(f"Programs run on the {'GPU' if place['auto'] == 'gpu' else 'emulator'}{reason}.")
    if not report["ready"]:
        print(
            "`./workbook run` and `./workbook test` install what is missing, root into the system, others into .workbook/."
        )
