#!/usr/bin/env python3
"""Runs pairs (pairs.hpp) on the emulator: twins are right and silent, broken kernels are reported as the list says.

usage: pairs.py LIBRARIES PROGRAM… [--open FILE] [--seeds N] [--only NAME] [--show]

LIBRARIES is the directory of the emulator's libcudart; --show prints the findings of each broken kernel in the late order.
--open: the mistakes that are not yet named as their list says, one a line, 'name: what is lacking'. One that is named
in every order must leave that list.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from emulated import orders, run  # noqa: E402


def check(job):
    """The pair's name if its mistake was not told as it should, and what is wrong with the run; both empty if nothing is."""
    libraries, program, pair, variant, order, seed = job
    where = f"{program.name} {pair['name']} {variant} {order} {seed}"
    try:
        done = run(libraries, [str(program), pair["name"], variant], order, seed)
    except subprocess.TimeoutExpired:
        return "", f"{where}: no end within 120 s"
    code, found, names, printed = done.code, done.findings, sorted(done.names), done.out + done.err
    if variant == "twin":
        return "", "" if code == 0 and not found else f"{where}: exit code {code}, findings {names}\n{printed}"
    if code not in (0, 1):
        return "", f"{where}: exit code {code}\n{printed}"
    for each in found:
        for told in [pair, *pair.get("also", ())]:
            if each["name"] == told["finding"] and told["says"] in each["message"] and told["remedy"] in each["advice"]:
                return "", ""
    wanted = ", or ".join(f"{told['finding']} ('{told['says']}', '{told['remedy']}')" for told in [pair, *pair.get("also", ())])
    return pair["name"], f"{where}: not found as {wanted}, but {names}\n{printed}"


def judge(results, known, names):
    """The problems: those of no pair of the list, and what is wrong with the list."""
    problems = [text for name, text in results if text and name not in known]
    missed = {name for name, text in results if name and text}
    problems += [f"{name} is named in every order: strike it from the list of open ones"
                 for name in known if name in names and name not in missed]
    problems += [f"{name} in the list of open ones is no pair" for name in known if name not in names]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", type=Path)
    parser.add_argument("programs", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--open", type=Path)
    options = parser.parse_args()
    jobs, names = [], set()
    for program in options.programs:
        listed = run(options.libraries, [str(program), "--list"])
        for pair in map(json.loads, listed.out.splitlines()):
            if options.only not in ("", pair["name"]):
                continue
            if pair["name"] in names:
                sys.exit(f"two pairs have the name {pair['name']}")
            names.add(pair["name"])
            if options.show:
                print(f"== {pair['name']}: {pair['mistake']} | {pair['fix']}")
                print(run(options.libraries, [str(program), pair["name"], "broken"]).err)
                continue
            jobs += [(options.libraries, program, pair, variant, order, seed)
                     for order, seed in orders(options.seeds) for variant in ("twin", "broken")]
    if options.show:
        return 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, jobs))
    lines = options.open.read_text("utf-8").splitlines() if options.open and not options.only else []
    known = [line.split(":")[0] for line in lines if line and not line.startswith("#")]
    problems = judge(results, known, names)
    print("\n".join(problems))
    print(f"{len(names)} pairs, {len(jobs)} runs, {len(known)} open, {len(problems)} problems")
    return 1 if problems or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
