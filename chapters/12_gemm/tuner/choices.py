#!/usr/bin/env python3
"""The table of the rung `tuned`, rungs/tuned_choices.cuh, from what the tuner has measured.

For each size the finalist with the least time. With --check nothing is written, and a table that is not current is an error.
"""

import json
import sys
from pathlib import Path

CHAPTER = Path(__file__).resolve().parents[1]
TRIALS = CHAPTER.parents[1] / "docs" / "measurements" / "h200_gemm_tuner.json"
TABLE = CHAPTER / "rungs" / "tuned_choices.cuh"

HEAD = """\
/// @file tuned_choices.cuh
/// The fastest that the tuner found for each of its sizes. Made by tuner/choices.py from its trials on an
/// H200, docs/measurements/h200_gemm_tuner.json, and not by hand.
#pragma once

#include "tuned.cuh"

namespace gemm::tuned {

inline constexpr Tuned choices[] = {
"""
FOOT = """\
};

} // namespace gemm::tuned
"""


def fastest() -> list[dict[str, object]]:
    """The best finalist of each size, in the order of the trials."""
    table = json.loads(TRIALS.read_text("utf-8"))["tables"]["gemm_tuner"]
    rows = [dict(zip(table["ids"], row, strict=True)) for row in table["rows"]]
    found: dict[str, dict[str, object]] = {}
    for row in rows:
        best = found.get(row["extent"])
        if row["phase"] == "finalists" and (best is None or row["median_ms"] < best["median_ms"]):
            found[row["extent"]] = row
    return list(found.values())


def line(row: dict[str, object]) -> str:
    """The table's line for a finalist."""
    extent = ", ".join(str(row["extent"]).split(" x "))
    consumers = int(str(row["rows"])) // 64
    choice = [consumers, *(row[name] for name in ("columns", "stages", "down", "across", "panels"))]
    return f"    {{{{{extent}}}, {row['band']}, launch<Choice<{', '.join(map(str, choice))}>>}},\n"


def main(arguments: list[str]) -> int:
    text = HEAD + "".join(map(line, fastest())) + FOOT
    if arguments == ["--check"]:
        current = TABLE.exists() and TABLE.read_text("utf-8") == text
        if not current:
            print(f"{TABLE} is not what {TRIALS.name} says: run {Path(__file__).name}", file=sys.stderr)
        return 0 if current else 1
    TABLE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
