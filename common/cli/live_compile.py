"""Compiles what a reader has made of a kernel in a page that this machine serves to itself.

Nothing of the workspace is changed: the chapter's program is compiled in a directory of its own, with the one file replaced,
and to PTX alone; nothing of it runs on the host.
"""

import os
import re
import shutil
from pathlib import Path
from typing import Any

from . import chapters, limited, live_launches, temporary
from .chapters import Chapter
from .errors import UserError
from .workspace import Workspace

MOST_BYTES = 256 * 1024
"""Of a file that is sent."""
_SECONDS = 60
_MEMORY_KIB = 12 * 1024 * 1024
_ERROR = re.compile(r"^(?P<file>\S+?)\((?P<line>\d+)\): (?:fatal |catastrophic )?error\s*(?:#[\w-]+)?: (?P<text>.*)", re.MULTILINE)


def compiled(workspace: Workspace, nvcc: Path, request: Any) -> dict[str, Any]:
    """`request`: {"file", "source"}: a chapter's file, and its text as the reader has it.

    Returns {"ptx"}, or {"errors": [{"file", "line", "text"}]} with the lines that the compiler names. Raises UserError if it
    is no request that can be answered.
    """
    name, source = _read(request)
    chapter = chapter_of(workspace, name)
    with temporary.directory("live") as directory:
        copy = directory / "chapters" / chapter.directory
        shutil.copytree(
            workspace.root / "chapters" / chapter.directory, copy,
            ignore=lambda at, names: [each for each in names if not (each.endswith((".cu", ".cuh", ".hpp", ".h")) or (Path(at) / each).is_dir())],
        )
        (directory / name).write_text(source, "utf-8")
        ptx = directory / "program.ptx"
        words = [str(nvcc), "-ptx", "-lineinfo", "-std=c++20", *live_launches.target(workspace, chapter), "-I", str(workspace.root / "common/include")]
        command = limited.limits([*words, str(copy / "main.cu"), "-o", str(ptx)], memory_kib=_MEMORY_KIB)
        status, output, errors = limited.finish(command, directory, {**os.environ, "TMPDIR": str(directory)}, _SECONDS)
        if status == 0:
            return {"ptx": _named(ptx.read_text("utf-8"), directory, workspace)}
        said = _named(output + errors, directory, workspace)
    if status is None:
        return {"errors": [{"file": name, "line": 0, "text": f"the compiler had not finished after {_SECONDS} s, and was stopped"}]}
    return {"errors": messages(said) or [{"file": name, "line": 0, "text": said.strip()[-1000:] or "the compiler failed"}]}


def _read(request: Any) -> tuple[str, str]:
    if not isinstance(request, dict) or not all(isinstance(request.get(key), str) for key in ("file", "source")):
        raise UserError("expected the name of a file and its text")
    return request["file"], request["source"]


def chapter_of(workspace: Workspace, name: str) -> Chapter:
    """The chapter that has this file of CUDA code, by its path in the repository."""
    for chapter in chapters.all_chapters(workspace):
        directory = workspace.root / "chapters" / chapter.directory
        if any(workspace.relative(file) == name for file in directory.glob("*.cu*")):
            return chapter
    raise UserError(f"{name} is no file of a chapter's program")


def _named(text: str, directory: Path, workspace: Workspace) -> str:
    """Files by their names in the repository, wherever they were compiled."""
    for place in (directory, directory.resolve(), workspace.root):
        text = text.replace(f"{place}/", "")
    return text


def messages(said: str) -> list[dict[str, Any]]:
    """The errors that nvcc names with a line, each once."""
    found = [{"file": match["file"], "line": int(match["line"]), "text": match["text"]} for match in _ERROR.finditer(said)]
    return [each for at, each in enumerate(found) if each not in found[:at]]
