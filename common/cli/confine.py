"""Confinement of programs that somebody else wrote, and of the compilers that read them.

A cage changes a command line so that the command runs without network, in the company of no other process, with nothing
readable but the system's own files and what it is given, and nothing writable but a directory of its own and a /tmp that
goes when it ends:

    cage = confine.cage(confine.basis(workspace, tools))
    subprocess.run(cage.command([program], cwd, readable=[program], writable=[place]), env=cage.environment(env))

Linux namespaces do it (namespaces.py) where the kernel allows them to everybody, else bubblewrap, where it is installed.
"""

import enum
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import namespaces
from .errors import UserError
from .setup import Tools
from .workspace import Workspace

_ROOTS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""Directories, or links into /usr."""
_SYSTEM = (
    *("/usr", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
)
_GPU = ("/dev/nvidia*", "/dev/dxg", "/sys")
_PASSED = ("PATH", "LANG", "LC_", "LD_LIBRARY_PATH", "CUDA_", "EMULATOR_", "JUDGE_", "WORKBOOK_")
"""Beginnings of names of variables that programs get: others may be secrets."""
_SECONDS = 20


class Method(enum.Enum):
    """What makes the cage."""

    NAMESPACES = "Linux namespaces"
    BUBBLEWRAP = "bubblewrap"


@dataclass(frozen=True)
class Cage:
    """A way to confine commands on this machine, and what all of them may read."""

    method: Method
    readable: tuple[Path, ...] = ()

    def command(
        self,
        words: Sequence[str | Path],
        cwd: Path,
        *,
        readable: Iterable[Path] = (),
        writable: Iterable[Path] = (),
    ) -> list[str]:
        """The command line that runs `words` confined, in `cwd`, with more to read and with directories to write to.

        It ends with the status of `words`, or 128 and the number of the signal that ended them.
        """
        program = shutil.which(str(words[0])) or str(words[0])
        binds = _binds([*self.readable, *readable], writable)
        links = [(name, os.readlink(name)) for name in _ROOTS if os.path.islink(name)]
        make = _bubblewrap if self.method is Method.BUBBLEWRAP else _namespaces
        return [*make(binds, links, cwd), program, *map(str, words[1:])]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """What of `env` a confined program gets; its temporary files go where they vanish."""
        kept = {name: value for name, value in env.items() if name.startswith(_PASSED)}
        return kept | {"HOME": "/tmp", "TMPDIR": "/tmp"}


Bind = tuple[str, str, bool]


def basis(workspace: Workspace, tools: Tools, *, gpu: bool = False) -> tuple[Path, ...]:
    """What compilers and programs need beside their own files: headers, toolkit, emulator. No solution is among it."""
    own = [workspace.root / "common" / "include", workspace.build / "common" / "emulator"]
    programs = [tools.path("nvcc")] if tools.has("nvcc") else []
    if compiler := shutil.which(os.environ.get("CXX", "c++")):
        programs.append(Path(compiler))
    own += [parent for program in programs for parent in _prefixes(program)]
    own += [Path(place) for place in os.environ.get("LD_LIBRARY_PATH", "").split(":") if place.startswith("/")]
    if gpu:
        own += [found for pattern in _GPU for found in Path("/").glob(pattern[1:])]
    return tuple(path for path in own if path.exists())


def _prefixes(program: Path) -> list[Path]:
    """Where a program is installed: the directory above its `bin`, by its name and by what the name leads to."""
    places = {program, program.resolve()}
    return [place.parent.parent if place.parent.name == "bin" else place.parent for place in places]


def cage(readable: Iterable[Path] = ()) -> Cage:
    """A cage that has been tried. Raises UserError, with the reason, where this machine allows none."""
    reasons = []
    for method in Method:
        candidate = Cage(method, tuple(readable))
        if (reason := _problem(candidate)) is None:
            return candidate
        reasons.append(f"{method.value}: {reason}")
    raise UserError(f"this machine confines no programs ({'; '.join(reasons)})")


def _problem(candidate: Cage) -> str | None:
    """Why the cage does not work, or None."""
    if candidate.method is Method.BUBBLEWRAP and shutil.which("bwrap") is None:
        return "not installed"
    try:
        done = subprocess.run(
            candidate.command(["true"], Path("/")),
            env=candidate.environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    said = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
    return said.removeprefix("workbook: cannot confine: ").removeprefix("bwrap: ")


def _binds(readable: Iterable[Path], writable: Iterable[Path]) -> list[Bind]:
    """Source, target and whether it may be written; what another one brings already is left out."""
    chosen: dict[str, Bind] = {}
    wishes = [(Path(name), False) for name in (*_ROOTS, *_SYSTEM) if not os.path.islink(name)]
    wishes += [(path, False) for path in readable] + [(path, True) for path in writable]
    for path, may_write in wishes:
        source = os.path.realpath(path)
        if os.path.exists(source):
            for target in {os.path.abspath(path), source}:
                chosen[target] = (source, target, may_write or chosen.get(target, ("", "", False))[2])
    return sorted((bind for bind in chosen.values() if not _is_inside(bind, chosen)), key=lambda bind: (bind[1].count("/"), bind[1]))


def _is_inside(bind: Bind, chosen: Mapping[str, Bind]) -> bool:
    """Whether a directory above is there in the same way. Where a link leads to has a place of its own."""
    above = (chosen.get(str(parent)) for parent in Path(bind[1]).parents)
    return any(other is not None and other[2] == bind[2] for other in above)


def _namespaces(binds: list[Bind], links: list[tuple[str, str]], cwd: Path) -> list[str]:
    specification = json.dumps({"binds": binds, "links": links, "cwd": str(cwd)})
    return [sys.executable, "-I", "-S", str(namespaces.__file__), specification]


def _bubblewrap(binds: list[Bind], links: list[tuple[str, str]], cwd: Path) -> list[str]:
    words = ["bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--die-with-parent"]
    words += ["--proc", "/proc", "--perms", "1777", "--tmpfs", "/tmp", "--perms", "1777", "--tmpfs", "/dev/shm"]
    for source, target, may_write in binds:
        kind = "--dev-bind" if target.startswith("/dev/") else "--bind" if may_write else "--ro-bind"
        words += [kind, source, target]
    for target, text in links:
        words += ["--symlink", text, target]
    return [*words, "--dir", str(cwd), "--remount-ro", "/", "--chdir", str(cwd), "--"]
