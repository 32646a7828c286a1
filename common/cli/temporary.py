"""Directories for a while: gone when we are, and at the next start at the latest, however this process ends."""

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import UserError

_PREFIX = "workbook-"
_KINDS = ("check", "run", "record", "live", "replay")
_NEW_SECONDS = 60
"""A directory may be younger than its lock."""
_LEAST_FREE = 128 * 1024
"""Bytes below which no program can be expected to work."""
_COMPILER_NEEDS = 64 * 1024 * 1024
"""Bytes that are enough for nvcc on any exercise."""
_FULL = os.strerror(errno.ENOSPC)


@contextmanager
def directory(kind: str) -> Iterator[Path]:
    """A fresh directory, `kind` being one of `_KINDS`; removed with all that is in it."""
    # The name is known before the directory is there: whatever interrupts us from then on, it is removed.
    name = f"{_PREFIX}{kind}-{secrets.token_hex(8)}"
    place: Path | None = None
    handle: int | None = None
    try:
        try:
            place = Path(tempfile.gettempdir()) / name
            sweep(place.parent)
            place.mkdir(mode=0o700)
        except OSError as error:
            raise _no_room(None, error.strerror or str(error)) from None
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(OSError):  # A file system without locks: nobody sweeps there.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield place
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _no_room(place.parent if place else None, _FULL) from None
        raise
    finally:
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def require_room(place: Path, said: Sequence[str] = ()) -> None:
    """An error if the disk of `place` is full, or was: the failure of a program that needs it is nobody's mistake then.

    `said` is what a compiler said, a heading and more. Where it had no room for a word either, it has removed its files since,
    and how small the disk is tells.
    """
    free = shutil.disk_usage(place).free
    least = _COMPILER_NEEDS if len(said) == 1 else _LEAST_FREE
    if free < least or any(_FULL in line for line in said):
        raise _no_room(place.parent, _FULL)


def sweep(place: Path) -> None:
    """Removes the directories of processes that were killed: those whose lock nobody holds."""
    for kind in _KINDS:
        for left in place.glob(f"{_PREFIX}{kind}-*"):
            with contextlib.suppress(OSError):
                _remove_if_left(left)


def _remove_if_left(place: Path) -> None:
    status = place.lstat()
    if status.st_uid != os.geteuid() or time.time() - status.st_mtime < _NEW_SECONDS:
        return
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(place, ignore_errors=True)
    finally:
        os.close(handle)


def _no_room(place: Path | None, reason: str) -> UserError:
    where = str(place) if place else "/tmp and the other usual places" if "TMPDIR" not in os.environ else "$TMPDIR, /tmp"
    return UserError(
        f"no room for temporary files in {where} ({reason.lower()}): free some, or set TMPDIR to a directory with room"
    )
