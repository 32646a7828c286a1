"""The data of the pictures of chapters 1 to 4."""

import json
from pathlib import Path

import traces
from running import Failed, run


def coalescing(build: Path) -> str:
    """By size, offset and stride of the elements: the sectors that the emulator counted for the one load of the launch."""
    program = "docs/site/data/coalescing_data"
    launches = json.loads(run(build, program))
    counted = [json.loads(line)["total"] for line in run(build, program, record="EMULATOR_COUNTERS").splitlines()]
    if len(counted) != len(launches) or any(each["global_load_requests"] != 1 for each in counted):
        raise Failed("not each launch of coalescing_data is one request")
    sectors: dict[str, list[list[int]]] = {}
    for launch, count in zip(launches, counted, strict=True):
        rows = sectors.setdefault(str(launch["size"]), [])
        if launch["stride"] == 0:
            rows.append([])
        rows[launch["offset"]].append(count["global_load_sectors"])
    return traces.dump({"lanes": 32, "sector_bytes": 32, "sectors": sectors})


def groups(build: Path) -> str:
    """What had landed after each wait where copies land as late, and as early, as they may."""
    program = "docs/site/data/groups_data"
    late, early = (json.loads(run(build, program, order=order)) for order in ("late", "early"))
    cases = []
    for one, other in zip(late, early, strict=True):
        landed = {"late": one.pop("landed"), "early": other.pop("landed")}
        if one != other:
            raise Failed("groups_data does something else in another order")
        cases.append(one | landed)
    return traces.dump({"cases": cases})


def zero_fill(build: Path) -> str:
    return run(build, "docs/site/data/zero_fill_data")


def parity(build: Path) -> str:
    return run(build, "docs/site/data/parity_data")


def fence(build: Path) -> str:
    """Each hand-over with the names of what the emulator finds in it."""
    program = "docs/site/data/fence_data"
    cases = json.loads(run(build, program))
    for number, case in enumerate(cases):
        report = run(build, program, str(number), record="EMULATOR_REPORT")
        case["found"] = sorted({json.loads(line)["name"] for line in report.splitlines()})
    return traces.dump({"cases": cases})


def ring(build: Path) -> str:
    """The order in which a block's copies were issued and landed, and its tiles computed, by the number of stages."""
    stages = {}
    for count in (1, 2, 4):
        arguments = ("--kernel", f"timeline_{count}", "--size", "8192")
        text = run(build, "chapters/04_pipeline/pipeline", *arguments, record="EMULATOR_TRACE")
        stages[str(count)] = traces.pipeline_tiles(text, f"timeline<{count}>", count)
    return traces.dump({"stages": stages})


MAKERS = {
    "coalescing": coalescing,
    "groups": groups,
    "zero_fill": zero_fill,
    "parity": parity,
    "fence": fence,
    "ring": ring,
}
