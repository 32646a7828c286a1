"""The emulator for the site's pages: compiled to WebAssembly where Emscripten can be had. The pages work without it."""

import base64
import os
import shutil
import sys
from pathlib import Path

from . import configuring, requirements, setup, viewer
from .errors import UserError
from .lock import exclusive
from .process import logged
from .workspace import Workspace

_NEEDED = (requirements.EMSCRIPTEN, requirements.NINJA, requirements.MESON)


def add(workspace: Workspace, html: Path) -> bool:
    """Puts scripts and module below live/ in the site, or says in one line why the module is not there."""
    live = html / "live"
    live.mkdir(exist_ok=True)
    for file in (workspace.root / "docs/site/live").glob("*.*s"):
        shutil.copyfile(file, live / file.name)
    viewer.add(workspace, html)
    try:
        module = _build(workspace).read_bytes()
    except UserError as error:
        print(f"site: its pages run no kernels: {error}", file=sys.stderr)
        return False
    (live / "emulator.wasm").write_bytes(module)
    # A page from file:// may fetch nothing; a script it may load.
    text = base64.b64encode(module).decode("ascii")
    (live / "emulator_wasm.js").write_text(f'globalThis.hopperEmulatorWasm = "{text}";\n', "ascii")
    return True


def _build(workspace: Workspace) -> Path:
    tools = _tools(workspace)
    target = workspace.build / "site" / "emulator"
    source = workspace.root / "common/emulator"
    log = workspace.logs / "site_emulator.log"
    environment = configuring.environment(tools)
    log.write_text("", "utf-8")
    if not (target / "build.ninja").is_file():
        print("Compiling the emulator for the site's pages (some minutes, once)", file=sys.stderr, flush=True)
        cross = source / "wasm/cross.ini"
        meson = [*tools.meson, "setup", str(target), str(source), "--cross-file", str(cross)]
        _run(workspace, meson, log, environment)
    _run(workspace, [str(tools.path("ninja")), "-C", str(target), "wasm/emulator.wasm"], log, environment)
    return target / "wasm/emulator.wasm"


def _tools(workspace: Workspace) -> setup.Tools:
    """Emscripten is no package that can be unpacked anywhere: only root gets it here."""
    requirement = requirements.EMSCRIPTEN
    if os.geteuid() != 0 and not requirement.satisfied_by(requirement.probe(workspace)):
        raise UserError(f"missing: {requirement.wanted}; install it: {setup.advice(requirement)}")
    with exclusive(workspace.state / "lock", "setting up"):
        return setup.ensure(workspace, _NEEDED)


def _run(workspace: Workspace, command: list[str], log: Path, environment: dict[str, str]) -> None:
    status, _ = logged(command, log, env=environment)
    if status != 0:
        raise UserError(f"the emulator was not compiled for them (log: {workspace.relative(log)})")
