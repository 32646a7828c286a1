"""The tables of variants in the chapters: their numbers are written by hand, beside what each kernel is for."""

import json
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = {
    "01_sync_copy": ("report_sync_copy",),
    "02_cp_async": ("report_cp_async",),
    "05_tma_1d": ("report_tma_1d", "axpy_ring", "fenced_read"),
    "08_transpose": ("ladder_large",),
    "09_clusters": ("report_clusters",),
}
"""Where the numbers of a chapter's kernels were measured. Chapter 4's table is woven, chapter 12's has a test in test_listings.py."""
HEADINGS = {"05_tma_1d": "### The three questions, answered", "09_clusters": "### The variants in numbers"}
"""Below which heading a chapter's table is, where that is not 'Variants'."""
COLUMNS = {"%": "share", "GB/s": "gb_per_s", "ms": "median_ms"}
NUMBER = re.compile(r"([\d,.]+) (%|GB/s|ms)")
BLOCKS = {"one block": 1, "two": 2, "six": 6}
BY_BLOCKS = re.compile(rf"([\d.]+)(?: %)? with ({'|'.join(BLOCKS)})\b")
"""One of several numbers of a cell, each for as many blocks on each SM; the unit stands behind the first."""

LEAST = {"05_tma_1d": 5}
"""How many numbers a chapter's table has at least, where that is not four."""

Row = dict[str, str | int | float | None]


def measured(names: tuple[str, ...]) -> list[Row]:
    tables = json.loads((ROOT / "docs/measurements/h200.json").read_text("utf-8"))["tables"]
    rows = [(name, dict(zip(tables[name]["ids"], row, strict=True))) for name in names for row in tables[name]["rows"]]
    return [row if name != "fenced_read" else ring(row) for name, row in rows]


def ring(row: Row) -> Row:
    """A row of chapter 5's rings as one of `copy_by_ring`, which has the fence: its share, if the ring is the listed one of two stages of 4 KiB."""
    listed = (row["tile_bytes"], row["stages"]) == (4096, 2)
    return {"kernel": "copy_by_ring", "blocks_per_sm": row["blocks_per_sm"], "share": row["yes"]} if listed else {"kernel": ""}


def variants(text: str, heading: str = "## Variants") -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    below = text[text.index(f"\n{heading}\n") :]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]] if table else []


def measured_of(number: str, unit: str, rows: list[Row]) -> bool:
    digits = len(number.partition(".")[2])
    return number.replace(",", "") in {f"{row[COLUMNS[unit]]:.{digits}f}" for row in rows}


def compared(cells: list[str], rows: list[Row]) -> list[tuple[str, bool]]:
    """The numbers with which cells begin that speak of a kernel, each with whether it was measured of it; and all numbers of a
    cell that says with how many blocks on each SM. The kernels are those of the first cell that names one of the rows."""
    named = (re.findall(r"`(\w+)`", cell) for cell in cells)
    known = {row["kernel"] for row in rows}
    names = next((each for each in named if known & set(each)), [])
    own = [row for row in rows if row["kernel"] in names]
    found = []
    for number, unit, cell in ((*match.groups(), cell) for cell in cells[1:] if (match := NUMBER.match(cell)) and own):
        by_blocks = BY_BLOCKS.findall(cell)
        if not by_blocks:
            found.append((f"{names}: {number} {unit}", measured_of(number, unit, own)))
        for each, blocks in by_blocks:
            there = [row for row in own if row.get("blocks_per_sm") == BLOCKS[blocks]]
            found.append((f"{names}: {each} {unit} with {blocks}", measured_of(each, unit, there)))
    return found


class Variants(unittest.TestCase):
    def test_numbers_are_those_that_were_measured(self) -> None:
        for chapter, tables in TABLES.items():
            rows = measured(tables)
            text = (ROOT / "chapters" / chapter / "README.md").read_text("utf-8")
            table = variants(text, HEADINGS.get(chapter, "## Variants"))
            seen = [each for cells in table for each in compared(cells, rows)]
            with self.subTest(chapter=chapter):
                self.assertGreaterEqual(len(seen), LEAST.get(chapter, 4))
                self.assertEqual([what for what, right in seen if not right], [])

    def test_another_number_is_found(self) -> None:
        rows: list[Row] = [{"kernel": "a", "share": 57.4, "gb_per_s": 2363.2}]
        cells = variants("\n## Variants\n| v | x | y |\n|---|---|---|\n| [`a`](#a) | 2,363 GB/s | 58 %, mostly |\n\n| other |\n")
        self.assertEqual(compared(cells[0], rows), [("['a']: 2,363 GB/s", True), ("['a']: 58 %", False)])

    def test_another_number_is_found_among_those_for_blocks(self) -> None:
        rows: list[Row] = [{"kernel": "a", "share": share, "blocks_per_sm": blocks} for share, blocks in ((76.6, 1), (98.9, 2), (96.3, 6))]
        found = compared(["`a`", "fences", "77 % with one block on each SM, 96 with two, 96 with six"], rows)
        self.assertEqual([right for _, right in found], [True, False, True])


if __name__ == "__main__":
    unittest.main()
