#!/usr/bin/env python3
"""Writes what a rung of chapter 12's ladder gained over the rung before, at each size, as Markdown for the chapter's README.

usage: gemm_step.py RUNG

Rungs and their order are those of ladder.cuh, figures those of the measurement file. A rung that the file does not have is said
to be unmeasured.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common")]

from weaving.tables import load, markdown, rows  # noqa: E402

LADDER = "chapters/12_gemm/ladder.cuh"
PACES = ("with pauses", "without pauses")


def rungs(text: str) -> list[str]:
    """The names of the ladder's rungs, from the first."""
    return re.findall(r'^    \{"(\w+)", "', text, re.MULTILINE)


def step(names: Sequence[str], measured: Sequence[dict[str, object]], name: str) -> list[str]:
    """A line for each pace, with the shares of cuBLAS before and now."""
    before = names[names.index(name) - 1]
    share = {(row["extent"], row["pace"], row["kernel"]): row["share"] for row in measured}
    extents = list(dict.fromkeys(str(row["extent"]) for row in measured))
    if not any(kernel == name for _, _, kernel in share):
        return [f"In these turns `{name}` has not been measured yet."]

    def cell(extent: str, pace: str) -> str:
        values = [share.get((extent, pace, kernel)) for kernel in (before, name)]
        return " → ".join("–" if value is None else f"{value:.1f}" for value in values)

    heading = [f"`{before}` → `{name}`, % of cuBLAS", *extents]
    paces = [pace for pace in PACES if any((extent, pace, name) in share for extent in extents)]
    lines = [[pace, *(cell(extent, pace) for extent in extents)] for pace in paces]
    return markdown(heading, lines, [False] + [True] * len(extents))


def main(arguments: Sequence[str]) -> int:
    names = rungs((ROOT / LADDER).read_text("utf-8"))
    if len(arguments) != 1 or arguments[0] not in names[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join(step(names, rows(load(ROOT)["gemm_ladder"]), arguments[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
