"""Pages that show a recorded launch event by event: what `replay --html` and `check --html` write."""

import json
import re
import subprocess
from pathlib import Path

from . import temporary, viewer
from .errors import UserError
from .workspace import Workspace

PROGRAM = "common/emulator/tools/replay"


def write(workspace: Workspace, words: list[str], page: Path, *, quiet: bool = False) -> tuple[int, bool]:
    """Runs a launch as `words` say to the program, and writes the page; returns its status, and whether there is a page."""
    with temporary.directory("replay") as directory:
        moments = directory / "moments.json"
        one_thread = [] if any(word.startswith("--threads") for word in words) else ["--threads=1"]
        command = [str(workspace.build / PROGRAM), *words, *one_thread, f"--moments={moments}"]
        status = subprocess.run(command, check=False, capture_output=quiet).returncode
        text = moments.read_text("utf-8") if moments.exists() else ""
        if not text:  # It was refused, and has said why.
            return status, False
        viewer.write(page, viewer.page(workspace, text, f"{_kernel(text)}, event by event"))
    return status, True


def write_failing(workspace: Workspace, recording: Path, page: Path) -> None:
    """Writes the page of the first launch in which something is found; of the last one if nothing is."""
    program = str(workspace.build / PROGRAM)
    listed = subprocess.run([program, str(recording), "--list"], capture_output=True, text=True, check=False)
    count = len(listed.stdout.splitlines())
    for launch in range(1, count + 1):
        words = [str(recording), f"--launch={launch}"]
        last = launch == count
        if last or subprocess.run([program, *words, "--threads=1"], capture_output=True, check=False).returncode == 1:
            _, written = write(workspace, words, page, quiet=True)
            if written:
                return
    raise UserError(f"no launch was recorded: {listed.stderr.strip()[:300] or 'the kernel was not launched'}")


def _kernel(recording: str) -> str:
    """Its plain name, without types; it comes first."""
    name, _ = json.JSONDecoder().raw_decode(recording, recording.index(":") + 1)
    plain = str(name).replace("(anonymous namespace)::", "").removeprefix("void ")
    return re.split(r"[<(]", plain)[0]
