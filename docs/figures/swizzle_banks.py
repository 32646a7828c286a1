#!/usr/bin/env python3
"""Eight rows of a tile in shared memory, without and with each swizzle mode: where a column of chunks lies.

The places come from common/include/workbook/swizzle.hpp, which swizzle_banks.cpp prints; CXX names the compiler.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import svg

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "common" / "include"

GROUPS = 8  # groups of four banks: the 16-byte places of a 128-byte line
CELL_WIDTH, CELL_HEIGHT = 40, 22
PANELS = (20, 380)  # left edges
TOP = 64


def places() -> list[dict[str, Any]]:
    """One entry per mode: width of a row in bytes, and the number of the place of each chunk, [row][chunk]."""
    compiler = os.environ.get("CXX", "c++").split()
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "swizzle_banks"
        source = HERE / "swizzle_banks.cpp"
        subprocess.run([*compiler, "-std=c++20", "-I", str(INCLUDE), str(source), "-o", str(program)], check=True)
        printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    modes: list[dict[str, Any]] = json.loads(printed)
    return modes


def wavefronts(tile: list[list[int]]) -> int:
    """How many wavefronts it takes eight lanes to read the first chunk of a row each."""
    groups = [row[0] % GROUPS for row in tile]
    return max(groups.count(group) for group in groups)


def panel(figure: svg.Figure, left: float, top: float, caption: str, tile: list[list[int]]) -> float:
    """Draws the lines of one tile; returns the lower edge."""
    taken = wavefronts(tile)
    figure.text(left, top - 24, caption, "strong")
    for group in range(GROUPS):
        label = f"{4 * group}–{4 * group + 3}"
        figure.text(left + CELL_WIDTH * (group + 0.5), top - 6, label, "small soft", "middle")
    for row, chunks in enumerate(tile):
        for chunk, place in enumerate(chunks):
            x = left + CELL_WIDTH * (place % GROUPS)
            y = top + CELL_HEIGHT * (place // GROUPS)
            first = "wrong" if taken > 1 else "compute"
            tip = f"row {row}, chunk {chunk}: banks {4 * (place % GROUPS)} to {4 * (place % GROUPS) + 3}"
            figure.rect(x, y, CELL_WIDTH, CELL_HEIGHT, first if chunk == 0 else "plain", tip)
            figure.text(x + CELL_WIDTH / 2, y + 16, f"{row}.{chunk}", "code", "middle")
    bottom = top + CELL_HEIGHT * (max(max(chunks) for chunks in tile) // GROUPS + 1)
    says = "1 wavefront" if taken == 1 else f"{taken} wavefronts"
    figure.text(left, bottom + 18, f"the coloured column, read by eight lanes: {says}", "small")
    return bottom + 18


def figure() -> svg.Figure:
    modes = places()
    heights = [CELL_HEIGHT * (max(max(chunks) for chunks in mode["plain"]) // GROUPS + 1) for mode in modes]
    picture = svg.Figure(
        "Where the 16-byte chunks of eight rows lie in the banks of shared memory, without and with each swizzle mode",
        TOP + sum(heights) + 80 * len(modes) - 24,
    )
    picture.text(20, 24, "Each cell is a chunk of 16 bytes, named row.chunk; each line is 128 bytes; above: its banks", "soft")
    top = TOP + 16
    for mode, height in zip(modes, heights, strict=True):
        width = mode["width"]
        panel(picture, PANELS[0], top, f"rows of {width} bytes, no swizzle", mode["plain"])
        panel(picture, PANELS[1], top, f"rows of {width} bytes, {width}-byte swizzle", mode["swizzled"])
        top += height + 80
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
