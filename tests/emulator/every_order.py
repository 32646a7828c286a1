#!/usr/bin/env python3
"""Runs every chapter's program and mistakes on the emulator with copies that complete late, early and in many random
orders: each mistake is found under its name every time, and nothing is said about a correct program.

usage: every_order.py LIBRARIES CHAPTERS SOURCES [--seeds N] [--random] [--only NN_name]
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from emulated import orders, run  # noqa: E402


def expected_names(source, mistake, order):
    """The names marked behind the kernel of this mistake, up to the next kernel."""
    start = re.search(r"__global__[^{;]*\b" + re.escape(mistake) + r"\(", source)
    if not start:
        return set()
    rest = source[start.end():]
    following = rest.find("__global__")
    return set(re.findall(r"// expect(?: (?:late|early|random))?: ([a-z-]+)", rest if following < 0 else rest[:following]))


def check_program(job):
    libraries, program, order, seed = job
    done = run(libraries, [str(program)], order, seed)
    code, names, err = done.code, done.names, done.err
    if code != 0 or names or err:
        return f"{program.name} {order} {seed}: exit code {code}, findings {sorted(names)}\n{err}"
    return None


def check_mistake(job):
    libraries, program, source, mistake, order, seed = job
    done = run(libraries, [str(program), mistake], order, seed)
    code, names, err = done.code, done.names, done.err
    expected = expected_names(source, mistake, order)
    refused = "tensor-map-refused" in expected  # By the host library, before any kernel runs.
    # What is only warned of lets the program end well.
    ends = 1 if refused or "error[" in err else 0
    if code != ends or not expected or (names if refused else not names or names - expected):
        return f"{program.name} {mistake} {order} {seed}: exit code {code}, findings {sorted(names)}, " \
               f"expected {sorted(expected)}\n{err}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", type=pathlib.Path)
    parser.add_argument("chapters", type=pathlib.Path, help="the build directory's chapters/")
    parser.add_argument("sources", type=pathlib.Path, help="the repository's chapters/")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--random", action="store_true",
                        help="random orders alone: tests/chapters runs the same programs late and early")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()

    programs, mistakes = [], []
    for directory in sorted(arguments.chapters.glob("[0-9][0-9]_*")):
        if arguments.only and directory.name != arguments.only:
            continue
        name = directory.name[3:]
        program, broken = directory / name, directory / f"{name}_mistakes"
        source = (arguments.sources / directory.name / "mistakes.cu").read_text()
        listed = subprocess.run([str(broken), "--list"], capture_output=True, text=True, check=True,
                                env=os.environ | {"LD_LIBRARY_PATH": str(arguments.libraries)}).stdout.split()
        for order, seed in (each for each in orders(arguments.seeds) if each[0] == "random" or not arguments.random):
            programs.append((arguments.libraries, program, order, seed))
            mistakes += [(arguments.libraries, broken, source, mistake, order, seed) for mistake in listed]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [f for f in [*pool.map(check_program, programs), *pool.map(check_mistake, mistakes)] if f]
    print("\n".join(failures))
    print(f"{len(programs)} runs of programs, {len(mistakes)} runs of mistakes, {len(failures)} failures")
    if not programs or not mistakes:
        sys.exit("every_order.py: no programs found")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
