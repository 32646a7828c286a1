"""Python wheels, put below one directory each: Meson, Ninja and the parts of the CUDA toolkit.

`pip install --target` needs neither a virtual environment nor the rights that externally managed Pythons withhold, and
pip itself may come as a file, so a Python without venv and pip is enough.
"""

import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from . import apt
from .errors import UserError
from .process import capture, logged


def _pip_file(directory: Path) -> Path | None:
    wheels = sorted(directory.glob("pip-*.whl"))
    return wheels[-1] if wheels else None


def pip_command(archive: apt.Apt | None, scratch: Path) -> list[str]:
    """How to start a pip: Python's own, the one that ensurepip carries, or the distribution's wheel, unpacked."""
    if importlib.util.find_spec("pip") and capture([sys.executable, "-m", "pip", "--version"]):
        return [sys.executable, "-m", "pip"]
    bundled = importlib.util.find_spec("ensurepip")
    wheel = _pip_file(Path(bundled.origin).parent / "_bundled") if bundled and bundled.origin else None
    wheel = wheel or _pip_file(Path("/usr/share/python-wheels"))
    if wheel is None and archive is not None:
        archive.refresh()
        archive.unpack(["python3-pip-whl"], scratch)
        wheel = _pip_file(scratch / "usr/share/python-wheels")
    if wheel is None:
        raise UserError(f"{sys.executable} has no pip, which fetches what is missing; {pip_advice()}")
    return [sys.executable, str(wheel / "pip")]


def pip_advice() -> str:
    """The command that would give this machine a pip."""
    prefix = "" if os.geteuid() == 0 else "sudo "
    return (
        f"install it: {prefix}apt-get install python3-pip"
        if apt.available()
        else "install Python's pip module"
    )


def install(pip: Sequence[str], specifications: Sequence[str], target: Path, log: Path) -> None:
    """Installs wheels below `target`; a run that is interrupted leaves nothing at `target`."""
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    command = [
        *pip,
        "install",
        "--target",
        str(partial),
        "--no-deps",
        "--only-binary=:all:",
        "--no-compile",
        "--no-input",
        "--disable-pip-version-check",
        "--no-warn-script-location",
        "--retries",
        "2",
        "--timeout",
        "30",
        *specifications,
    ]
    status, lines = logged(command, log)
    if status != 0:
        shutil.rmtree(partial, ignore_errors=True)
        offline = any("Failed to establish a new connection" in line or "timed out" in line for line in lines)
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
        reason = "no network" if offline else errors[-1] if errors else "no reason given"
        raise UserError(f"pip could not fetch it ({reason}; log: {log})")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
