"""Programs on the emulator in the orders in which asynchronous copies may complete."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """How a program ended, what the emulator found, and what the program and the emulator printed."""

    code: int
    findings: list[dict]
    out: str
    err: str

    @property
    def names(self):
        return {each["name"] for each in self.findings}


def orders(seeds):
    """Late, early, and `seeds` random ones, each with its seed."""
    return [("late", 1), ("early", 1)] + [("random", seed) for seed in range(1, seeds + 1)]


def run(libraries, command, order="late", seed=1):
    """`libraries` is the directory of the emulator's libcudart. Raises TimeoutExpired after 120 s."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as report:
        environment = os.environ | {
            "LD_LIBRARY_PATH": str(libraries), "EMULATOR_ORDER": order, "EMULATOR_SEED": str(seed),
            "EMULATOR_REPORT": report.name, "EMULATOR_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
        lines = Path(report.name).read_text("utf-8").splitlines()
    return Run(done.returncode, [json.loads(line) for line in lines], done.stdout, done.stderr)
