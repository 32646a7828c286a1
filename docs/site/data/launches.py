"""Runs the programs of the interactive pictures on the emulator, also those that it is right to fail."""

import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


class NotBuilt(Exception):
    """A program that is not there."""


@dataclass
class Launch:
    """What a program printed, what the emulator found, counted (the totals of the last launch) and recorded: a time line."""

    printed: str
    findings: list[dict[str, Any]]
    counters: dict[str, int]
    trace: str

    def events(self) -> list[dict[str, Any]]:
        return json.loads(self.trace)["traceEvents"] if self.trace else []


def launch(build: Path, program: str, *arguments: str) -> Launch:
    path = build / program
    if not path.exists():
        raise NotBuilt(f"{path} is not built")
    with tempfile.TemporaryDirectory() as directory:
        files = {name: Path(directory) / name for name in ("REPORT", "COUNTERS", "TRACE")}
        env = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_")}
        env |= {"LD_LIBRARY_PATH": str(build / "common/emulator/cuda"), "EMULATOR_THREADS": "1"}
        env |= {f"EMULATOR_{name}": str(file) for name, file in files.items()}
        done = subprocess.run([str(path), *arguments], env=env, capture_output=True, text=True, check=False, timeout=120)
        texts = {name: file.read_text("utf-8") if file.exists() else "" for name, file in files.items()}
    lines = [json.loads(line) for line in texts["COUNTERS"].splitlines()]
    return Launch(
        done.stdout,
        [json.loads(line) for line in texts["REPORT"].splitlines()],
        lines[-1]["total"] if lines else {},
        texts["TRACE"],
    )


def body(source: Path, kernel: str) -> list[dict[str, object]]:
    """The lines of a kernel's definition, from the one with its name to its closing brace.

    The line below `if constexpr (NAME)` is there `with` NAME, the one below its `else` `without` it.
    """
    lines = source.read_text("utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if re.search(rf"__global__.*\b{kernel}\(", line))
    last = next(number for number in range(first, len(lines)) if lines[number] == "}")
    found: list[dict[str, object]] = []
    word, name = "", ""
    for number in range(first, last + 1):
        text = lines[number]
        if switch := re.fullmatch(r"\s*if constexpr \((\w+)\)", text):
            word, name = "with", switch[1]
        elif text.strip() == "else" and name:
            word = "without"
        else:
            found.append({"line": number + 1, "text": text.removeprefix("    ") if word else text} | ({word: name} if word else {}))
            word = ""
    return found


def where(finding: dict[str, Any], source: Path) -> list[int]:
    """The lines of `source` that a finding names; for a place in what it calls, the line of the call."""
    places = [one for place in finding["locations"] for one in (place, *place.get("callers", []))]
    return sorted({one["line"] for one in places if Path(one["file"]).name == source.name})
