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


def _warp(by: str) -> str | None:
    """The warp of 'thread (x,0,0) of block ...'; None for a copy."""
    match = re.match(r"thread \((\d+),0,0\)", by)
    return f"warp {int(match[1]) // 32}" if match else None


def _barrier_names(events: list[Event], array: str | None) -> dict[int, str]:
    """Names for the tracks of mbarriers: 'ready + 8' is ready[1]. `array` names barriers inside of a struct."""
    texts = {event["tid"]: event["name"].removeprefix("mbarrier ") for event in events}
    if array:
        return {track: f"{array}[{i}]" for i, track in enumerate(sorted(texts))}
    names = {}
    for track, text in sorted(texts.items()):
        base, _, offset = text.partition(" + ")
        alone = sum(other.partition(" + ")[0] == base for other in texts.values()) == 1
        names[track] = base if alone else f"{base}[{int(offset or 0) // 8}]"
    return names


def mbarrier_steps(text: str, kernel: str, array: str | None = None) -> dict[str, object]:
    """The steps of all mbarriers of a block: initialised, arrival, bytes announced or landed, complete, seen.

    What several lanes of a warp do one after the other is one step.
    """
    events = [e for e in first_cluster(text, kernel) if e.get("cat") == "mbarrier" and e["ph"] == "i"]
    if not events:
        raise Unexpected("the time line has no steps of an mbarrier")
    names = _barrier_names(events, array)
    steps: list[Event] = []
    for event in events:
        args = event["args"]
        step = {
            "at": event["ts"],
            "barrier": names[event["tid"]],
            "step": args["step"],
            "phase": args["phase"],
        }
        step |= {"count": args["count"], "tx": args["tx"], "by": _warp(args["by"]) or args["by"], "lanes": 1}
        if steps and _one_step(steps[-1], step):
            steps[-1]["lanes"] += 1
            steps[-1]["count"] += step["count"]
        else:
            steps.append(step)
    return {"kernel": kernel, "barriers": [names[track] for track in sorted(names)], "steps": steps}


def _one_step(last: Event, step: Event) -> bool:
    """Whether `step` is what `last` is, by another lane of the warp."""
    same = all(last[key] == step[key] for key in ("barrier", "step", "phase", "by"))
    bare = last["tx"] == step["tx"] == 0 and last["by"].startswith("warp")
    return same and bare and step["step"] in ("observed", "arrive")


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
