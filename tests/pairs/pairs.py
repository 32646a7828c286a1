#!/usr/bin/env python3
"""Runs pairs (pairs.hpp) on the emulator: twins are right and silent, broken kernels are reported as the list says.

usage: pairs.py LIBRARIES PROGRAM… [--seeds N] [--only NAME] [--show]

LIBRARIES is the directory of the emulator's libcudart; --show prints the findings of each broken kernel in the late order.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def orders(seeds):
    return [("late", 1), ("early", 1)] + [("random", seed) for seed in range(1, seeds + 1)]


def run(libraries, command, order="late", seed=1):
    """Exit code, findings and what the program printed."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as report:
        environment = os.environ | {
            "LD_LIBRARY_PATH": str(libraries), "EMULATOR_ORDER": order, "EMULATOR_SEED": str(seed),
            "EMULATOR_REPORT": report.name, "EMULATOR_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        lines = Path(report.name).read_text("utf-8").splitlines()
    return done.returncode, [json.loads(line) for line in lines], done.stdout + done.stderr


def check(job):
    """What is wrong with one run; empty if nothing is."""
    libraries, program, pair, variant, order, seed = job
    code, found, printed = run(libraries, [str(program), pair["name"], variant], order, seed)
    where = f"{program.name} {pair['name']} {variant} {order} {seed}"
    names = [each["name"] for each in found]
    if variant == "twin":
        return "" if code == 0 and not found else f"{where}: exit code {code}, findings {names}\n{printed}"
    if code not in (0, 1):
        return f"{where}: exit code {code}\n{printed}"
    for each in found:
        if each["name"] == pair["finding"] and pair["says"] in each["message"] and pair["remedy"] in each["advice"]:
            return ""
    return f"{where}: not found as {pair['finding']} ('{pair['says']}', '{pair['remedy']}'), but {names}\n{printed}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", type=Path)
    parser.add_argument("programs", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    jobs = []
    for program in options.programs:
        _, _, listed = run(options.libraries, [str(program), "--list"])
        for pair in map(json.loads, listed.splitlines()):
            if options.only not in ("", pair["name"]):
                continue
            if options.show:
                print(f"== {pair['name']}: {pair['mistake']} | {pair['fix']}")
                print(run(options.libraries, [str(program), pair["name"], "broken"])[2])
                continue
            jobs += [(options.libraries, program, pair, variant, order, seed)
                     for order, seed in orders(options.seeds) for variant in ("twin", "broken")]
    if options.show:
        return 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [each for each in pool.map(check, jobs) if each]
    print("\n".join(problems))
    print(f"{len(jobs)} runs, {len(problems)} problems")
    return 1 if problems or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
