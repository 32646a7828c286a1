"""The tables of variants in the chapters: their numbers are written by hand, beside what each kernel is for."""

import json
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = {
    "01_sync_copy": ("report_sync_copy",),
    "02_cp_async": ("report_cp_async",),
    "05_tma_1d": ("report_tma_1d", "prefetch"),
    "06_tma_2d": ("report_tma_2d",),
    "08_transpose": ("ladder_large",),
    "09_clusters": ("report_clusters",),
}
"""Where the numbers of a chapter's kernels were measured. Chapter 4's table is woven, chapter 12's has a test in test_listings.py."""
COLUMNS = {"%": "share", "GB/s": "gb_per_s", "ms": "median_ms"}
NUMBER = re.compile(r"([\d,.]+) (%|GB/s|ms)")

Row = dict[str, str | int | float | None]


def measured(names: tuple[str, ...]) -> list[Row]:
    tables = json.loads((ROOT / "docs/measurements/h200.json").read_text("utf-8"))["tables"]
    return [dict(zip(tables[name]["ids"], row, strict=True)) for name in names for row in tables[name]["rows"]]


def variants(text: str) -> list[list[str]]:
    """The cells of the first table below the heading 'Variants', without its head."""
    below = text[text.index("\n## Variants\n") :]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]] if table else []


def compared(cells: list[str], rows: list[Row]) -> list[tuple[str, bool]]:
    """The numbers with which cells begin that speak of a kernel of the table, each with whether it was measured of it."""
    names = re.findall(r"`(\w+)`", cells[0])
    own = [row for row in rows if row["kernel"] in names]
    found = []
    for number, unit in (match.groups() for cell in cells[1:] if (match := NUMBER.match(cell)) and own):
        digits = len(number.partition(".")[2])
        found.append((f"{names}: {number} {unit}", number.replace(",", "") in {f"{row[COLUMNS[unit]]:.{digits}f}" for row in own}))
    return found


class Variants(unittest.TestCase):
    def test_numbers_are_those_that_were_measured(self) -> None:
        for chapter, tables in TABLES.items():
            rows = measured(tables)
            text = (ROOT / "chapters" / chapter / "README.md").read_text("utf-8")
            seen = [each for cells in variants(text) for each in compared(cells, rows)]
            self.assertGreaterEqual(len(seen), 4, chapter)
            self.assertEqual([what for what, right in seen if not right], [], chapter)

    def test_another_number_is_found(self) -> None:
        rows: list[Row] = [{"kernel": "a", "share": 57.4, "gb_per_s": 2363.2}]
        cells = variants("\n## Variants\n| v | x | y |\n|---|---|---|\n| [`a`](#a) | 2,363 GB/s | 58 %, mostly |\n\n| other |\n")
        self.assertEqual(compared(cells[0], rows), [("['a']: 2,363 GB/s", True), ("['a']: 58 %", False)])


if __name__ == "__main__":
    unittest.main()
