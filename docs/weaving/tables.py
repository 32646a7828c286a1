"""Tables: what the emulator counts, and what a GPU measured."""

import json
import re
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import WeaveError
from .programs import Chapter, Runner

MEASUREMENTS = Path("docs/measurements/h200.json")


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """A Markdown table, numbers to the right."""
    if any(len(row) != len(columns) for row in rows):
        raise WeaveError("a row of the table has another number of cells than its heading")
    rule = ["---:" if right else "---" for right in numeric]
    return [f"| {' | '.join(cells)} |" for cells in (columns, rule, *rows)]


def counters(runner: Runner, chapter: Chapter, argument: str) -> list[str]:
    """A row for each kernel: the sums over all launches that the program makes with `--kernel KERNEL`."""
    words = shlex.split(argument)
    if len(words) < 2:
        raise WeaveError("counters: takes KERNEL[,KERNEL...] FIELD[,FIELD...]")
    kernels, fields, extra = words[0].split(","), words[1].split(","), words[2:]
    program = str(chapter.program())
    known = runner.run([program, "--list"]).out.split()
    rows = []
    for kernel in kernels:
        if kernel not in known:
            raise WeaveError(f"{chapter.name} has no kernel '{kernel}'; its kernels are {', '.join(known)}")
        totals = _totals(runner, [program, "--kernel", kernel, *extra])
        for field in fields:
            if field not in totals:
                raise WeaveError(f"the emulator counts no '{field}'; it counts {', '.join(totals)}")
        rows.append([f"`{kernel}`", *(f"{totals[field]:,}" for field in fields)])
    columns = ["kernel", *(field.replace("_", " ") for field in fields)]
    return markdown(columns, rows, [False] + [True] * len(fields))


def _totals(runner: Runner, command: Sequence[str]) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "counters"
        done = runner.run(command, {"EMULATOR_COUNTERS": str(file)})
        if done.status != 0:
            raise WeaveError(f"'{shlex.join(command)}' ended with {done.status}")
        launches = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    totals: dict[str, int] = {}
    for launch in launches:
        for field, count in launch["total"].items():
            totals[field] = totals.get(field, 0) + count
    if not totals:
        raise WeaveError(f"'{shlex.join(command)}' launches no kernel")
    return totals


def load(root: Path) -> dict[str, Any]:
    """The tables of the measurement file by name."""
    path = root / MEASUREMENTS
    try:
        return json.loads(path.read_text("utf-8"))["tables"]
    except FileNotFoundError:
        raise WeaveError(f"{MEASUREMENTS} is not there") from None
    except (ValueError, KeyError, TypeError) as error:
        raise WeaveError(f"{MEASUREMENTS} cannot be read: {error!r}") from None


def rows(table: dict[str, Any]) -> list[dict[str, object]]:
    """The rows of a table, each cell by the name of its column. `./workbook bench` describes the form."""
    return [dict(zip(table["ids"], row, strict=True)) for row in table["rows"]]


def measured(root: Path, name: str) -> list[str]:
    """A table of the measurement file, with its title below it."""
    found = load(root)
    if name not in found:
        raise WeaveError(f"{MEASUREMENTS} has no table '{name}'; it has {', '.join(found)}")
    table = found[name]
    numeric = [all(_is_number(row[i]) for row in table["rows"]) for i in range(len(table["columns"]))]
    lines = markdown(table["columns"], [[_cell(value) for value in row] for row in table["rows"]], numeric)
    title = re.sub(r"\d{6,}", lambda number: f"{int(number[0]):,}", table.get("title", ""))
    return [*lines, "", f"{title}."] if title else lines


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float) and 0 < abs(value) < 0.01:
        return f"{value:.2g}"  # a time of some microseconds is not 0.00 ms
    if isinstance(value, float):
        return (
            f"{value:,.2f}" if abs(value) < 10 else f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
        )
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
