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
    rows = [row for row in _rows(root, "pipeline_stages") if row["kernel"] == "n_stages" and row["blocks_per_sm"] == 1]
    works = sorted({int(str(row["work"])) for row in rows})
    return {"measured": [{"work": work, "points": [[row["stages"], row["gb_per_s"]] for row in rows if row["work"] == work]} for work in works]}


def walk_order(root: Path) -> object:
    """Chapter 8: orders of blocks as chapters/08_transpose/tuner/search.cu has them, and what an H200 measured for each."""
    kernel, extent = "registers 64x64/256, ld.nc, st", 32768
    wanted = ("along rows", "down columns", "strips 128 wide", "strips 512 wide", "strips 2048 wide", "strips 512 high")
    rows = {str(row["order"]): row for row in _rows(root, f"transpose_limits_{extent}_{extent}")}
    return {
        "extent": extent, "kernel": kernel, "tile": 64, "tiles": 64, "together": 132,
        "orders": [
            {"name": name, **_walk(name, 64), "whole": rows[name][kernel], "reads": rows[name]["reads only 64x64/256"], "writes": rows[name]["writes only 64x64/256"]}
            for name in wanted
            if name in rows
        ],
    }  # fmt: skip


def _walk(name: str, tile: int) -> dict[str, object]:
    """Tiles of a group, 0: all of them; and whether a group is walked down."""
    if name in ("along rows", "down columns"):
        return {"high": 0, "wide": 1, "down": True} if name == "down columns" else {"high": 1, "wide": 0, "down": False}
    _, size, side = name.split()
    return {"high": 0, "wide": int(size) // tile, "down": False} if side == "wide" else {"high": int(size) // tile, "wide": 0, "down": True}


PICTURES: dict[str, Callable[[Path], object]] = {"little": little, "pipeline": pipeline, "walk_order": walk_order}
"""By the name of the picture."""
