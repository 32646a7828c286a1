"""Benchmark: seconds from saving the solution of each exercise to its verdict, as `watch` takes them, and their parts.

Usage: verdict_seconds.py [NAME…]. Judges and emulator are built. The first compilation warms the file cache and does not count.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from cli import backend, exercises, holes, judging  # noqa: E402
from cli.requirements import Found  # noqa: E402
from cli.setup import Tools  # noqa: E402
from cli.workspace import Workspace  # noqa: E402

GOAL, MOST = 1.5, 3.0


def processor_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main(names: list[str]) -> int:
    workspace = Workspace.locate()
    tools = Tools({"nvcc": Found("", Path(os.environ["WORKBOOK_NVCC"]))})
    known = [e for e in exercises.all_exercises(workspace) if not names or e.name in names]
    print(f"{'exercise':22} {'verdict':>8} {'processor':>10}   seconds, the better of two; load {os.getloadavg()[0]:.1f}")
    taken = []
    with tempfile.TemporaryDirectory(prefix="workbook-seconds-") as directory:
        for exercise in known:
            file = Path(directory) / f"{exercise.name}.cu"
            file.write_text(holes.solution(exercise.solution(workspace).read_text("utf-8")), "utf-8")
            runs = []
            for _ in range(3):
                wall, processor = time.monotonic(), processor_seconds()
                outcome = judging.check(workspace, tools, exercise, file, backend.Backend.EMULATOR)
                runs.append((time.monotonic() - wall, processor_seconds() - processor))
                assert outcome.passed, (exercise.name, outcome)
            seconds, processor = min(runs[1:])
            taken.append(seconds)
            print(f"{exercise.name:22} {seconds:8.2f} {processor:10.2f}", flush=True)
    quick = sum(seconds <= GOAL for seconds in taken)
    print(f"{quick} of {len(taken)} within {GOAL} s, {sum(s <= MOST for s in taken)} within {MOST:g} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
