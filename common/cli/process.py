"""Running other programs: quietly into a log, or in place of ourselves."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import UserError


def end_as_on_ctrl_c() -> None:
    """From now on SIGTERM and SIGHUP end us by an exception, so that what `streaming` has started is ended too."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, lambda number, _: sys.exit(128 + number))


def capture(command: Sequence[str], env: Mapping[str, str] | None = None) -> str | None:
    """What `command` prints, or None when it is absent or fails."""
    try:
        done = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def logged(
    command: Sequence[str], log: Path, *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> tuple[int, list[str]]:
    """Runs `command` with all its output appended to `log`; returns its exit status and the lines it printed."""
    lines: list[str] = []
    with streaming(command, log, env=env, cwd=cwd) as (process, output):
        lines.extend(output)
    return process.returncode, lines


@contextmanager
def streaming(
    command: Sequence[str], log: Path, *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], Iterator[str]]]:
    """Starts `command` and yields it with an iterator over its lines, which go to `log` as well.

    On Ctrl-C the child has received the signal too (same terminal); it is waited for, so that nothing is left running.
    """
    with open(log, "a", encoding="utf-8") as record:
        record.write(f"\n$ {shlex.join(command)}\n")
        record.flush()
        try:
            process = subprocess.Popen(
                command,
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise UserError(f"cannot start {command[0]}: {error.strerror}") from None

        def lines() -> Iterator[str]:
            assert process.stdout is not None
            for line in process.stdout:
                record.write(line)
                yield line.rstrip("\n")

        try:
            yield process, lines()
            process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()


def foreground(command: Sequence[str | Path], env: Mapping[str, str]) -> int:
    """Runs a program on the user's terminal and returns an exit status; a death by signal becomes an error."""
    words = [str(word) for word in command]
    try:
        process = subprocess.Popen(words, env=env)
    except OSError as error:
        raise UserError(f"cannot start {words[0]}: {error.strerror}") from None
    try:
        status = process.wait()
    except KeyboardInterrupt:
        process.wait()
        raise
    if status < 0:
        name = signal.Signals(-status).name
        raise UserError(f"{os.path.basename(words[0])} was ended by signal {name}")
    return status
