"""One set-up, build or test run at a time in one clone."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import UserError


@contextmanager
def exclusive(path: Path, activity: str) -> Iterator[None]:
    """Holds the lock file `path`; while somebody else has it, says so once and waits.

    The lock belongs to the open file, so it ends with its process however that process ends.
    """
    try:
        handle = open(path, "a+", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot open the lock file {path}: {error.strerror}") from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            owner = handle.read().strip() or "another workbook command"
            print(f"workbook: waiting for {owner}", file=sys.stderr, flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        handle.seek(0)
        handle.truncate()
        handle.write(f"process {os.getpid()}, which is {activity}\n")
        handle.flush()
        try:
            yield
        finally:
            handle.seek(0)
            handle.truncate()
