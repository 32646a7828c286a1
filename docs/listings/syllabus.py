#!/usr/bin/env python3
"""Writes a plan of syllabi.toml as Markdown, with the minutes that the chapters give for each exercise.

An exercise that does not exist, or a plan that takes longer than it may, is an error.
"""

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common")]

from cli import exercises  # noqa: E402
from cli.exercises import Exercise  # noqa: E402
from cli.workspace import Workspace  # noqa: E402
from weaving.tables import markdown  # noqa: E402

PLANS = Path(__file__).with_name("syllabi.toml")


class PlanError(Exception):
    """One line: what is wrong with a plan."""


def table(name: str, plan: Mapping[str, Any], tasks: Sequence[Exercise]) -> list[str]:
    """A row for each slot, with the time since the beginning, and the sums behind it."""
    known = {task.name: task for task in tasks}
    rows: list[list[str]] = []
    clock = practice = pauses = 0
    for slot in plan["slots"]:
        if "exercise" in slot:
            if (task := known.get(slot["exercise"])) is None:
                raise PlanError(f"{name}: there is no exercise '{slot['exercise']}'")
            text, minutes = f"Exercise `{task.name}`: {task.title}", task.minutes
            practice += minutes
        else:
            text, minutes = slot.get("talk") or slot["pause"], slot["minutes"]
            pauses += minutes if "pause" in slot else 0
        rows.append([f"{clock // 60}:{clock % 60:02}", text, str(minutes)])
        clock += minutes
    if clock > plan["at_most"]:
        raise PlanError(f"{name}: takes {clock} minutes, and may take {plan['at_most']}")
    sums = f"{clock} minutes: {clock - practice - pauses} of talk, {practice} of exercises, {pauses} of breaks."
    return [*markdown(["time", "what", "minutes"], rows, [True, False, True]), "", sums]


def main(arguments: list[str]) -> int:
    plans = tomllib.loads(PLANS.read_text("utf-8"))
    if len(arguments) != 1 or arguments[0] not in plans:
        print(f"usage: syllabus.py {'|'.join(plans)}", file=sys.stderr)
        return 2
    try:
        print("\n".join(table(arguments[0], plans[arguments[0]], exercises.all_exercises(Workspace.locate()))))
    except PlanError as error:
        print(f"syllabus: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
