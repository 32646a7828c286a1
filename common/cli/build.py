"""Building: Ninja does it, this shows how far it is and what went wrong."""

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from . import configuring, prebuilt, progress, requirements, setup
from .configuring import Extent
from .errors import UserError
from .lock import exclusive
from .process import capture, logged, streaming
from .setup import Tools
from .workspace import Workspace

_SHOWN_LINES = 40
EMULATOR_DIRECTORY = Path("common/emulator/cuda")
DEFAULT = "all"
"""Ninja's word for what is built when nothing is named; it leaves out what a single test alone needs."""


def ready(workspace: Workspace, extent: Extent = Extent.ALL, *, emulator: bool = False) -> Tools:
    """Set-up and configuration. With `emulator`, its compilation begins while tools for the rest are fetched."""
    workspace.prepare()
    if is_built() or prebuilt.mark(workspace) is not None:
        return setup.ensure(workspace, extent.needed)
    tools = setup.known(workspace, extent.needed)
    if tools is not None and configuring.is_current(workspace, tools, extent):
        return tools
    with exclusive(workspace.state / "lock", "setting up"):
        if emulator and extent is Extent.ALL:
            _compile_ahead(workspace)
        tools = setup.ensure(workspace, extent.needed)
        configuring.configure(workspace, tools, extent)
    return tools


def _is_missing(workspace: Workspace, requirement: requirements.Requirement) -> bool:
    return not requirement.satisfied_by(requirement.probe(workspace))


def is_built() -> bool:
    """Whether the caller vouches for the build: a check that runs inside the build must not start another."""
    return os.environ.get("WORKBOOK_BUILT") == "1"


def _compile_ahead(workspace: Workspace) -> None:
    """Where nvcc has to be fetched, which takes the network for a while, the processor has the emulator to compile."""
    if not setup.may_install() or not _is_missing(workspace, requirements.NVCC):
        return
    tools = setup.ensure(workspace, requirements.BASE)
    configuring.configure(workspace, tools, Extent.EMULATOR)
    with _Ninja(workspace, tools, emulator_targets(workspace)) as ninja:
        setup.ensure(workspace, requirements.CHAPTERS)
        ninja.finish()


def emulator_targets(workspace: Workspace) -> list[str]:
    """The libraries that programs load in place of NVIDIA's, as Ninja calls them."""
    if (brought := prebuilt.mark(workspace)) is not None:
        return [str(library) for library in brought["emulator"]]
    try:
        targets = json.loads((workspace.build / "meson-info" / "intro-targets.json").read_text("utf-8"))
    except (OSError, ValueError):
        raise UserError(f"{workspace.build} is not configured; delete it and try again") from None
    # Beside the libraries of CUDA there is the one that they use.
    places = [workspace.build / EMULATOR_DIRECTORY, (workspace.build / EMULATOR_DIRECTORY).with_name("library")]
    names = [
        Path(file) for target in targets if target["type"] == "shared library" for file in target["filename"]
    ]
    chosen = [str(name.relative_to(workspace.build)) for name in names if name.parent in places]
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
            env=configuring.environment(tools),
        )
    if status != 0:
        raise UserError(
            f"Meson could not configure the build (log: {workspace.relative(log)})", detail=configuring.said(lines)
        )


def build(workspace: Workspace, tools: Tools, targets: Iterable[str] = ()) -> None:
    """Builds `targets`, or what is built by default; on an error shows what the compiler said."""
    if is_built():
        if missing := [target for target in targets if target != DEFAULT and not (workspace.build / target).exists()]:
            raise UserError(f"WORKBOOK_BUILT=1 says that {workspace.build} is built, but it has no {missing[0]}")
        return
    targets = list(targets)
    if prebuilt.covers(workspace, targets):
        return
    with exclusive(workspace.state / "lock", "building", lambda: _nothing_to_do(workspace, tools, targets)) as held:
        if not held:
            return
        if (workspace.build / prebuilt.MARK).exists():
            # `ready` has left it out: so far a bundle had brought what was needed.
            configuring.configure(workspace, tools, Extent.ALL if tools.has("nvcc") else Extent.EMULATOR)
        with _Ninja(workspace, tools, targets) as ninja:
            ninja.finish()


def _nothing_to_do(workspace: Workspace, tools: Tools, targets: Sequence[str]) -> bool:
    """Whether `targets` are made of the sources as they are; to be asked while somebody else builds."""
    command = [str(tools.path("ninja")), "-C", str(workspace.build), "-n", *targets]
    return "ninja: no work to do." in (capture(command, configuring.environment(tools)) or "")


class _Ninja:
    """A build that goes on beside other work until `finish`. Leaving the context before ends it."""

    def __init__(self, workspace: Workspace, tools: Tools, targets: Sequence[str]) -> None:
        self._workspace, self._targets = workspace, targets
        self._log = workspace.logs / "build.log"
        self._log.write_text("", "utf-8")
        self._begun = time.time()
        self._line = progress.Line()
        command = [str(tools.path("ninja")), "-C", str(workspace.build), *targets]
        self._stream = streaming(command, self._log, env=configuring.environment(tools))

    def __enter__(self) -> "_Ninja":
        self._process, self._output = self._stream.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._stream.__exit__(*problem)

    def finish(self) -> None:
        """Shows how far it is; on an error shows what the compiler said."""
        count = 0
        lines: list[str] = []
        for text in self._output:
            lines.append(text)
            step = progress.parse(text)
            if step is not None and step.done > 0:
                count += 1
                self._line.step(step)
        status = self._process.wait()
        if status == 0:
            _mark_emulator(self._workspace, self._targets, self._begun)
        self._line.finish(f"Built {count} steps" if count and status == 0 else "")
        if status < 0:
            name = signal.Signals(-status).name
            raise UserError(f"the build was ended by signal {name}; call the command again to go on")
        if status != 0:
            log = self._workspace.relative(self._log)
            raise UserError(f"the build failed (log: {log})", detail=failure(lines))


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
