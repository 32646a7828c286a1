"""Commands that run within limits of time, memory and output, and leave no process behind."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import UserError

_CAPTURED = 16 * 1024
_FILE_BLOCKS = 64 * 1024  # of 512 bytes: 32 MiB


def limits(command: list[str], *, memory_kib: int, seconds: int | None = None) -> list[str]:
    """`command` with limits that hold even if nobody is left to watch it. @param seconds: of processor time"""
    words = f"ulimit -c 0; ulimit -v {memory_kib}; ulimit -f {_FILE_BLOCKS}"
    if seconds is not None:
        words += f"; ulimit -t {seconds}"
    return ["/bin/sh", "-c", f'{words}; exec "$0" "$@"', *command]


def finish(command: list[str], cwd: Path, env: dict[str, str], seconds: float) -> tuple[int | None, str, str]:
    """Runs `command` in a process group of its own; returns its status and what it wrote to stdout and stderr.

    Status None: it was stopped after `seconds`.
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
            try:
                status: int | None = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                status = None
        return status, _captured(output), _captured(errors)


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
