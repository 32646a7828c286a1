"""The data of chapter 10's pictures: what the barriers of a ring saw, and what registers that move gained on an H200."""

import sys

from pathlib import Path

import traces
from launches import ROOT, launch

sys.path.insert(0, str(ROOT / "docs"))
from weaving import tables  # noqa: E402

PROGRAM = "docs/site/data/roles_data"
STAGES = 3
ROLES = {"warp 0": "consumer 0", "warp 1": "consumer 1", "warp 2": "producer"}


def ring(build: Path) -> str:
    recorded = traces.mbarrier_steps(launch(build, PROGRAM).trace, "small_ring", "bar")
    names = dict(zip(recorded["barriers"], [f"{kind}[{stage}]" for kind in ("full", "empty") for stage in range(STAGES)], strict=True))
    steps = [
        {"barrier": names[step["barrier"]], **{key: step[key] for key in ("step", "phase", "count", "tx")}, "by": ROLES.get(step["by"], step["by"])}
        for step in recorded["steps"]
        if step["step"] != "init"
    ]
    return traces.dump({"stages": STAGES, "roles": list(ROLES.values()), "arrivals": {"full": 1, "empty": 2}, "steps": steps})


def registers(_: Path) -> str:
    """Sizes of an SM and of `setmaxnreg` (PTX ISA), and the measured times of the kernels with the most to remember."""
    times = {str(row["kernel"]): row for row in tables.rows(tables.load(ROOT)["roles_by_registers"])}
    prints = max(int(name) for name in times["registers_moved"] if name.isdigit())
    kernels = {"launched": "registers_as_launched", "moved": "registers_moved"}
    measured = {name: round(float(str(times[kernel][str(prints)])), 2) for name, kernel in kernels.items()}
    sizes = {"registers": 65536, "group": 128, "step": 8, "least": 24, "most": 256}
    return traces.dump({**sizes, "measured": {"prints": prints, **measured}})


MAKERS = {"ring_roles": ring, "register_budget": registers}
