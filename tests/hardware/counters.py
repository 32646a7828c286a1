#!/usr/bin/env python3
"""Compares the emulator's counters with Nsight Compute's, launch by launch.

    counters.py measure --programs DIR --output FILE                 on a GPU; --only NAME: one chapter, or `matrices`
    counters.py compare --programs DIR --emulator DIR --measured FILE --output FILE
    counters.py check --programs DIR --emulator DIR                  does the emulator still count the same?
    counters.py table                                                Markdown for docs/pages/emulator_reference.md

The programs run once per chapter, as if the GPU had no clock (no_clock.cpp), so both devices see the same launches.
"""

import argparse
import csv
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from counters_table import RESULT, Launch, markdown
from programs import ROOT, chapters, on_emulator, program, run

SIZE = "131072"
# Beside the chapters: the program whose kernels are one instruction each, in the directory of this file.
MATRICES = "matrices"

# The emulator's counters, and those of the hardware whose sum must be equal. The second group is counted by
# instrumented machine code, in a run of its own; those of it that the emulator does not have are for the reader.
UNITS = {
    "global_load_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld"],
    "global_load_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld"],
    "global_store_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_st"],
    "global_store_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st"],
    "global_atomic_requests": [
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red",
    ],
    "shared_load_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld"],
    "shared_load_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld"],
    "shared_store_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st"],
    "shared_store_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st"],
    "wgmma_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma"],
    "tma_load_bytes": ["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld"],
    "tma_store_bytes": ["l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st"],
    "tma_reduce_bytes": ["l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red"],
}
INSTRUCTIONS = {
    "global_load_instructions": ["sm__sass_inst_executed_op_global_ld"],
    "global_store_instructions": ["sm__sass_inst_executed_op_global_st"],
    "cp_async_instructions": ["sm__sass_inst_executed_op_ldgsts"],
    "cp_async_requests": [
        "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access",
        "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts_cache_bypass",
    ],
    "cp_async_sectors": [
        "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access",
        "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass",
    ],
    "cp_async_bytes_read": ["sm__sass_data_bytes_mem_global_op_ldgsts"],
    "shared_load_requests": ["sm__sass_inst_executed_op_shared_ld"],
    "shared_store_requests": ["sm__sass_inst_executed_op_shared_st"],
    "shared_load_wavefronts_by_instruction": ["sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld"],
    "shared_store_wavefronts_by_instruction": ["sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st"],
    "shared_load_conflicts_by_instruction": ["sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ld"],
    "shared_store_conflicts_by_instruction": ["sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_st"],
}
# Of the tensor cores. An operation is a product or a sum: two for each multiply-add.
TENSOR = {
    "tensor_instructions": ["sm__inst_executed_pipe_tensor"],
    "tensor_operations_f16": ["sm__ops_path_tensor_src_fp16"],
    "tensor_operations_bf16": ["sm__ops_path_tensor_src_bf16_dst_fp32"],
    "tensor_operations_tf32": ["sm__ops_path_tensor_src_tf32_dst_fp32"],
    "tensor_operations_f64": ["sm__ops_path_tensor_src_fp64"],
    "tensor_operations_fp8": ["sm__ops_path_tensor_src_fp8"],
    "tensor_operations_int8": ["sm__ops_path_tensor_src_int8"],
    "tensor_operations_b1": ["sm__ops_path_tensor_src_int1"],
}
NAMES = (*UNITS, *INSTRUCTIONS, *TENSOR)
# What the emulator counts under other names, and how often each of them. A sector has 32 bytes.
SUMS = {
    "cp_async_bytes_read": {"bytes_cp_async": 1, "bytes_cp_async_zeros": -1},
    "tma_load_bytes": {"bytes_bulk_load": 1, "tensor_load_sectors": 32},
    "tma_store_bytes": {"bytes_bulk_store": 1, "tensor_store_sectors": 32},
    "tma_reduce_bytes": {"bytes_bulk_reduce": 1, "bytes_tensor_reduce": 1},
    "tensor_instructions": {"matrix_instructions": 1},
    **{name: {name.replace("tensor_operations", "multiply_adds"): 2} for name in TENSOR if "operations" in name},
}


def short(kernel: str) -> str:
    """The name of a kernel alone, as Nsight Compute has it: 'void a::b<(int)4>(int*)' is 'b'."""
    return re.sub(r"[<(].*", "", kernel.removeprefix("void ").replace("(anonymous namespace)::", "")).split("::")[-1]


def known_metrics() -> str:
    """What this Nsight Compute can count on a GH100 or H200, as text; empty if it does not say."""
    return run(["ncu", "--query-metrics", "--chips", "gh100"], 60).stdout


def named() -> list[str]:
    """What is compared."""
    return [*chapters(), MATRICES]


def binary_of(build: Path, name: str) -> Path:
    if name != MATRICES:
        return program(build, name)
    here = "matrix_counters"
    return next((path for path in (build / "tests/hardware" / here,) if path.is_file()), build / here)


def shape(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def read_csv(text: str) -> Iterator[Launch]:
    """The launches in Nsight Compute's table: a line of names, one of units, then one for each launch."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    for row in rows[1:]:
        values = {
            name.removesuffix(".sum"): int(float(value.replace(",", "")))
            for name, value in row.items()
            if name and name.endswith(".sum") and value
        }
        yield Launch(row["Kernel Name"], shape(row["Grid Size"]), shape(row["Block Size"]), values)


def available(groups: dict[str, list[str]], known: str) -> dict[str, list[str]]:
    """The groups with what this Nsight Compute can count; a unit has its counters per multiprocessor or per quarter."""

    def name_of(metric: str) -> str:
        quarter = metric.replace("sm__", "smsp__", 1)
        return quarter if metric not in known and quarter in known else metric

    def countable(metric: str) -> bool:
        kind_not_listed = "__sass_" in metric and "__sass_" not in known
        return not known or kind_not_listed or metric in known

    named = {name: [name_of(metric) for metric in group] for name, group in groups.items()}
    return {name: [metric for metric in group if countable(metric)] for name, group in named.items()}


def profile(binary: Path, groups: dict[str, list[str]], preload: Path) -> list[Launch]:
    metrics = [f"{metric}.sum" for group in groups.values() for metric in group]
    if not metrics:
        return []
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw"]
    command += ["--print-units", "base", "--metrics", ",".join(metrics)]
    result = run([*command, binary, "--size", SIZE], 90, {"LD_PRELOAD": str(preload)})
    launches = list(read_csv(result.stdout))
    print(f"{binary.name}: {len(launches)} launches, exit {result.returncode}", flush=True)
    if not launches:
        said = result.stdout + result.stderr
        print(said[-2000:], flush=True)
        errors = "\n".join(line for line in said.splitlines() if "==ERROR==" in line)
        fewer = {name: [metric for metric in group if metric not in errors] for name, group in groups.items()}
        if fewer != groups:
            return profile(binary, fewer, preload)
    for launch in launches:
        launch.values = {
            name: sum(launch.values[metric] for metric in group if metric in launch.values)
            for name, group in groups.items()
            if any(metric in launch.values for metric in group)
        }
    return launches


def measure(options: argparse.Namespace) -> None:
    known = known_metrics()
    words = r"\S*(?:tma|ldgsts|dshared|dsmem|multicast)\S*"
    found: dict[str, object] = {"size": SIZE, "metrics": re.findall(words, known), "chapters": {}}
    for group in (UNITS, INSTRUCTIONS, TENSOR):
        groups = available(group, known)
        print(groups, flush=True)
        for chapter in [options.only] if options.only else named():
            launches = profile(binary_of(options.programs, chapter), groups, options.preload)
            found["chapters"].setdefault(chapter, []).append([vars(launch) for launch in launches])
            options.output.write_text(json.dumps(found) + "\n", "utf-8")


def emulate(binary: Path, emulator: Path) -> list[Launch]:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        result = run([binary, "--size", SIZE], 120, on_emulator(emulator, EMULATOR_COUNTERS=file.name))
        if result.returncode:
            raise SystemExit(f"{binary}: exit code {result.returncode} on the emulator\n{result.stderr[-500:]}")
        lines = [json.loads(line) for line in Path(file.name).read_text("utf-8").splitlines()]
    launches = []
    for line in lines:
        total = line["total"]
        for name, parts in SUMS.items():
            total[name] = sum(total[part] * times for part, times in parts.items())
        total |= {f"{name}_by_instruction": value for name, value in total.items() if name.startswith("shared_")}
        launches.append(Launch(line["kernel"], line["grid"], line["block"], total))
    return launches


def pair(here: list[Launch], there: list[Launch], chapter: str) -> Iterator[tuple[Launch, Launch]]:
    """Launches of both devices, in order. They must be the same ones."""
    if len(here) != len(there):
        raise SystemExit(f"{chapter}: {len(here)} launches on the emulator, {len(there)} measured")
    for ours, theirs in zip(here, there, strict=True):
        if short(ours.kernel) != short(theirs.kernel) or (ours.grid, ours.block) != (theirs.grid, theirs.block):
            raise SystemExit(f"{chapter}: {ours.kernel} {ours.grid} here, {theirs.kernel} {theirs.grid} measured")
        yield ours, theirs


def compare(options: argparse.Namespace) -> None:
    measured = json.loads(options.measured.read_text("utf-8"))
    rows: list[str] = []
    for chapter, runs in measured["chapters"].items():
        here = emulate(binary_of(options.programs, chapter), options.emulator)
        values: list[dict[str, int]] = [{} for _ in here]
        for launches in filter(None, runs):
            pairs = pair(here, [Launch(**launch) for launch in launches], chapter)
            for merged, (_, theirs) in zip(values, pairs, strict=True):
                merged |= theirs.values
        for ours, theirs in zip(here, values, strict=True):
            names = [name for name in NAMES if theirs.get(name) or (name in theirs and ours.values.get(name))]
            row = {"chapter": chapter, "kernel": ours.kernel, "grid": ours.grid, "block": ours.block}
            row["hardware"] = {name: theirs[name] for name in names}
            row["emulator"] = {name: ours.values[name] for name in names if name in ours.values}
            rows.append(json.dumps(row))
    if options.only:  # What was measured before stays, and everything in its order.
        old = json.loads(options.output.read_text("utf-8"))["launches"]
        rows += [json.dumps(row) for row in old if row["chapter"] != options.only]
        rows.sort(key=lambda row: named().index(json.loads(row)["chapter"]))
    kept = {"gpu": "NVIDIA H200", "size": measured["size"]}
    options.output.write_text(json.dumps(kept)[:-1] + ', "launches": [\n  ' + ",\n  ".join(rows) + "\n]}\n", "utf-8")


def check(options: argparse.Namespace) -> int:
    """Whether the emulator still counts what the comparison says. Prints what it does not."""
    known = json.loads((ROOT / RESULT).read_text("utf-8"))["launches"]
    passed = failed = skipped = 0
    for chapter in named():
        rows = [row for row in known if row["chapter"] == chapter]
        if not rows:
            print(f"skip  {chapter}: its kernels have not been counted on an H200; `counters.py measure` does it")
            skipped += 1
            continue
        there = [Launch(row["kernel"], row["grid"], row["block"], row["emulator"]) for row in rows]
        here = emulate(binary_of(options.programs, chapter), options.emulator)
        for ours, recorded in pair(here, there, chapter):
            if not recorded.values:
                print(f"skip  {chapter}: {short(ours.kernel)} has not been counted on an H200; `counters.py measure` does it")
                skipped += 1
                continue
            changed = {name: value for name, value in recorded.values.items() if ours.values[name] != value}
            for name, value in changed.items():
                print(f"{chapter}: {ours.kernel}: {name} is {ours.values[name]}, the comparison says {value}")
            failed += bool(changed)
            passed += not changed
    print(f"[summary] {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("measure", "compare", "check"):
        command = commands.add_parser(name)
        command.add_argument("--programs", type=Path, required=True, help="a build directory, or one with the programs")
        if name != "check":
            command.add_argument("--output", type=Path, required=True)
            command.add_argument("--only", help=f"one chapter, or {MATRICES}")
        if name != "measure":
            command.add_argument("--emulator", type=Path, required=True, help="the directory of its libraries")
    commands.choices["measure"].add_argument("--preload", type=Path, required=True, help="no_clock.cpp as a library")
    commands.choices["compare"].add_argument("--measured", type=Path, required=True)
    commands.add_parser("table")
    options = parser.parse_args()
    if options.command == "table":
        sys.stdout.write(markdown(ROOT / RESULT, SUMS))
    elif options.command == "measure":
        measure(options)
    elif options.command == "compare":
        compare(options)
    else:
        sys.exit(check(options))


if __name__ == "__main__":
    main()
