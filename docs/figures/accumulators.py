#!/usr/bin/env python3
"""Which thread of a warpgroup holds which element of D: the upper left corner.

The holders come from common/include/workbook/matrix_layout.hpp, which accumulators.cpp prints; CXX names the compiler.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import svg

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "common" / "include"

CELL_WIDTH, CELL_HEIGHT = 40, 22
LEFT, TOP = 64, 60
THREAD = 5  # whose accumulators are marked


def holders() -> list[list[list[int]]]:
    """[thread, accumulator] of each element, by row and column."""
    compiler = os.environ.get("CXX", "c++").split()
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "accumulators"
        source = HERE / "accumulators.cpp"
        subprocess.run([*compiler, "-std=c++20", "-I", str(INCLUDE), str(source), "-o", str(program)], check=True)
        printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    found: list[list[list[int]]] = json.loads(printed)
    return found


def figure() -> svg.Figure:
    rows = holders()
    picture = svg.Figure("Who holds the upper left corner of D after wgmma", TOP + CELL_HEIGHT * len(rows) + 52)
    picture.text(20, 24, f"Each cell is an element of D: thread.accumulator. Marked: the accumulators of thread {THREAD}", "soft")
    for column in range(len(rows[0])):
        picture.text(LEFT + CELL_WIDTH * (column + 0.5), TOP - 6, str(column), "small soft", "middle")
    for row, cells in enumerate(rows):
        y = TOP + CELL_HEIGHT * row
        picture.text(LEFT - 8, y + 16, f"row {row}", "small soft", "end")
        for column, (thread, i) in enumerate(cells):
            x = LEFT + CELL_WIDTH * column
            fill = "compute" if thread == THREAD else "wait" if thread >= 32 else "plain"
            picture.rect(x, y, CELL_WIDTH, CELL_HEIGHT, fill, f"D({row}, {column}): accumulator {i} of thread {thread}")
            picture.text(x + CELL_WIDTH / 2, y + 16, f"{thread}.{i}", "code", "middle")
    low = TOP + CELL_HEIGHT * len(rows) + 20
    picture.rect(LEFT, low, 16, 12, "wait")
    picture.text(LEFT + 22, low + 11, "the next warp has the next 16 rows", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))
