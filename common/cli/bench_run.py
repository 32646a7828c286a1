"""Running the programs that measure, and noting the conditions: nothing of the GPU is ever changed."""

import csv
import datetime
import json
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

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

# What Nsight Compute counts for each rung, and the columns that it goes to.
_COUNTERS = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": ("wavefronts", "wavefronts of shared memory"),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": ("conflicts", "of these bank conflicts"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("load_sectors", "sectors of loads"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("store_sectors", "sectors of stores"),
    "lts__t_sectors_op_read.sum": ("l2_read_sectors", "sectors read in L2"),
    "lts__t_sectors_op_write.sum": ("l2_write_sectors", "sectors written in L2"),
    "dram__bytes_read.sum": ("dram_read", "read from DRAM (bytes)"),
    "dram__bytes_write.sum": ("dram_written", "written to DRAM (bytes)"),
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


def ladder_counters(program: Path, env: Mapping[str, str], tables: Tables) -> list[str]:
    """Counts wavefronts and sectors of chapter 8's rungs with Nsight Compute, if it is there and may count."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(_COUNTERS)]
    command += ["-k", "regex:^(?!fill_|count_)", str(program), "--once", "--part", "ladder"]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"ncu: {error}"]
    table = counters_table(done.stdout)
    if not table.rows:
        lines = (done.stdout + done.stderr).strip().splitlines()
        return [f"ncu: {lines[-1] if lines else 'printed nothing'}"]
    tables["ladder_counters"] = table
    return []


def counters_table(text: str) -> Table:
    """What `ncu --csv --page raw` printed, a row for each kernel."""
    headings = {"kernel": "rung", **dict(_COUNTERS.values())}
    table = Table("What the hardware counted for one launch of each rung, 32768 x 32768 float32", headings)
    lines = [line for line in text.splitlines() if line.startswith('"')]
    for record in csv.DictReader(lines):
        name = re.match(r"(?:void )?(?:\w+::)*(\w+)", record.get("Kernel Name", "") or "")
        if not name or any(row["kernel"] == name[1] for row in table.rows):
            continue  # the line of units, or cuBLAS's comparison
        row: Row = {"kernel": name[1]}
        for metric, (column, _) in _COUNTERS.items():
            row[column] = _number((record.get(metric) or "").replace(",", ""))
        table.rows.append(row)
    return table


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
