"""Runs one measuring program on the emulator: all results right, tables filled, nothing timed, and no measuring."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def run(program: str, *arguments: str, **steering: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "LD_LIBRARY_PATH": os.environ["EMULATOR_LIB"], **steering}
    return subprocess.run([program, *arguments], env=env, capture_output=True, text=True, check=False)


def dry_problem(program: str, order: str) -> str:
    """What is wrong with a dry run in this order of completion; nothing if all is well."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "lines"
        done = run(program, "--dry", "--json", str(file), EMULATOR_ORDER=order)
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    if done.returncode != 0 or done.stderr:
        return f"ended with {done.returncode}: {done.stderr}"
    tables = {line["table"]: {column["id"] for column in line["columns"]} for line in lines if "table" in line}
    rows = [line for line in lines if "row" in line]
    empty = set(tables) - {row["row"] for row in rows}
    if not tables or empty:
        return f"tables without rows: {', '.join(sorted(empty)) or 'all'}"
    for row in rows:
        if unknown := set(row["cells"]) - tables.get(row["row"], set()):
            return f"cells without a column in {row['row']}: {', '.join(sorted(unknown))}"
        if "median_ms" in row["cells"] or "cycles" in row["cells"]:
            return f"{row['row']} has a time, though nothing was timed"
    return ""


def refusal_problem(program: str) -> str:
    """On the emulator a program that is asked to measure refuses in one line."""
    done = run(program)
    if done.returncode == 77 and done.stderr.count("\n") == 1 and "has no clock" in done.stderr and not done.stdout:
        return ""
    return f"asked to measure, it ended with {done.returncode}: {done.stdout}{done.stderr}"


def main(program: str) -> int:
    checks = {f"dry, {order}": dry_problem(program, order) for order in ("late", "early", "random")}
    checks["refuses to measure"] = refusal_problem(program)
    failed = 0
    for name, problem in checks.items():
        print(f"{'FAILED' if problem else 'ok'}  {name}{': ' + problem if problem else ''}")
        failed += bool(problem)
    print(f"[summary] {len(checks) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
