"""Reads the emulator's time lines (EMULATOR_TRACE) for the interactive pictures."""

import json
import re
from collections import defaultdict
from typing import Any

Event = dict[str, Any]


class Unexpected(Exception):
    """A time line that does not show what the picture is about."""


def dump(value: object) -> str:
    """JSON with one line for each entry of the innermost lists, so that a change is seen where it is."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub(r"(?<=[\[,])(?=\{)", "\n", text) + "\n"


def first_cluster(text: str, kernel: str) -> list[Event]:
    """The events of the first cluster of the first launch of a kernel."""
    events: list[Event] = json.loads(text)["traceEvents"]
    for event in events:
        if event["ph"] == "M" and kernel in event["args"]["name"]:
            return [other for other in events if other["pid"] == event["pid"] and other["ph"] != "M"]
    raise Unexpected(f"the time line has no launch of {kernel}")


def pipeline_tiles(text: str, kernel: str, stages: int) -> list[dict[str, int]]:
    """For each tile of a block: when its copy was issued, when it had landed, and when the tile was computed.

    Every thread issues the same number of copies for each tile. A stage has two barriers: one completes when its copies
    have landed, the other when all threads have released the stage, that is, when they have computed.
    """
    events = first_cluster(text, kernel)
    copies = [e for e in events if e.get("cat") == "async" and e["name"] == "cp.async"]
    begun = [e for e in copies if e["ph"] == "b"]
    order: dict[str, list[int]] = defaultdict(list)
    for event in begun:
        order[event["args"]["by"]].append(event["id"])
    phases = [
        e for e in events if e.get("cat") == "mbarrier" and e["ph"] == "i" and e["args"]["step"] == "complete"
    ]
    released = sorted(e["ts"] for e in phases if e["args"]["by"] != "a copy")
    tiles = len(released)
    lengths = {len(ids) for ids in order.values()}
    if not tiles or len(lengths) != 1 or (length := lengths.pop()) % tiles != 0:
        raise Unexpected(f"the copies of {kernel} do not share out over {tiles} tiles")
    per_tile = length // tiles
    tile_of = {number: place // per_tile for ids in order.values() for place, number in enumerate(ids)}
    issued = {t: min(e["ts"] for e in begun if tile_of[e["id"]] == t) for t in range(tiles)}
    landed = {
        t: max(e["ts"] for e in copies if e["ph"] == "n" and tile_of[e["id"]] == t) for t in range(tiles)
    }
    return [
        {"tile": t, "stage": t % stages, "issued": issued[t], "landed": landed[t], "computed": released[t]}
        for t in range(tiles)
    ]
