"""Data of interactive pictures that come from the measurement file of an H200, not from a program."""

from collections.abc import Callable
from pathlib import Path

from weaving import tables

Rows = list[dict[str, object]]


def _rows(root: Path, name: str) -> Rows:
    """A table of docs/measurements/h200.json."""
    table = tables.load(root).get(name)
    return list(tables.rows(table)) if table else []


def little(root: Path) -> object:
    """Chapter 1: rates of reading by what is in flight, and what Little's law needs."""
    latency = next(row["ns"] for row in _rows(root, "latencies") if row["memory"] == "global memory")
    names = ("threads_per_sm", "load_bytes", "loads", "in_flight", "gb_per_s")
    points = [{name: row[name] for name in names} for row in _rows(root, "little")]
    # SMs and peak: NVIDIA H200 data sheet, as in the chapter's text.
    return {"latency_ns": latency, "sms": 132, "peak": 4800, "points": points}


def pipeline(root: Path) -> object:
    """Chapter 4: rates with one block on each SM, by stages, for each amount of arithmetic."""
    kernels = ("single_stage", "n_stages")
    rows = [row for row in _rows(root, "pipeline_stages") if row["kernel"] in kernels and row["blocks_per_sm"] == 1]
    works = sorted({int(str(row["work"])) for row in rows})
    return {"measured": [{"work": work, "points": [[row["stages"], row["gb_per_s"]] for row in rows if row["work"] == work]} for work in works]}


PICTURES: dict[str, Callable[[Path], object]] = {"little": little, "pipeline": pipeline}
"""By the name of the picture."""
