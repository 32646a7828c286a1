"""Runs the programs that the data of the pictures come from."""

import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class Failed(Exception):
    """A program did not do what it should."""


def run(build: Path, program: str, *arguments: str, record: str = "", order: str = "") -> str:
    """What a program prints on the emulator, or, if `record` is EMULATOR_TRACE or its like, that file of it.

    With an `order` copies land late or early, and reads that come too soon are let through.
    """
    path = build / program
    if not path.exists():
        raise Failed(f"{path} is not built")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "record"
        env = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_")}
        env |= {"LD_LIBRARY_PATH": str(build / "common/emulator/cuda"), "EMULATOR_THREADS": "1"}
        if order:
            env |= {"EMULATOR_ORDER": order, "EMULATOR_CHECKS": "none"}
        if record:
            env[record] = str(file)
        done = subprocess.run(
            [str(path), *arguments], env=env, capture_output=True, text=True, check=False, timeout=120
        )
        if done.returncode != 0:
            raise Failed(
                f"{path.name} {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}"
            )
        return done.stdout if not record else file.read_text("utf-8") if file.exists() else ""
