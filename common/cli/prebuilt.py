"""What a bundle brings built: the emulator, the judges and the chapters' programs, for machines that shall not compile for minutes.

They count as built as long as their sources are the ones they were made of and this machine can load them; else, and for
everything that was not brought, the ordinary build takes over.
"""

import functools
import hashlib
import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .workspace import Workspace

MARK = ".prebuilt.json"
_TRIED = ".prebuilt-loads"
_SOURCES = (".c", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".inc", ".map", ".build", ".options", ".py", ".in")
_PLACES = ("common/emulator", "common/include", "common/judge", "tests/exercises", "chapters")
_LEARNERS = ("exercises", "solutions")
_SECONDS = 30


def pack(workspace: Workspace, bundled: Workspace, targets: Iterable[str], emulator: list[str]) -> None:
    """Copies `targets` and the emulator's libraries, which are built, into the build directory of `bundled`."""
    chosen = {workspace.build / target for target in targets}
    for library in emulator:
        chosen |= {f for f in (workspace.build / library).parent.glob("*.so*") if not f.is_dir()}
    for file in sorted(chosen):
        _copy(file, bundled.build / file.relative_to(workspace.build))
        # Meson's archives only name their members.
        for member in file.with_name(f"{file.name}.p").glob("*.o") if file.suffix == ".a" else ():
            _copy(member, bundled.build / member.relative_to(workspace.build))
    mark = {"sources": digest(bundled), "machine": platform.machine(), "emulator": emulator}
    (bundled.build / MARK).write_text(json.dumps(mark), "utf-8")


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, to, follow_symlinks=False)


@functools.cache
def digest(workspace: Workspace) -> str:
    """Stands for all that is built from, as it is when this is asked first."""
    state = hashlib.sha256()
    for file in _sources(workspace):
        state.update(f"{file.relative_to(workspace.root)}\n".encode())
        state.update(hashlib.sha256(file.read_bytes()).digest())
    return state.hexdigest()


def _sources(workspace: Workspace) -> Iterator[Path]:
    yield from (file for name in ("meson.build", "meson.options") if (file := workspace.root / name).is_file())
    for place in _PLACES:
        for file in sorted((workspace.root / place).rglob("*")):
            inside = file.relative_to(workspace.root).parts
            learners = inside[0] == "chapters" and inside[2:3] and inside[2] in _LEARNERS
            if file.suffix in _SOURCES and file.is_file() and not learners:
                yield file


def mark(workspace: Workspace) -> dict[str, Any] | None:
    """The description of what was brought, if it is good for this tree and this machine."""
    if (workspace.build / "build.ninja").exists():
        return None  # there is a build of this machine's own
    try:
        text = (workspace.build / MARK).read_text("utf-8")
        data: dict[str, Any] = json.loads(text)
        fits = data["machine"] == platform.machine() and data["sources"] == digest(workspace)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return data if fits and _loads(workspace, data, text) else None


def covers(workspace: Workspace, targets: Iterable[str]) -> bool:
    """Whether all of `targets`, at least one, were brought."""
    wanted = list(targets)
    return bool(wanted) and all((workspace.build / target).exists() for target in wanted) and mark(workspace) is not None


def _loads(workspace: Workspace, data: dict[str, Any], text: str) -> bool:
    """Whether this system's loader takes the libraries: they were linked with the C library of another one. Tried once."""
    tried = workspace.build / _TRIED
    try:
        if tried.read_text("utf-8") == text:
            return True
    except OSError:
        pass
    problem = _load_problem(workspace, data["emulator"])
    if problem:
        print(f"workbook: what the bundle brought does not run here ({problem}); it is built anew", file=sys.stderr)
        (workspace.build / MARK).unlink(missing_ok=True)
        return False
    try:
        tried.write_text(text, "utf-8")
    except OSError:
        pass
    return True


def _load_problem(workspace: Workspace, libraries: list[str]) -> str:
    code = "import ctypes, sys\nfor name in sys.argv[1:]: ctypes.CDLL(name)"
    command = [sys.executable, "-c", code, *(str(workspace.build / library) for library in libraries)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip() or "it ended").splitlines()[-1]
