"""Configuring and building: Meson and Ninja do it, this shows how far they are and what went wrong."""

import hashlib
import json
import os
import shutil
import signal
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from . import prebuilt, progress, requirements, setup
from .errors import UserError
from .lock import exclusive
from .process import logged, streaming
from .setup import Tools
from .workspace import Workspace

_SHOWN_LINES = 40
EMULATOR_DIRECTORY = Path("common/emulator/cuda")


def ready(
    workspace: Workspace, *, cuda: bool = True, wished: Sequence[requirements.Requirement] = ()
) -> Tools:
    """Set-up and configuration; `cuda` says whether nvcc is needed or only used when it is there."""
    workspace.prepare()
    needed = requirements.CHAPTERS if cuda else requirements.BASE
    wished = wished if cuda else (requirements.NVCC, *wished)
    if is_built() or prebuilt.mark(workspace) is not None:
        return setup.ensure(workspace, needed, wished)
    with exclusive(workspace.state / "lock", "setting up"):
        tools = setup.ensure(workspace, needed, wished)
        _configure(workspace, tools)
    return tools


def is_built() -> bool:
    """Whether the caller vouches for the build: a check that runs inside the build must not start another."""
    return os.environ.get("WORKBOOK_BUILT") == "1"


def environment(tools: Tools) -> dict[str, str]:
    """What Meson and Ninja are started with."""
    return {**os.environ, "NINJA": str(tools.path("ninja")), "NINJA_STATUS": "[%f/%t] "}


def native_file(workspace: Workspace, tools: Tools) -> str:
    """Meson's description of this machine: only what it would not find by itself."""

    def quoted(path: Path) -> str:
        return "'" + str(path).replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["[binaries]", f"pkg-config = {quoted(tools.path('pkg-config'))}"]
    if tools.has("nvcc"):
        lines.append(f"cuda = {quoted(tools.path('nvcc'))}")
    modules = requirements.module_directories(workspace)
    if modules:
        lines += ["", "[built-in options]", f"pkg_config_path = [{', '.join(map(quoted, modules))}]"]
    return "\n".join(lines) + "\n"


def _configure(workspace: Workspace, tools: Tools) -> None:
    """Runs `meson setup` where it has not been run for these tools; a build directory of the user's own is left alone."""
    _link_packages(workspace)
    text = native_file(workspace, tools)
    cuda = "enabled" if tools.has("nvcc") else "disabled"
    signature = hashlib.sha256(f"{workspace.root}\n{cuda}\n{text}".encode()).hexdigest()
    mark = workspace.build / ".configured-by-workbook"
    if (workspace.build / "build.ninja").exists():
        if not mark.exists():
            return
        if mark.read_text("utf-8").strip() == signature:
            return
    _clear(workspace.build)
    _link_packages(workspace)
    workspace.native_file.write_text(text, "utf-8")
    line = progress.Line()
    line.note("Configuring")
    command = [
        *tools.meson,
        "setup",
        str(workspace.build),
        str(workspace.root),
        f"-Dcuda={cuda}",
        # Debug information takes a quarter of the time that compiling takes, and nobody looks for it here.
        "-Ddebug=false",
        f"--native-file={workspace.native_file}",
    ]
    _fresh(log := workspace.logs / "configure.log")
    with streaming(command, log, env=environment(tools), cwd=workspace.root) as (process, output):
        lines = list(output)
    line.finish()
    if process.returncode != 0:
        problem = [text for text in lines if "ERROR" in text] or lines
        raise UserError(
            f"Meson could not configure the build (log: {workspace.relative(log)})", detail=problem[-5:]
        )
    mark.write_text(signature + "\n", "utf-8")


def _link_packages(workspace: Workspace) -> None:
    """Leads the build directory to the private packages, if there are any; their pkg-config files rely on it."""
    link = workspace.build / Workspace.LINK
    if workspace.packages.is_dir() and not link.is_symlink():
        link.symlink_to(workspace.packages / "root")


def _clear(directory: Path) -> None:
    """Empties a build directory; refuses one that does not look like Meson's."""
    entries = list(directory.iterdir())
    known = {
        Workspace.LINK,
        "meson-private",
        "meson-info",
        "meson-logs",
        "build.ninja",
        ".configured-by-workbook",
        prebuilt.MARK,
    }
    if entries and not known & {entry.name for entry in entries}:
        raise UserError(
            f"{directory} exists and is no build directory of Meson's; move it away or set WORKBOOK_BUILD"
        )
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _fresh(log: Path) -> None:
    log.write_text("", "utf-8")


def emulator_targets(workspace: Workspace) -> list[str]:
    """The libraries that programs load in place of NVIDIA's, as Ninja calls them."""
    if (brought := prebuilt.mark(workspace)) is not None:
        return [str(library) for library in brought["emulator"]]
    try:
        targets = json.loads((workspace.build / "meson-info" / "intro-targets.json").read_text("utf-8"))
    except (OSError, ValueError):
        raise UserError(f"{workspace.build} is not configured; delete it and try again") from None
    place = workspace.build / EMULATOR_DIRECTORY
    names = [
        Path(file) for target in targets if target["type"] == "shared library" for file in target["filename"]
    ]
    # Beside the libraries of CUDA lies the one that they use.
    chosen = [str(name.relative_to(workspace.build)) for name in names if name.parent in (place, place.parent)]
    if not chosen:
        raise UserError("this tree has no emulator (common/emulator/cuda)")
    return chosen


def _emulator_fingerprint(workspace: Workspace) -> str | None:
    """Stands for the emulator's sources and libraries as they are now; None where a library is missing."""
    try:
        files = [workspace.build / target for target in emulator_targets(workspace)]
        for place, _, names in os.walk(workspace.root / "common/emulator"):
            files += [Path(place) / name for name in names if not name.endswith((".md", ".pyc"))]
        files += [workspace.root / name for name in ("meson.build", "meson.options")]
        states = sorted((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    except (OSError, UserError):
        return None
    return hashlib.sha256(json.dumps(states).encode()).hexdigest()


def _emulator_mark(workspace: Workspace) -> Path:
    return workspace.build / ".emulator-is-built"


def is_emulator_current(workspace: Workspace) -> bool:
    """Whether the libraries are those that a build made of the sources as they are. Asks neither Ninja nor the lock."""
    try:
        mark = _emulator_mark(workspace).read_text("utf-8")
    except OSError:
        return False
    return mark == _emulator_fingerprint(workspace)


def _mark_emulator(workspace: Workspace, targets: Sequence[str], begun: float) -> None:
    """Notes which sources the libraries were made of, if this build made them and nobody has changed one since."""
    try:
        wanted = emulator_targets(workspace)
    except UserError:
        return
    if targets and not set(wanted) <= set(targets):
        return
    mark = _emulator_fingerprint(workspace)
    changed = (file.stat().st_mtime for file in (workspace.root / "common/emulator").rglob("*"))
    if mark is not None and max(changed, default=0.0) < begun:
        _emulator_mark(workspace).write_text(mark, "utf-8")


def reconfigure(workspace: Workspace, tools: Tools) -> None:
    """Has Meson look at the tree again: it cannot know of a file that was not there before."""
    with exclusive(workspace.state / "lock", "configuring"):
        log = workspace.logs / "configure.log"
        status, lines = logged(
            [*tools.meson, "setup", "--reconfigure", str(workspace.build), str(workspace.root)],
            log,
            env=environment(tools),
        )
    if status != 0:
        problem = [text for text in lines if "ERROR" in text] or lines
        raise UserError(
            f"Meson could not configure the build (log: {workspace.relative(log)})", detail=problem[-5:]
        )


def build(workspace: Workspace, tools: Tools, targets: Iterable[str] = ()) -> None:
    """Builds `targets`, or everything; on an error shows what the compiler said."""
    if is_built():
        if missing := [target for target in targets if not (workspace.build / target).exists()]:
            raise UserError(f"WORKBOOK_BUILT=1 says that {workspace.build} is built, but it has no {missing[0]}")
        return
    targets = list(targets)
    if prebuilt.covers(workspace, targets):
        return
    with exclusive(workspace.state / "lock", "building"):
        if (workspace.build / prebuilt.MARK).exists():
            _configure(workspace, tools)  # `ready` has left it out: so far a bundle had brought what was needed
        begun = time.time()
        _fresh(log := workspace.logs / "build.log")
        line = progress.Line()
        command = [str(tools.path("ninja")), "-C", str(workspace.build), *targets]
        count = 0
        lines: list[str] = []
        with streaming(command, log, env=environment(tools)) as (process, output):
            for text in output:
                lines.append(text)
                step = progress.parse(text)
                if step is not None and step.done > 0:
                    count += 1
                    line.step(step)
        failed = process.returncode != 0
        if not failed:
            _mark_emulator(workspace, targets, begun)
        line.finish(f"Built {count} steps" if count and not failed else "")
    if failed:
        if process.returncode < 0:
            name = signal.Signals(-process.returncode).name
            raise UserError(f"the build was ended by signal {name}; call the command again to go on")
        raise UserError(f"the build failed (log: {workspace.relative(log)})", detail=failure(lines))


def failure(lines: Sequence[str]) -> list[str]:
    """The part of Ninja's output that says what is wrong: the first failed step's messages without its command line."""
    for index, text in enumerate(lines):
        if text.startswith("FAILED:"):
            relevant = []
            for line in lines[index + 2 :]:
                if progress.parse(line) or line.startswith(("FAILED:", "ninja: build stopped")):
                    break
                relevant.append(line)
            return [text, *relevant[:_SHOWN_LINES]]
    errors = [text for text in lines if "ERROR" in text or text.startswith("ninja: error")]
    return (errors or list(lines))[-5:]
