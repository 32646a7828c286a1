"""Configuring: Meson is run where the build directory does not suit the tools any more. What was compiled stays.

Ninja compiles again what would be compiled by another command, and nothing else. So a tool that was installed, removed or is
not seen by one shell costs a run of Meson at most.
"""

import enum
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import prebuilt, progress, requirements
from .errors import UserError
from .process import streaming
from .requirements import Requirement
from .setup import Tools
from .workspace import Workspace

MARK = ".configured-by-workbook"
_MESONS_OWN = ("build.ninja", "compile_commands.json", "meson-info", "meson-logs", "meson-private")
_NINJAS_LOG = ".ninja_log"
_KEPT_LOG = ".ninja_log.kept"
_TRIAL = ".trial"


class Extent(enum.Enum):
    """How much of the tree is configured."""

    EMULATOR = "emulator"
    """Needs the C++ compiler only: no nvcc, no Catch2."""
    ALL = "all"

    @property
    def needed(self) -> Sequence[Requirement]:
        return requirements.CHAPTERS if self is Extent.ALL else requirements.EMULATOR

    @property
    def options(self) -> list[str]:
        cuda, tests = ("enabled", "true") if self is Extent.ALL else ("disabled", "false")
        return [f"-Dcuda={cuda}", f"-Dtests={tests}"]


def environment(tools: Tools) -> dict[str, str]:
    """What Meson and Ninja are started with."""
    return {**os.environ, "NINJA": str(tools.path("ninja")), "NINJA_STATUS": "[%f/%t] "}


def native_file(workspace: Workspace, tools: Tools, extent: Extent, compiler: Sequence[str] = ()) -> str:
    """Meson's description of this machine: only what it would not find by itself, or not twice in the same way."""

    def quoted(path: Path | str) -> str:
        return "'" + str(path).replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["[binaries]", f"pkg-config = {quoted(tools.path('pkg-config'))}"]
    if compiler:
        lines.append(f"cpp = [{', '.join(map(quoted, compiler))}]")
    if extent is Extent.ALL:
        lines.append(f"cuda = {quoted(tools.path('nvcc'))}")
    modules = requirements.module_directories(workspace)
    if modules:
        lines += ["", "[built-in options]", f"pkg_config_path = [{', '.join(map(quoted, modules))}]"]
    return "\n".join(lines) + "\n"


def is_current(workspace: Workspace, tools: Tools, extent: Extent) -> bool:
    """Whether Ninja can be asked at once. Whoever needs the emulator alone is content with a directory that has more."""
    if not (workspace.build / "build.ninja").exists():
        return False
    if not (workspace.build / MARK).exists():
        return True  # a build directory of the user's own
    mark = _mark(workspace)
    if mark == _wanted(workspace, tools, extent, mark):
        return True
    more = extent is Extent.EMULATOR and mark.get("extent") == Extent.ALL.value
    return more and mark.get("root") == str(workspace.root) and _same_compiler(mark, tools) and _programs_exist(mark)


def configure(workspace: Workspace, tools: Tools, extent: Extent) -> None:
    """Runs `meson setup` where it has not been run for these tools. Call it with the workspace's lock held."""
    if is_current(workspace, tools, extent):
        return
    old = _mark(workspace)
    wanted = _wanted(workspace, tools, extent, old)
    _refuse_strange(workspace.build)
    if (workspace.build / prebuilt.MARK).exists() or (old and not _same_compiler(old, tools)):
        _clear(workspace.build)
    else:
        _forget(workspace.build)
    # From here to the end an interrupted run is begun again.
    _write_mark(workspace, {**wanted, "extent": "unfinished"})
    link_packages(workspace)
    workspace.native_file.write_text(wanted["native"], "utf-8")
    line = progress.Line()
    line.note("Configuring")
    (log := workspace.logs / "configure.log").write_text("", "utf-8")
    problem = _setup(workspace, tools, extent, workspace.build, log)
    if problem and any((workspace.build / place).exists() for place in ("common", "chapters")):
        # Is it what lies there, or would an empty directory not do either? Nothing is thrown away in vain.
        trial = workspace.build / _TRIAL
        stands_alone = not _setup(workspace, tools, extent, trial, log)
        shutil.rmtree(trial, ignore_errors=True)
        if stands_alone:
            _clear(workspace.build)
            link_packages(workspace)
            problem = _setup(workspace, tools, extent, workspace.build, log)
    line.finish()
    if problem:
        raise UserError(f"Meson could not configure the build (log: {workspace.relative(log)})", detail=problem)
    _restore_log(workspace.build)
    _write_mark(workspace, wanted)


def _setup(workspace: Workspace, tools: Tools, extent: Extent, directory: Path, log: Path) -> list[str]:
    """Starts Meson; returns what it says is wrong."""
    command = [
        *tools.meson,
        "setup",
        str(directory),
        str(workspace.root),
        *extent.options,
        # Debug information takes a quarter of the time that compiling takes, and nobody looks for it here.
        "-Ddebug=false",
        f"--native-file={workspace.native_file}",
    ]
    with streaming(command, log, env=environment(tools), cwd=workspace.root) as (process, output):
        lines = list(output)
    return said(lines) if process.returncode != 0 else []


def said(lines: Sequence[str]) -> list[str]:
    """What Meson's output says is wrong."""
    return ([text for text in lines if "ERROR" in text] or list(lines) or ["it said nothing"])[-5:]


def _wanted(workspace: Workspace, tools: Tools, extent: Extent, old: dict[str, Any]) -> dict[str, Any]:
    """What the mark says if the directory is configured as it should be."""
    compiler = _compiler(tools, old)
    return {
        "root": str(workspace.root),
        "extent": extent.value,
        "native": native_file(workspace, tools, extent, compiler),
        "compiler": compiler,
        "identity": _identity(tools),
        "programs": [str(tools.path(key)) for key in ("pkg-config", "nvcc") if key != "nvcc" or extent is Extent.ALL],
    }


def _compiler(tools: Tools, old: dict[str, Any]) -> list[str]:
    """The command that compiles C++: with ccache if it was there at first, so that it may come and go. None where the
    environment names a command; Meson reads that better."""
    if os.environ.get("CXX"):
        return []
    if old.get("compiler") and _same_compiler(old, tools) and shutil.which(old["compiler"][0]):
        return list(old["compiler"])
    cache = shutil.which("ccache")
    return [*([cache] if cache else []), str(tools.path("c++"))]


def _identity(tools: Tools) -> list[str]:
    """Of the compiler. Another one, or another version at the same place, does not go on with what the first has made."""
    path = tools.path("c++")
    return [os.environ.get("CXX") or str(path), tools.found["c++"].version, str(path.stat().st_mtime_ns)]


def _same_compiler(mark: dict[str, Any], tools: Tools) -> bool:
    return bool(mark.get("identity") == _identity(tools))


def _programs_exist(mark: dict[str, Any]) -> bool:
    return all(os.access(program, os.X_OK) for program in mark.get("programs", ()))


def _mark(workspace: Workspace) -> dict[str, Any]:
    try:
        data = json.loads((workspace.build / MARK).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _write_mark(workspace: Workspace, mark: dict[str, Any]) -> None:
    temporary = workspace.build / f"{MARK}.{os.getpid()}"
    temporary.write_text(json.dumps(mark, indent=2), "utf-8")
    temporary.replace(workspace.build / MARK)


def link_packages(workspace: Workspace) -> None:
    """Leads the build directory to the private packages, if there are any; their pkg-config files rely on it."""
    link, target = workspace.build / Workspace.LINK, workspace.packages / "root"
    if workspace.packages.is_dir() and not (link.is_symlink() and link.readlink() == target):
        link.unlink(missing_ok=True)  # of a clone that was moved
        link.symlink_to(target)


def _refuse_strange(directory: Path) -> None:
    """A directory with files in it has to look like one of Meson's."""
    entries = {entry.name for entry in directory.iterdir()}
    known = {Workspace.LINK, MARK, prebuilt.MARK, _NINJAS_LOG, _KEPT_LOG, *_MESONS_OWN}
    if entries and not known & entries:
        raise UserError(
            f"{directory} exists and is no build directory of Meson's; move it away or set WORKBOOK_BUILD"
        )


def _clear(directory: Path) -> None:
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _forget(directory: Path) -> None:
    """Removes what Meson has written, so that it begins anew whatever version it has, and keeps what Ninja has made."""
    # Meson would have Ninja delete what this configuration has no rule for; the next one may have it again.
    if (directory / _NINJAS_LOG).exists():
        (directory / _NINJAS_LOG).replace(directory / _KEPT_LOG)
    for name in _MESONS_OWN:
        if (directory / name).is_dir():
            shutil.rmtree(directory / name)
        else:
            (directory / name).unlink(missing_ok=True)


def _restore_log(directory: Path) -> None:
    if (kept := directory / _KEPT_LOG).exists():
        # Without what it says of build.ninja, which is a new one: Ninja would have Meson write it once more.
        lines = kept.read_bytes().splitlines(keepends=True)
        kept.write_bytes(b"".join(line for line in lines if b"\tbuild.ninja\t" not in line))
        kept.replace(directory / _NINJAS_LOG)
