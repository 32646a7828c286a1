#!/usr/bin/env python3
"""Error codes of faulty kernels: what an H200 says, and what the emulator says.

    faults.py measure --program FAULTS                    on a GPU: runs all, and writes the record
    faults.py check --program FAULTS --emulator DIR       on the emulator, against the record
    faults.py check --program FAULTS                      on a GPU, against the record (77: there is none)
    faults.py table                                       Markdown for docs/measurements/h200_behaviour.md

FAULTS is the program of faults/; each case runs in a process of its own, for at most 12 s.
"""

import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE, DEVNULL, TimeoutExpired, run

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs/measurements/h200_errors.json"
SECONDS = 12
HANGS = "hangs"
NO_GPU = 77
NAMES = {0: "none", 1: "cudaErrorInvalidValue", 700: "cudaErrorIllegalAddress", 702: "cudaErrorLaunchTimeout",
         710: "cudaErrorAssert", 715: "cudaErrorIllegalInstruction", 716: "cudaErrorMisalignedAddress",
         717: "cudaErrorInvalidAddressSpace", 718: "cudaErrorInvalidPc", 719: "cudaErrorLaunchFailure",
         720: "cudaErrorCooperativeLaunchTooLarge", 912: "cudaErrorInvalidClusterSize"}
# Where the GPU stops with one error and the emulator with another, and why.
REASONS: dict[str, str] = {}


def cases(program):
    """Name, finding and words of each case."""
    done = run([program, "--list"], stdout=PIPE, text=True, check=True)
    return [line.split("|") for line in done.stdout.splitlines()]


def outcome(program, name, environment):
    """The code of the launch and of the call that waits for it, or HANGS."""
    try:
        done = run([program, name], stdout=PIPE, stderr=DEVNULL, text=True, timeout=SECONDS, env=environment,
                   check=False)
    except TimeoutExpired:
        return HANGS
    words = done.stdout.split()
    return [int(word) for word in words] if len(words) == 2 else f"ended with status {done.returncode}"


def on_emulator(program, name, emulator):
    """As above, with the findings."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report"
        environment = {**os.environ, "LD_LIBRARY_PATH": str(emulator), "EMULATOR_REPORT": str(report)}
        result = outcome(program, name, environment)
        lines = report.read_text("utf-8").splitlines() if report.exists() else []
    return result, [json.loads(line)["name"] for line in lines]


def all_of(names, function, workers):
    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(names, pool.map(function, names)))


def measure(program):
    listed = cases(program)
    results = all_of([name for name, _, _ in listed], lambda name: outcome(program, name, None), 12)
    # What was seen before and not this time stays known.
    known = {name: [each for each in seen(case) if each != results.get(name)] for name, case in read().items()}
    write({name: {"what": what, "finding": finding, "h200": results[name]} |
                 ({"h200_also": known[name]} if known.get(name) else {}) for name, finding, what in listed})


def write(record):
    lines = [f"  {json.dumps(name)}: {json.dumps(case)}" for name, case in record.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read():
    return json.loads(RECORD.read_text("utf-8"))


def notices(result):
    """Whether the GPU stops the kernel or refuses the launch."""
    return isinstance(result, list) and any(result)


def seen(case):
    """The answers of an H200: mostly one; "h200_also" has others that it gave at other times."""
    return [case["h200"], *case.get("h200_also", [])]


def wrong(name, case, result, findings):
    """What is wrong with the emulator's answer to a case; empty if nothing is."""
    expected = [case["finding"]] if case["finding"] else []
    if findings[:1] != expected:
        return f"{name}: found {findings or 'nothing'}, not {expected or 'nothing'}"
    if name in REASONS:
        return "" if result != case["h200"] else f"{name}: equal, although a reason is given"
    if notices(case["h200"]) and result != case["h200"]:
        return f"{name}: {result}, but {case['h200']} on an H200"
    # What the GPU does not notice the emulator reports with the error that others of its kind have.
    if case["h200"] == HANGS and result == [0, 0]:
        return f"{name}: ends, but hangs on an H200"
    return "" if isinstance(result, list) else f"{name}: {result}"


def check(program, emulator):
    record, listed = read(), cases(program)
    problems = []
    if [name for name, _, _ in listed] != list(record):
        problems.append("the program's cases are not those of the record")
    elif emulator:
        answers = all_of(list(record), lambda name: on_emulator(program, name, emulator), os.cpu_count())
        problems += filter(None, (wrong(name, record[name], *answers[name]) for name in record))
    else:
        answers = all_of(list(record), lambda name: outcome(program, name, None), 12)
        # A GPU that recovers from one process's fault holds up the others: what differs is asked once more, alone.
        answers |= all_of([name for name in record if answers[name] not in seen(record[name])],
                          lambda name: outcome(program, name, None), 1)
        problems += [f"{name}: {answers[name]}, but {record[name]['h200']} in the record" for name in record
                     if answers[name] not in seen(record[name])]
    print("\n".join(problems))
    print(f"{len(record)} cases, {len(problems)} problems")
    return 1 if problems else 0


def code(result):
    if result == HANGS:
        return "never ends"
    value = next((each for each in result if each), 0)
    return f"`{NAMES[value]}` ({value})" if value else "no error"


def table():
    """One row for each error of the GPU; then what it does not notice, by the emulator's finding."""
    record = read()
    by_code, silent = {}, {}
    for name, case in record.items():
        if notices(case["h200"]):
            others = "".join(f" (at other times {code(each)})" for each in case.get("h200_also", []))
            by_code.setdefault(code(case["h200"]), []).append(case["what"] + others)
        elif case["finding"]:
            ending = " (never ends)" if case["h200"] == HANGS else ""
            silent.setdefault(case["finding"], []).append(case["what"] + ending)
    print("| error | kernels that end with it, on an H200 and on the emulator |\n|---|---|")
    for error in sorted(by_code, key=lambda text: int(text.rsplit("(", 1)[1][:-1])):
        print(f"| {error} | {'; '.join(by_code[error])} |")
    print("\n| finding of the emulator | what an H200 does not notice |\n|---|---|")
    for finding in sorted(silent):
        print(f"| [{finding}](../pages/errors.md#{finding}) | {'; '.join(silent[finding])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("measure", "check", "table"))
    parser.add_argument("--program", type=Path)
    parser.add_argument("--emulator", type=Path)
    options = parser.parse_args()
    if options.command == "table":
        return table()
    if not options.program:
        parser.error(f"{options.command} needs --program")
    program = options.program.resolve()
    if not options.emulator and not Path("/dev/nvidia0").exists():
        print("skip  faults on a GPU: there is no GPU here")
        return NO_GPU
    if options.command == "measure":
        return measure(program)
    return check(program, options.emulator)


if __name__ == "__main__":
    sys.exit(main())
