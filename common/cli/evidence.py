"""What must have happened, by the emulator's own counters: never by what the learner's code wrote."""

import os
from pathlib import Path
from typing import Any

from . import counted
from .exercises import Condition
from .workspace import Workspace

_CODE = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".inl")

MISSED = "The results are right, but "


def missed(
    conditions: tuple[Condition, ...], launches: list[dict[str, Any]], workspace: Workspace
) -> list[str]:
    """The first condition that the counters do not meet, in words, with the source line that counts most; else nothing."""
    for condition in (*conditions, *_without_atomics(conditions)):
        mine = [launch for launch in launches if condition.kernel in launch["kernel"]]
        if condition.launch:
            mine = mine[condition.launch - 1 : condition.launch]
        if not mine:
            return [f"No kernel whose name contains `{condition.kernel}` was launched{_which(condition)}."]
        value = sum(_count(launch, condition.field, condition.warps) for launch in mine)
        if condition.less:
            value -= sum(_count(launch, condition.less, condition.warps) for launch in mine)
        per = sum(_count(launch, condition.per, None) for launch in mine) if condition.per else 1
        if not _holds(condition, value, per):
            return _counted(condition, mine, value, per, workspace)
    return []


def _which(condition: Condition) -> str:
    return f" (launch {condition.launch})" if condition.launch else ""


def _without_atomics(conditions: tuple[Condition, ...]) -> list[Condition]:
    """An atomic in global memory reads and writes, and no counter of bytes sees it: it is refused where bytes are judged, if
    the exercise says nothing of atomics."""
    field = "global_atomic_requests"
    if any(condition.field == field for condition in conditions):
        return []
    says = "An atomic brings a value from global memory as a load does, and stores one: this exercise needs none."
    judged = {condition.kernel for condition in conditions if condition.field.startswith(("bytes_", "async_"))}
    return [Condition(kernel, field, "equals", 0, says) for kernel in sorted(judged)]


def _count(launch: dict[str, Any], field: str, warps: tuple[int, int] | None) -> int:
    """What a launch counts, in all or in the warps with these numbers in their blocks."""
    if warps is None:
        return int(launch["total"][field])
    return sum(counts.get(field, 0) for counts in launch["warps"][warps[0] : warps[1] + 1])


def _holds(condition: Condition, value: int, per: int) -> bool:
    if per == 0 and condition.bound != "at_most":
        return False  # so much of nothing is no evidence
    limit = condition.limit * per
    return {"at_most": value <= limit, "at_least": value >= limit, "equals": value == limit}[condition.bound]


def _counted(
    condition: Condition, launches: list[dict[str, Any]], value: int, per: int, workspace: Workspace
) -> list[str]:
    less = f" (without {counted.many(condition.less)})" if condition.less else ""
    count = counted.amount(value, condition.field) + less
    unit = f" per {counted.one(condition.per)}" if condition.per else ""
    wanted = counted.bound(condition.bound, condition.limit)
    if condition.per and per:
        count = counted.amount(float(f"{value / per:.4g}"), condition.field) + less + unit
    elif condition.per:
        count, wanted = f"{count} and no {counted.one(condition.per)}", wanted + unit
    where = f" in {counted.warps(condition.warps)}" if condition.warps else ""
    text = f"{MISSED}the emulator counts {count}{where}{_which(condition)}; asked for: {wanted}."
    result = [text, condition.says]
    by_line: dict[tuple[str, int], int] = {}
    for launch in launches:
        for entry in launch["lines"]:
            place = (entry["file"], entry["line"])
            by_line[place] = by_line.get(place, 0) + entry["counts"].get(condition.field, 0)
    # Of equals the last: what the exercise gives stands in front of the answer.
    place = max(by_line, key=lambda key: (by_line[key], key[1]), default=None)
    if place and by_line[place] and condition.bound != "at_least":
        result.append(f"Most of them come from {quoted(place[0], place[1], workspace)}")
    return result


def quoted(file: str, line: int, workspace: Workspace) -> str:
    """`file:line: text of the line`, the file as short as it can be."""
    path = Path(file) if os.path.isabs(file) else workspace.root / file
    # `#line` can name any file: nothing is shown of those that no compiler reads.
    code = path.suffix in _CODE or "include" in path.parts
    try:
        text = path.read_text("utf-8").splitlines()[line - 1].strip() if code else ""
    except (OSError, UnicodeDecodeError, IndexError):
        text = ""
    name = workspace.relative(Path(os.path.normpath(path)))
    return f"{name}:{line}" + (f": {text}" if text else "")
