#!/usr/bin/env python3
"""Runs every chapter's program and mistakes on the emulator, recorded, and replays the recordings: the findings, the
counters, the time lines and the memory must be those of the run.

usage: replays.py LIBRARIES REPLAY CHAPTERS [--only NN_name] [--orders late,early,random]
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ORDERS = ("late", "early", "random")


def emulated(command, libraries, settings):
    """Runs a command on the emulator, in the working directory that it has."""
    env = os.environ | {"LD_LIBRARY_PATH": str(libraries)} | settings
    return subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True, timeout=240)


def lines(file):
    return file.read_text().splitlines() if file.exists() else []


def difference(what, run, replay):
    """Where two lists of lines begin to differ, in a few lines; None if they do not."""
    if run == replay:
        return None
    for number, (one, other) in enumerate(zip(run, replay)):
        if one != other:
            return f"{what} {number} differ:\n  run:    {one[:600]}\n  replay: {other[:600]}"
    return f"{what}: {len(run)} in the run, {len(replay)} in the replay"


def compare(job):
    """Runs, replays, compares; what differs, or None, how many launches there were, and how many of them ran alone."""
    libraries, replay, command, order, label, traced = job
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        names = {name: place / name for name in ("recording", "report", "counters", "trace")}
        emulated(command, libraries, {
            # Of equal mistakes in two blocks the first is told, and which that is the host's threads decide.
            "EMULATOR_THREADS": "1", "EMULATOR_ORDER": order, "EMULATOR_SEED": "3", "EMULATOR_RECORD": str(names["recording"]),
            "EMULATOR_REPORT": str(names["report"]), "EMULATOR_COUNTERS": str(names["counters"]),
            **({"EMULATOR_TRACE": str(names["trace"])} if traced else {}),
        })
        again = [place / "report2", place / "counters2", place / "trace2"]
        listed = emulated([replay, names["recording"], "--list"], libraries, {})
        if "has no launch" in listed.stderr:
            return None, 0, 0  # The host library refused something before any kernel ran.
        launches = len(listed.stdout.splitlines())
        trace = [f"--trace={again[2]}"] if traced and launches == 1 else []
        done = emulated([replay, names["recording"], f"--report={again[0]}", f"--counters={again[1]}", "--threads=1", *trace],
                        libraries, {})
        problems = [
            # What the host does wrong is no launch's finding: it has no kernel.
            difference("findings", [line for line in lines(names["report"]) if '"kernel":""' not in line], lines(again[0])),
            # Launches side by side end in another order than they begin.
            difference("counters", sorted(lines(names["counters"])), sorted(lines(again[1]))),
            difference("events", lines(names["trace"]), lines(again[2])) if trace else None,
            "memory differs" if "differ from the recorded" in done.stdout else None,
            f"replay failed: {done.stderr}" if done.returncode not in (0, 1) else None,
        ]
        alone = done.stdout.count("as after the recorded") + done.stdout.count("differ from the recorded")
        told = "\n".join(filter(None, problems))
        return (f"{label} {order}:\n{told}" if told else None), launches, alone


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", type=pathlib.Path)
    parser.add_argument("replay", type=pathlib.Path, help="the program that replays")
    parser.add_argument("chapters", type=pathlib.Path, help="the build directory's chapters/")
    parser.add_argument("--only", default="")
    parser.add_argument("--orders", default="late", help="late, early, random, separated by commas")
    arguments = parser.parse_args()
    jobs = []
    for directory in sorted(arguments.chapters.glob("[0-9][0-9]_*")):
        if arguments.only and directory.name != arguments.only:
            continue
        program, broken = directory / directory.name[3:], directory / f"{directory.name[3:]}_mistakes"
        mistakes = emulated([broken, "--list"], arguments.libraries, {}).stdout.split()
        # Programs have many launches: their time lines, of hundreds of megabytes, are not compared.
        commands = [([program], program.name, False),
                    *(([broken, name], f"{broken.name} {name}", True) for name in mistakes)]
        jobs += [(arguments.libraries, arguments.replay, command, order, label, traced)
                 for order in arguments.orders.split(",") for command, label, traced in commands]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compare, jobs))
    failures = [problem for problem, _, _ in results if problem]
    print("\n".join(failures))
    launches, alone = (sum(result[which] for result in results) for which in (1, 2))
    print(f"{len(jobs)} runs with {launches} launches replayed, memory compared after {alone}, {len(failures)} failures")
    if launches < len(jobs) // 2 or alone < launches // 2:
        sys.exit("replays.py: hardly any launch was compared")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
