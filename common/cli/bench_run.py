"""Running the programs that measure, and noting the conditions: nothing of the GPU is ever changed."""

import csv
import datetime
import json
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .bench_file import Row, Table, Tables, collect, heading
from .process import capture

SECONDS = 600  # after which a program is ended; what it has written is kept

_CONDITIONS = {
    "clocks.sm": "sm_clock_mhz",
    "clocks.mem": "memory_clock_mhz",
    "temperature.gpu": "temperature_c",
    "power.draw": "power_w",
    "clocks_event_reasons.active": "clock_limits",
}


def conditions(when: str) -> Row:
    """Clocks, temperature and power as nvidia-smi gives them; only the moment where there is none."""
    row: Row = {"when": when, "time": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")}
    said = capture(["nvidia-smi", f"--query-gpu={','.join(_CONDITIONS)}", "--format=csv,noheader,nounits", "-i", "0"])
    if said:
        row |= {
            name: _number(text.strip()) for name, text in zip(_CONDITIONS.values(), said.strip().split(","), strict=False)
        }
    return row


def driver_version() -> str:
    said = capture(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "-i", "0"])
    return said.strip() if said else "unknown"


def toolkit_version(nvcc: Sequence[str]) -> str:
    """The release of the first of these compilers that answers."""
    for command in nvcc:
        if match := re.search(r"V(\d+\.\d+\.\d+)", capture([command, "--version"]) or ""):
            return match[1]
    return "unknown"


def commit(root: Path) -> str:
    """The commit of the tree, with a + if files that matter to programs differ from it."""
    known = capture(["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"])
    if not known:
        return "unknown"
    changed = capture(["git", "-C", str(root), "status", "--porcelain", "--", "chapters", "common/include"])
    return known.strip() + ("+" if changed else "")


def measure(program: Path, env: Mapping[str, str], tables: Tables, arguments: Sequence[str] = ()) -> list[str]:
    """Runs one measuring program; what it found goes to `tables`. Returns what went wrong."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "lines.json"
        problem = _run([str(program), "--json", str(file), *arguments], env)
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        failures = collect(lines, tables)
    return failures or ([f"{program.name}: {problem}"] if problem else [])


def chapter_table(program: Path, env: Mapping[str, str], tables: Tables, name: str) -> list[str]:
    """Runs a chapter's own program, and makes a table of its kernels."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "report.json"
        problem = _run([str(program), "--json", str(file)], env)
        if not file.exists() or not file.read_text("utf-8").strip():
            return [f"{program.name}: {problem or 'wrote no results'}"]
        report = json.loads(file.read_text("utf-8"))
    headings = {
        "kernel": "kernel",
        "shows": "what it shows",
        "bytes": "bytes moved",
        "median_ms": heading("time", "ms"),
        "gb_per_s": heading("rate", "GB/s"),
        "share": heading("of the copy", "%"),
    }
    table = Table(f"The kernels of {program.name}, {report['size']} {report['size_unit']}", headings)
    for kernel in report["kernels"]:
        share = kernel.get("share_of_copy")
        cells = {name: kernel.get(name) for name in ("shows", "bytes", "median_ms", "gb_per_s")}
        table.rows.append({"kernel": kernel["name"], **cells, "share": None if share is None else 100 * share})
    tables[name] = table
    return [f"{program.name}: {problem}"] if problem else []


Counters = Mapping[str, tuple[str, str]]
"""The column and its heading for each of Nsight Compute's metrics."""


def count(arguments: Sequence[str], env: Mapping[str, str], table: Table, counters: Counters) -> list[str]:
    """Adds what Nsight Compute counts, if it is there and may count, to `table`. `arguments`: its options and the program."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(counters), *arguments]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"ncu: {error}"]
    add_counters(table, done.stdout, counters)
    if not table.rows:
        lines = (done.stdout + done.stderr).strip().splitlines()
        return [f"ncu: {lines[-1] if lines else 'printed nothing'}"]
    return []


def add_counters(table: Table, text: str, counters: Counters) -> None:
    """Adds what `ncu --csv --page raw` printed, a row for the first launch of each kernel."""
    table.headings |= dict(counters.values())
    lines = [line for line in text.splitlines() if line.startswith('"')]
    for record in csv.DictReader(lines):
        name = re.match(r"(?:void )?(?:\w+::)*(\w+)", record.get("Kernel Name", "") or "")
        if not name or any(row["kernel"] == name[1] for row in table.rows):
            continue  # the line of units, or another launch of the same kernel
        row: Row = {"kernel": name[1]}
        for metric, (column, _) in counters.items():
            row[column] = _number((record.get(metric) or "").replace(",", ""))
        table.rows.append(row)


class Sampled(NamedTuple):
    """A machine instruction of a launch: how often a sample of a warp found it next, and how often warps ran it."""

    instruction: str
    samples: int
    executed: int


def sample(arguments: Sequence[str], env: Mapping[str, str]) -> tuple[dict[str, list[Sampled]], list[str]]:
    """Where Nsight Compute's samples found the warps, for the first launch of each kernel; and what went wrong."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "source", "--section", "SourceCounters", *arguments]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, [f"ncu: {error}"]
    found = read_samples(done.stdout)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return found, [] if found else [f"ncu: {lines[-1] if lines else 'printed nothing'}"]


def read_samples(text: str) -> dict[str, list[Sampled]]:
    """What `ncu --csv --page source` printed: for each launch a line with the kernel's name, then a table."""
    found: dict[str, list[Sampled]] = {}
    for part in re.split(r'(?m)^"Kernel Name",', text)[1:]:
        title, *lines = part.splitlines()
        name = re.match(r'"(?:void )?(?:\w+::)*(\w+)', title)
        table = [line for line in lines if line.startswith('"')]
        if name and name[1] not in found:
            found[name[1]] = [
                Sampled(row["Source"].strip(), int(row["# Samples"] or 0), int(row["Instructions Executed"] or 0))
                for row in csv.DictReader(table)
            ]
    return found


def _run(command: Sequence[str], env: Mapping[str, str]) -> str:
    """Runs a program and shows what it prints; returns what was wrong, or nothing."""
    try:
        status = subprocess.run(command, env=env, timeout=SECONDS, check=False).returncode
    except subprocess.TimeoutExpired:
        return f"ended after {SECONDS} seconds"
    except OSError as error:
        return error.strerror or str(error)
    return "" if status == 0 else f"ended with status {status}"


def _number(text: str) -> int | float | str | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value
