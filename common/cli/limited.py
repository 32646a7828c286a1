"""Commands that run within limits of time, memory and output, and leave no process behind."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import UserError

_CAPTURED = 16 * 1024
_BUSY_FACTOR = 4
"""Where others have the processors, a command may take so many times as long."""
_FILE_BLOCKS = 64 * 1024  # of 512 bytes: 32 MiB


def limits(command: list[str], *, memory_kib: int, seconds: int | None = None) -> list[str]:
    """`command` with limits that hold even if nobody is left to watch it. @param seconds: of processor time"""
    words = f"ulimit -c 0; ulimit -v {memory_kib}; ulimit -f {_FILE_BLOCKS}"
    if seconds is not None:
        words += f"; ulimit -t {seconds}"
    return ["/bin/sh", "-c", f'{words}; exec "$0" "$@"', *command]


def finish(command: list[str], cwd: Path, env: dict[str, str], seconds: float) -> tuple[int | None, str, str]:
    """Runs `command` in a process group of its own; returns its status and what it wrote to stdout and stderr.

    Status None: it was stopped after `seconds`. One that computes and gets too little of the processors has longer: until it
    has had `seconds` of them.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"cannot start {command[0]}: {error.strerror}") from None
        with _ended(process):
            status = _waited(process, seconds)
        return status, _captured(output), _captured(errors)


def _waited(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    end = time.monotonic() + _BUSY_FACTOR * seconds
    patience = seconds
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=patience)
        had = _processor_seconds(process.pid)
        if had < seconds / 8 or had >= seconds or time.monotonic() >= end:  # it sleeps; it had its time; enough
            return None
        patience = min(1.0, seconds - had)


def _processor_seconds(root: int) -> float:
    """What a process and its descendants have had of the processors."""
    parents, ticks = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = file.read_text(errors="replace").rpartition(")")[2].split()
            pid = int(file.parent.name)
            parents[pid], ticks[pid] = int(fields[1]), int(fields[11]) + int(fields[12])
    family = {root}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(ticks.get(pid, 0) for pid in family) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leaves no process of the group behind, not even on Ctrl-C, which does not reach another session."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _captured(output: BinaryIO) -> str:
    """The beginning and the end of what was printed."""
    size = output.seek(0, os.SEEK_END)
    output.seek(0)
    if size <= 2 * _CAPTURED:
        return output.read().decode(errors="replace")
    head = output.read(_CAPTURED)
    output.seek(size - _CAPTURED)
    return (head + b"\n" + output.read(_CAPTURED)).decode(errors="replace")
