"""Builds one chapter by the nvcc line that its README prints: build_alone.py ROOT CHAPTER NVCC."""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def printed_command(readme: str, chapter: str) -> list[str]:
    """The words of the line in `readme` that builds the chapter."""
    lines = [line.strip().removeprefix("$ ") for line in readme.splitlines()]
    commands = [line for line in lines if re.match(r"nvcc\s", line) and f"chapters/{chapter}/main.cu" in line]
    if len(commands) != 1:
        raise SystemExit(f"chapters/{chapter}/README.md must have one line 'nvcc … chapters/{chapter}/main.cu …'; "
                         f"it has {len(commands)}")
    return shlex.split(commands[0])


def main(root: str, chapter: str, nvcc: str) -> int:
    words = printed_command((Path(root) / "chapters" / chapter / "README.md").read_text("utf-8"), chapter)
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "program"
        words[0] = nvcc
        if "-o" in words:
            words[words.index("-o") + 1] = str(program)
        else:
            words += ["-o", str(program)]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True)
        print(shlex.join(words), done.stdout, done.stderr, sep="\n")
        if done.returncode != 0 or not program.exists():
            print("[summary] 0 passed, 1 failed, 0 skipped")
            return 1
    print("[summary] 1 passed, 0 failed, 0 skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
