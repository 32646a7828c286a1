"""One set-up, build or test run at a time in one clone."""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import UserError


@contextmanager
def exclusive(path: Path, activity: str, unless: Callable[[], bool] = lambda: False) -> Iterator[bool]:
    """Holds the lock file `path`; while somebody else has it, says so once and waits.

    Where somebody has it and `unless` says that nothing is to be waited for, this is False, and the lock is not held.

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
            if unless():
                yield False
                return
            handle.seek(0)
            owner = handle.read().strip() or "another workbook command"
            print(f"workbook: waiting for {owner}", file=sys.stderr, flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        handle.seek(0)
        handle.truncate()
        handle.write(f"process {os.getpid()}, which is {activity}\n")
        handle.flush()
        try:
            yield True
        finally:
            handle.seek(0)
            handle.truncate()
