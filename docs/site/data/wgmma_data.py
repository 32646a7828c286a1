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
    runs, products = {}, {}
    for bits in product("01", repeat=3):
        done = launch(build, PROGRAM, "order", *bits)
        runs["".join(bits)] = [
            {"name": each["name"], "message": each["message"].split(". ")[0].rstrip(".") + ".", "lines": where(each, SOURCE)}
            for each in done.findings
        ]
        # The product of the first warp: whether it landed while the kernel ran, and what ended it.
        steps = [event for event in done.events() if event.get("cat") == "async" and event["tid"] == 0]
        end = next(event["args"]["end"] for event in steps if event["ph"] == "e")
        products["".join(bits)] = {"landed": any(event["ph"] == "n" for event in steps), "end": end}
    return traces.dump({"kernels": [{"name": "order", "lines": body(SOURCE, "order"), "runs": runs, "products": products}]})


MAKERS = {"wgmma_accumulators": accumulators, "wgmma_descriptor": descriptor, "wgmma_order": order}
