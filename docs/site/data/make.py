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


def run(build: Path, program: str, *arguments: str, trace: bool = False) -> str:
    """What a program prints on the emulator, or, with `trace`, its time line."""
    path = build / program
    if not path.exists():
        raise Failed(f"{path} is not built")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "trace.json"
        env = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_")}
        env |= {"LD_LIBRARY_PATH": str(build / "common/emulator/cuda"), "EMULATOR_THREADS": "1"}
        if trace:
            env["EMULATOR_TRACE"] = str(file)
        done = subprocess.run(
            [str(path), *arguments], env=env, capture_output=True, text=True, check=False, timeout=120
        )
        if done.returncode != 0:
            raise Failed(
                f"{path.name} {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}"
            )
        return file.read_text("utf-8") if trace else done.stdout


def swizzle(build: Path) -> str:
    return run(build, "docs/site/data/swizzle_data")


def tensor_box(build: Path) -> str:
    return run(build, "docs/site/data/tensor_box_data")


def mbarrier(build: Path) -> str:
    barriers, bulk = "chapters/03_barriers/barriers", "chapters/05_tma_1d/tma_1d"
    records = []
    for program, kernel, size, array in (
        (barriers, "two_copies_native_handle", "1024", None),
        (barriers, "producer_consumer_mbarrier", "4096", None),
        (bulk, "axpy_ring", "8192", "full"),
    ):
        text = run(build, program, "--kernel", kernel, "--size", size, trace=True)
        records.append(traces.mbarrier_steps(text, kernel, array))
    return traces.dump({"records": records})


def pipeline(build: Path) -> str:
    stages = {}
    for count in (1, 2, 4):
        arguments = ("--kernel", f"timeline_{count}", "--size", "8192")
        text = run(build, "chapters/04_pipeline/pipeline", *arguments, trace=True)
        stages[str(count)] = traces.pipeline_tiles(text, f"timeline<{count}>", count)
    return traces.dump({"name": "the emulator: order only", "unit": "events", "timed": False, "stages": stages})


MAKERS = {"swizzle": swizzle, "tensor_box": tensor_box, "mbarrier": mbarrier, "pipeline": pipeline}

# Pictures that ask have a module for each chapter.
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
