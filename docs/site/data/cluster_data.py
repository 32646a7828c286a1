"""The data of chapter 9's pictures: the window of addresses, multicasts, and who may leave when."""

import json
from functools import partial
from pathlib import Path

import traces
from launches import ROOT, body, launch, where

PROGRAM = "docs/site/data/clusters_data"
SOURCE = ROOT / "docs/site/data/clusters.cu"
BLOCKS = 4


def window(build: Path) -> str:
    return traces.dump(json.loads(launch(build, PROGRAM, "window").printed))


def multicast(build: Path) -> str:
    """By mask and by the blocks that announce bytes and wait: what came to each block's barrier, and what was found."""
    cases = []
    for mask in range(1 << BLOCKS):
        for armed in range(1 << BLOCKS):
            done = launch(build, PROGRAM, "multicast", str(mask), str(armed))
            blocks = [{"announced": 0, "arrived": 0, "complete": 0, "observed": 0} for _ in range(BLOCKS)]
            for event in done.events():
                if event.get("cat") != "mbarrier" or event["ph"] != "i":
                    continue
                at, args = blocks[int(event["name"].rpartition(" ")[2])], event["args"]
                if args["step"] == "arrive":
                    at["announced" if args["tx"] > 0 else "arrived"] += abs(args["tx"])
                elif args["step"] == "complete":
                    at["complete"] = 1
                elif args["step"] == "observed":
                    at["observed"] = 1
            read = done.counters.get("bytes_bulk_load", 0) - done.counters.get("bytes_multicast", 0)
            cases.append({"blocks": [list(each.values()) for each in blocks], "read": read, "found": [each["name"] for each in done.findings]})
    return traces.dump({"bytes": 256, "blocks": BLOCKS, "columns": ["announced", "arrived", "complete", "observed"], "cases": cases})


def lifetime(build: Path, name: str) -> str:
    """For a kernel and each choice of its two barriers of the cluster: what the emulator found, and where."""
    runs = {}
    for entry in "01":
        for end in "01":
            done = launch(build, PROGRAM, "lifetime", name, entry, end)
            runs[entry + end] = [
                {"name": each["name"], "message": each["message"].splitlines()[0], "lines": where(each, SOURCE)}
                for each in done.findings
            ]
    return traces.dump({"kernels": [{"name": name, "lines": body(SOURCE, name), "runs": runs}]})


MAKERS = {
    "cluster_window": window,
    "cluster_multicast": multicast,
    "cluster_lifetime": partial(lifetime, name="pull"),
    "cluster_push": partial(lifetime, name="push"),
}
