"""Where the chapters' programs are, and how to run them on either device."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HUNG = 124


def chapters() -> list[str]:
    """The directories of the chapters, in order."""
    return sorted(path.parent.name for path in ROOT.glob("chapters/[0-9]*/main.cu"))


def program(build: Path, chapter: str, suffix: str = "") -> Path:
    """A program of a chapter in a build directory, or in a plain directory with copies."""
    name = chapter[3:] + suffix
    for path in (build / "chapters" / chapter / name, build / name):
        if path.is_file():
            return path
    raise SystemExit(f"{build}: no program {name} in it; build the chapters first")


def run(
    command: Sequence[str | Path],
    seconds: float,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command without input. A return code of HUNG means that it was stopped."""
    words = ["timeout", "--kill-after=3", str(seconds), *map(str, command)]
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **(environment or {})},
        check=False,
    )


def on_emulator(emulator: Path, **settings: str) -> dict[str, str]:
    """The environment that puts the emulator's libraries in front."""
    return {"LD_LIBRARY_PATH": str(emulator), **settings}
