"""The data of chapter 12's pictures: what an H200 measured of the ladder, of bands of tiles, and of five sizes."""

import re
import sys
from pathlib import Path

import traces
from launches import ROOT

sys.path.insert(0, str(ROOT / "docs"))
from weaving import tables  # noqa: E402

LADDER = ROOT / "chapters/12_gemm/ladder.cuh"
LARGEST = "8192 x 8192 x 8192"


def _number(value: object, digits: int) -> float:
    return round(float(str(value)), digits)


def _shares() -> dict[str, dict[str, dict[str, float]]]:
    """Per cent of cuBLAS by pace, extent and kernel."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in tables.rows(tables.load(ROOT)["gemm_ladder"]):
        found.setdefault(str(row["pace"]), {}).setdefault(str(row["extent"]), {})[str(row["kernel"])] = _number(row["share"], 1)
    return found


def ladder(_: Path) -> str:
    """The rungs with what each is about, their shares, and what the hardware counted at the largest size."""
    rungs = re.findall(r'^    \{"(\w+)", "([^"]+)"', LADDER.read_text("utf-8"), re.MULTILINE)
    counted = {str(row["kernel"]): row for row in tables.rows(tables.load(ROOT)["gemm_large"])}
    busy = {name: _number(counted[name]["busy"], 1) for name, _ in rungs if counted.get(name, {}).get("busy") is not None}
    dram = {name: _number(counted[name]["dram"], 1) for name, _ in rungs if counted.get(name, {}).get("dram") is not None}
    return traces.dump({"rungs": [{"name": name, "about": about} for name, about in rungs], "shares": _shares(), "counted_at": LARGEST, "busy": busy, "dram": dram})


def order(_: Path) -> str:
    """Shares of cuBLAS by the rows of a band, for one block alone, at the largest size, without pauses."""
    rows = [row for row in tables.rows(tables.load(ROOT)["gemm_bands_read"]) if row["kernel"] == "128x256 alone"]
    counted = {str(row["kernel"]): row for row in tables.rows(tables.load(ROOT)["gemm_large"])}
    dram = {name: _number(counted[name]["dram"], 2) for name in ("wide_tile", "ordered")}
    return traces.dump({"sms": 132, "tile": [128, 256], "extent": 8192, "bands": {str(row["band"]): _number(row[LARGEST], 1) for row in rows}, "dram": dram})


def waves(_: Path) -> str:
    """What rung 12 reached at each size, with pauses."""
    rows = [
        row
        for row in tables.rows(tables.load(ROOT)["gemm_ladder"])
        if row["pace"] == "with pauses" and row["kernel"] in ("overlapped", "cuBLAS")
    ]
    sizes: dict[str, dict[str, float]] = {}
    for row in rows:
        sizes.setdefault(str(row["extent"]), {})[str(row["kernel"])] = _number(row["tflops"], 0)
    return traces.dump({"sms": 132, "sizes": [{"extent": extent, **found} for extent, found in sizes.items()]})


MAKERS = {"gemm_ladder": ladder, "gemm_order": order, "gemm_waves": waves}
