#!/usr/bin/env python3
"""Writes the data of the interactive pictures: docs/site/data/NAME.json.

Everything comes from programs of this repository that run on the emulator; rates of rungs come from the measurements. With --check nothing is written, and a file that
is not what its program says is an error. --build names the build directory (default: $WORKBOOK_BUILD or build/).
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE)]

import traces  # noqa: E402


class Failed(Exception):
    """A program did not do what it should."""


def run(build: Path, program: str, *arguments: str, record: str = "") -> str:
    """What a program prints on the emulator, or, if `record` is EMULATOR_TRACE or EMULATOR_COUNTERS, that file of it."""
    path = build / program
    if not path.exists():
        raise Failed(f"{path} is not built")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "record"
        env = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_")}
        env |= {"LD_LIBRARY_PATH": str(build / "common/emulator/cuda"), "EMULATOR_THREADS": "1"}
        if record:
            env[record] = str(file)
        done = subprocess.run(
            [str(path), *arguments], env=env, capture_output=True, text=True, check=False, timeout=120
        )
        if done.returncode != 0:
            raise Failed(
                f"{path.name} {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}"
            )
        return (file.read_text("utf-8") if file.exists() else "") if record else done.stdout


def xor_bits(build: Path) -> str:
    return run(build, "docs/site/data/swizzle_data", "places")


def bank_turns(build: Path) -> str:
    """The columns of tiles, and for each read of one the wavefronts that the emulator counted."""
    program = ("docs/site/data/swizzle_data", "turns")
    given = json.loads(run(build, *program))
    launches = [json.loads(line) for line in run(build, *program, record="EMULATOR_COUNTERS").splitlines()]
    counted = [each["total"]["shared_load_wavefronts"] for each in launches if "read_column" in each["kernel"]]
    reads = len(given["reads"])
    if len(counted) != reads * len(given["boxes"]):
        raise Failed("not each entry of swizzle_data was read once")
    for number, box in enumerate(given["boxes"]):
        box["wavefronts"] = counted[reads * number : reads * (number + 1)]
    return traces.dump(given)


def tensor_box(build: Path) -> str:
    return run(build, "docs/site/data/tensor_box_data")


def map_rules(build: Path) -> str:
    return run(build, "docs/site/data/map_rules_data")


def finding(build: Path, *arguments: object) -> dict[str, str] | None:
    """What the emulator finds first in a variant of proxies.cu: its name and its first sentence; None if nothing."""
    report = run(build, "docs/site/data/proxies_data", *map(str, arguments), record="EMULATOR_REPORT")
    if not report:
        return None
    first = json.loads(report.splitlines()[0])
    return {"name": first["name"], "message": first["message"]}


def proxies(build: Path) -> str:
    """By who wrote the tile, by the fence and by whether the threads meet: what is found where a store reads a chunk."""
    variants = []
    for loaded, fence, meet in itertools.product((0, 1), range(4), (0, 1)):
        found = [finding(build, "sees", loaded, fence, meet, chunk) for chunk in range(8)]
        message = next((each["message"] for each in found if each), None)
        names = [each["name"] if each else None for each in found]
        variants.append({"loaded": loaded, "fence": fence, "meet": meet, "found": names, "message": message})
    return traces.dump({"variants": variants})


def store_waits(build: Path) -> str:
    """By the wait for a store and by what then happens: what is found."""
    variants = [
        {"use": use, "wait": wait, "found": finding(build, "waits", wait, use)} for use in range(4) for wait in range(3)
    ]
    return traces.dump({"variants": variants})


def rungs(build: Path) -> str:
    """Chapter 8: what each rung does with a matrix of 128 x 128 floats by the emulator's counters, and its rate on an H200."""
    table = json.loads((ROOT / "docs/measurements/h200.json").read_text("utf-8"))["tables"]["ladder_large"]
    rows = [dict(zip(table["ids"], row, strict=True)) for row in table["rows"]]
    legs = ("global_to_registers", "tensor_load", "registers_to_shared", "shared_to_registers", "registers_to_global", "tensor_store")
    found = []
    for row in rows:
        if row["kernel"] in ("cuBLAS geam", "device-to-device copy"):
            continue
        arguments = ("--kernel", row["kernel"], "--size", str(128 * 128))
        text = run(build, "chapters/08_transpose/transpose", *arguments, record="EMULATOR_COUNTERS")
        counts = [json.loads(line) for line in text.splitlines()]
        if len(counts) != 1 or row["kernel"] not in counts[0]["kernel"]:
            raise Failed(f"{row['kernel']} is not one launch")
        total = counts[0]["total"]
        found.append({
            "kernel": row["kernel"],
            "bytes": {leg: total[f"bytes_{leg}"] for leg in legs if total[f"bytes_{leg}"]},
            "store_sectors": total["global_store_sectors"] + total["tensor_store_sectors"],
            "wavefronts": total["shared_load_wavefronts"] + total["shared_store_wavefronts"],
            "instructions": total["warp_instructions"],
            "gb_per_s": row["gb_per_s"],
            "share": row["share"],
        })  # fmt: skip
    return traces.dump({"rungs": found})


def mbarrier(build: Path) -> str:
    barriers, bulk = "chapters/03_barriers/barriers", "chapters/05_tma_1d/tma_1d"
    records = []
    for program, kernel, size, array in (
        (barriers, "two_copies_native_handle", "1024", None),
        (barriers, "producer_consumer_mbarrier", "4096", None),
        (bulk, "axpy_ring", "8192", "full"),
    ):
        text = run(build, program, "--kernel", kernel, "--size", size, record="EMULATOR_TRACE")
        records.append(traces.mbarrier_steps(text, kernel, array))
    return traces.dump({"records": records})


def pipeline(build: Path) -> str:
    stages = {}
    for count in (1, 2, 4):
        arguments = ("--kernel", f"timeline_{count}", "--size", "8192")
        text = run(build, "chapters/04_pipeline/pipeline", *arguments, record="EMULATOR_TRACE")
        stages[str(count)] = traces.pipeline_tiles(text, f"timeline<{count}>", count)
    return traces.dump({"name": "the emulator: order only", "unit": "events", "timed": False, "stages": stages})


MAKERS = {
    "xor_bits": xor_bits,
    "bank_turns": bank_turns,
    "map_rules": map_rules,
    "proxies": proxies,
    "store_waits": store_waits,
    "rungs": rungs,
    "tensor_box": tensor_box, "mbarrier": mbarrier, "pipeline": pipeline}


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
        except (Failed, traces.Unexpected, ValueError) as error:
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
