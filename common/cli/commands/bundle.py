"""Packs everything that a room without network needs into one file: this clone, private copies of the tools, and the
emulator, the judges and the chapters' programs, built.

`sh FILE [DIRECTORY]` unpacks it there and verifies it; the machines need a C++ compiler, Python 3.11 and nothing else. A
machine whose C library is older than this one's builds for itself what was brought.
"""

import argparse
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import IO

from .. import build, chapters, exercises, prebuilt, requirements, setup
from ..errors import UserError
from ..process import capture
from ..workspace import Workspace

NAME = "bundle"
HELP = "pack everything for a room without network"
_TREE = "hopper-async-workbook"
_NEEDED = (*(r for r in requirements.CHAPTERS if r is not requirements.COMPILER), requirements.DISASSEMBLER)
_PRIVATE = (".git", ".workbook", "workspace", "build", "subprojects")
"""What is in the tree's root and not the tree's."""

_UNPACK = """\
#!/bin/sh
# The Hopper Async Workbook with its tools. Unpack and verify it: sh THIS_FILE [DIRECTORY]
set -eu
into=${{1:-.}}
payload() {{ tail -c +{offset} "$0"; }}
if [ "$(payload | sha256sum | cut -d ' ' -f 1)" != {digest} ]; then
    echo "bundle: $0 is damaged: its checksum is wrong; copy it again" >&2
    exit 1
fi
if [ -e "$into/{tree}" ]; then
    echo "bundle: $into/{tree} is there already; name another directory: sh $0 DIRECTORY" >&2
    exit 1
fi
mkdir -p "$into"
payload | tar -xzf - -C "$into"
echo "Unpacked and verified: $into/{tree}"
echo "Now: cd '$into/{tree}' && ./workbook doctor && ./workbook next"
exit 0
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file to make, for instance workbook-bundle.sh")
    parser.add_argument(
        "--without-tools", action="store_true", help="the machines have the tools"
    )
    parser.add_argument(
        "--without-build", action="store_true", help="the machines build for themselves, which takes minutes"
    )


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    target = Path(options.file).absolute()
    if target.exists():
        raise UserError(f"{options.file} exists already; choose another name or delete it")
    partial = target.with_name(target.name + ".partial")
    try:
        with tempfile.TemporaryDirectory(prefix="workbook-bundle-", dir=target.parent) as directory:
            tree = Path(directory) / _TREE
            _clone(workspace, tree)
            if not options.without_tools:
                _bring_tools(workspace, Workspace(tree, tree / "build"))
            if not options.without_build:
                _bring_build(workspace, Workspace(tree, tree / "build"))
            digest = _pack(tree, payload := Path(directory) / "payload")
            with open(partial, "wb") as file:
                file.write(_head(digest))
                with open(payload, "rb") as source:
                    shutil.copyfileobj(source, file)
        partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)
    print(f"{options.file}: {target.stat().st_size / 1e6:.0f} MB. To unpack and verify it: sh {options.file} [DIRECTORY]")
    return 0


def _clone(workspace: Workspace, tree: Path) -> None:
    """A clone with its history, which can pull later; without git, a copy."""
    if not (workspace.root / ".git").exists() or shutil.which("git") is None:
        private = [workspace.root / name for name in _PRIVATE] + [workspace.build]

        def left_out(directory: str, names: list[str]) -> list[str]:
            return [name for name in names if name == "__pycache__" or Path(directory) / name in private]

        shutil.copytree(workspace.root, tree, symlinks=True, ignore=left_out)
        return
    done = subprocess.run(
        ["git", "clone", "--quiet", "--no-hardlinks", str(workspace.root), str(tree)],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise UserError(f"git could not clone {workspace.root}", detail=done.stderr.splitlines()[-3:])
    origin = capture(["git", "-C", str(workspace.root), "remote", "get-url", "origin"])
    change = ["set-url", "origin", origin.strip()] if origin else ["remove", "origin"]
    subprocess.run(["git", "-C", str(tree), "remote", *change], check=True, capture_output=True)


def _bring_tools(workspace: Workspace, bundled: Workspace) -> None:
    """Private copies of the tools, taken over where this clone has them already."""
    bundled.prepare()
    for requirement in _NEEDED:
        own = workspace.private(requirement.key)
        if requirement.wheels and own.is_dir():
            shutil.copytree(own, bundled.private(requirement.key), symlinks=True)
    setup.bring_along(bundled, _NEEDED)
    shutil.rmtree(bundled.logs)
    bundled.build.rmdir()


def _bring_build(workspace: Workspace, bundled: Workspace) -> None:
    """Builds what learners need, and puts it where they would have built it."""
    if prebuilt.digest(workspace) != prebuilt.digest(bundled):
        raise UserError("there are changes that are not committed and would be missing in the bundle; commit them first")
    programs = [exercise.judge(workspace) for exercise in exercises.all_exercises(workspace)]
    programs.append(workspace.build / "common" / "judge" / "libjudge.a")
    for chapter in chapters.all_chapters(workspace):
        programs += [chapter.program(workspace), chapter.mistakes(workspace)]
    tools = build.ready(workspace)
    emulator = build.emulator_targets(workspace)
    targets = [str(program.relative_to(workspace.build)) for program in programs]
    build.build(workspace, tools, [*targets, *emulator])
    prebuilt.pack(workspace, bundled, targets, emulator)


def _pack(tree: Path, payload: Path) -> str:
    """Packs `tree` and returns the checksum of the result."""

    def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(payload, "w:gz", compresslevel=6) as archive:
        archive.add(tree, arcname=tree.name, filter=anonymous)
    with open(payload, "rb") as file:
        return _digest(file)


def _digest(file: IO[bytes]) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _head(digest: str) -> bytes:
    """The script that comes before the payload, and knows where it ends itself."""
    offset = 0
    while True:
        text = _UNPACK.format(offset=offset, digest=digest, tree=_TREE).encode()
        if offset == len(text) + 1:
            return text
        offset = len(text) + 1
