"""The data of the pictures of chapters 5 to 8."""

import itertools
import json
from pathlib import Path

import traces
from running import ROOT, Failed, run


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


def im2row(build: Path) -> str:
    return run(build, "docs/site/data/im2row_data")


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
        if row["kernel"] in ("any_matrix", "cuBLAS geam", "device-to-device copy"):  # No rungs.
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


MAKERS = {
    "xor_bits": xor_bits,
    "bank_turns": bank_turns,
    "tensor_box": tensor_box,
    "map_rules": map_rules,
    "im2row": im2row,
    "proxies": proxies,
    "store_waits": store_waits,
    "rungs": rungs,
}
