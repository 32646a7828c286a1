"""The data of chapter 11's pictures: who holds what, what a descriptor reads, and the order of fence, commit and wait."""

import json
from itertools import product
from pathlib import Path

import traces
from launches import ROOT, body, launch, where

PROGRAM = "docs/site/data/wgmma_data"
SOURCE = ROOT / "docs/site/data/wgmma.cu"


def accumulators(build: Path) -> str:
    return traces.dump(json.loads(launch(build, PROGRAM, "accumulators").printed))


def descriptor(build: Path) -> str:
    """Lists of chunks are written once: many descriptors read the same."""
    cases = json.loads(launch(build, PROGRAM, "descriptor").printed)["cases"]
    lists: list[list[int]] = []
    for case in cases:
        if case["chunks"] not in lists:
            lists.append(case["chunks"])
        case["chunks"] = lists.index(case["chunks"])
    return traces.dump({"cases": cases, "lists": lists})


def order(build: Path) -> str:
    runs = {}
    for bits in product("01", repeat=3):
        done = launch(build, PROGRAM, "order", *bits)
        runs["".join(bits)] = [
            {"name": each["name"], "message": each["message"].split(". ")[0].rstrip(".") + ".", "lines": where(each, SOURCE)}
            for each in done.findings
        ]
    return traces.dump({"kernels": [{"name": "order", "lines": body(SOURCE, "order"), "runs": runs}]})


MAKERS = {"wgmma_accumulators": accumulators, "wgmma_descriptor": descriptor, "wgmma_order": order}
