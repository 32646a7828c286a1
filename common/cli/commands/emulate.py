"""Runs any program that was built with `-cudart shared`, unchanged, on the emulator.

Options stand before PROGRAM; everything after it belongs to the program.
"""

import argparse
import mmap
import shutil
from pathlib import Path

from .. import backend, build
from ..errors import UsageError, UserError
from ..process import foreground
from ..workspace import Workspace

NAME = "emulate"
HELP = "run a CUDA program on the emulator"


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """How the emulator runs kernels."""
    parser.add_argument(
        "--order", choices=("late", "early", "random"), help="when copies land (default: late)"
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed of --order random; other orders have no use for it"
    )
    parser.add_argument(
        "--checks",
        choices=("all", "strict", "none"),
        help="look for mistakes, also for what hardware forgives, or run faster (default: all)",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="host threads (default: all cores)")


def check_machine_options(options: argparse.Namespace) -> None:
    """Refuses what cannot be."""
    if options.threads is not None and options.threads < 1:
        raise UsageError(f"--threads {options.threads}: must be at least 1")
    if options.seed is not None and options.seed < 0:
        raise UsageError(f"--seed {options.seed}: must not be negative")


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """What is kept of the launches, for `replay`."""
    parser.add_argument("--record", metavar="FILE", help="write the launches to FILE, for ./workbook replay")
    parser.add_argument(
        "--launches",
        metavar="LIST",
        help="record only these: numbers of launches or names of kernels, separated by commas",
    )


def recording(options: argparse.Namespace) -> dict[str, str]:
    """The emulator's environment variables for these options."""
    if options.launches and not options.record:
        raise UsageError("--launches says what --record keeps; name its FILE, too")
    names = {"EMULATOR_RECORD": options.record, "EMULATOR_RECORD_ONLY": options.launches}
    return {name: value for name, value in names.items() if value is not None}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_machine_options(parser)
    add_record_options(parser)
    parser.add_argument(
        "--counters",
        metavar="[=FILE]",
        help="print what each launch counted, or write it to FILE as JSON (--counters=FILE)",
    )
    parser.add_argument("--trace", metavar="FILE", help="write a time line of each launch to FILE")
    parser.add_argument(
        "--report", metavar="FILE", help="write each mistake found to FILE, one JSON object a line"
    )
    parser.add_argument(
        "--exit-status",
        choices=("findings", "errors", "program"),
        default="findings",
        help="what makes a status of 0 a 1: any mistake found, warnings included (default); an error;"
        " or (program) only a failed launch that the program never asked about",
    )
    parser.add_argument(
        "--leaks", action="store_true", help="tell at the end which memory was never freed"
    )
    parser.add_argument(
        "--uninitialised-global",
        choices=("off", "warning", "error"),
        help="what a use of global memory is that nobody wrote (default: warning)",
    )
    parser.add_argument(
        "--watchdog",
        type=float,
        metavar="N",
        help="end a launch in which a cluster has executed N billion instructions of threads (0.5 is 500 million)"
        " without writing memory, passing a barrier or ending a thread (default: 0, no limit)",
    )
    parser.add_argument("program", metavar="PROGRAM", help="a program built with nvcc -cudart shared")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")


def prepare(argv: list[str]) -> list[str]:
    """A bare --counters takes no value, so that it cannot swallow PROGRAM."""
    takes_value = {"--order", "--seed", "--checks", "--trace", "--report", "--threads", "--exit-status",
                   "--uninitialised-global", "--watchdog", "--record", "--launches"}
    words: list[str] = []
    for index, word in enumerate(argv):
        if not word.startswith("-") and (not words or words[-1] not in takes_value):
            return words + argv[index:]
        words.append("--counters=-" if word == "--counters" else word)
    return words


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    program = locate(options.program)
    check_linkage(program)
    settings = steering(options)
    if not build.is_emulator_current(workspace):  # Else nothing is to be waited for, whoever builds meanwhile.
        tools = build.ready(workspace, build.Extent.EMULATOR)
        build.build(workspace, tools, build.emulator_targets(workspace))
    env = {**backend.environment(backend.Backend.EMULATOR, workspace), **settings}
    return foreground([program, *options.arguments], env)


def steering(options: argparse.Namespace) -> dict[str, str]:
    """The emulator's environment variables for the options that were given."""
    check_machine_options(options)
    if options.watchdog is not None and not 0 <= options.watchdog <= 1e9:
        raise UsageError(f"--watchdog {options.watchdog}: must be a number from 0 to 1000000000")
    names = {
        "EMULATOR_ORDER": options.order,
        "EMULATOR_SEED": options.seed,
        "EMULATOR_CHECKS": options.checks,
        "EMULATOR_COUNTERS": options.counters,
        "EMULATOR_TRACE": options.trace,
        "EMULATOR_REPORT": options.report,
        "EMULATOR_THREADS": options.threads,
        "EMULATOR_EXIT_STATUS": options.exit_status,
        "EMULATOR_LEAKS": 1 if options.leaks else None,
        "EMULATOR_UNINITIALISED_GLOBAL": options.uninitialised_global,
        "EMULATOR_WATCHDOG": options.watchdog,
    }
    return {name: str(value) for name, value in names.items() if value is not None} | recording(options)


def locate(name: str) -> Path:
    """The program as a shell would find it, or beside us."""
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"{name} is a directory")
    if not path.exists():
        found = None if "/" in name else shutil.which(name)
        if found is None:
            raise UsageError(f"there is no program '{name}'")
        return Path(found)
    if shutil.which(str(path.absolute())) is None:
        raise UsageError(f"{name} is not executable")
    return path.absolute()


def check_linkage(program: Path) -> None:
    """Refuses an ELF program that carries its own CUDA runtime: it would never reach the emulator."""
    if program.stat().st_size == 0:
        return
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        if image[:4] != b"\x7fELF":
            return
        if image.find(b".nv_fatbin") >= 0 and image.find(b"libcudart.so") < 0:
            raise UserError(
                f"{program.name} has the CUDA runtime linked into it; link the shared one: nvcc -cudart shared, "
                "in CMake CUDA_RUNTIME_LIBRARY Shared, in Meson link_args: '-cudart=shared'"
            )
