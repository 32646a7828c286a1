#!/usr/bin/env python3
"""Writes the data of the interactive pictures: docs/site/data/NAME.json.

Everything comes from programs of this repository that run on the emulator. With --check nothing is written, and a file that
is not what its program says is an error. --build names the build directory (default: $WORKBOOK_BUILD or build/).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE)]

import cluster_data  # noqa: E402
import gemm_data  # noqa: E402
import launches  # noqa: E402
import roles_data  # noqa: E402
import traces  # noqa: E402
import wgmma_data  # noqa: E402


class Failed(Exception):
    """A program did not do what it should."""


def run(build: Path, program: str, *arguments: str, record: str = "", order: str = "") -> str:
    """What a program prints on the emulator, or, if `record` is EMULATOR_TRACE or its like, that file of it.

    With an `order` copies land late or early, and reads that come too soon are let through.
    """
    path = build / program
    if not path.exists():
        raise Failed(f"{path} is not built")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "record"
        env = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_")}
        env |= {"LD_LIBRARY_PATH": str(build / "common/emulator/cuda"), "EMULATOR_THREADS": "1"}
        if order:
            env |= {"EMULATOR_ORDER": order, "EMULATOR_CHECKS": "none"}
        if record:
            env[record] = str(file)
        done = subprocess.run(
            [str(path), *arguments], env=env, capture_output=True, text=True, check=False, timeout=120
        )
        if done.returncode != 0:
            raise Failed(
                f"{path.name} {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}"
            )
        return done.stdout if not record else file.read_text("utf-8") if file.exists() else ""


def swizzle(build: Path) -> str:
    return run(build, "docs/site/data/swizzle_data")


def tensor_box(build: Path) -> str:
    return run(build, "docs/site/data/tensor_box_data")


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
    "swizzle": swizzle,
    "tensor_box": tensor_box,
}
MAKERS |= cluster_data.MAKERS | roles_data.MAKERS | wgmma_data.MAKERS | gemm_data.MAKERS


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="docs/site/data/make.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is stale")
    parser.add_argument("--build", metavar="DIR", type=Path)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"some of {', '.join(MAKERS)}; default: all")
    options = parser.parse_args(arguments)
    build = (options.build or Path(os.environ.get("WORKBOOK_BUILD") or ROOT / "build")).absolute()
    status = 0
    for name in options.names or MAKERS:
        path = HERE / f"{name}.json"
        try:
            text = MAKERS[name](build)
            json.loads(text)
        except (Failed, launches.NotBuilt, traces.Unexpected, ValueError) as error:
            print(f"data: {name}: {error}", file=sys.stderr)
            status = 1
            continue
        if path.exists() and path.read_text("utf-8") == text:
            continue
        if options.check:
            print(
                f"data: {path.relative_to(ROOT)} is not up to date; docs/site/data/make.py makes it",
                file=sys.stderr,
            )
            status = 1
        else:
            path.write_text(text, "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
