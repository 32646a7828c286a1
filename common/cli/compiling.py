"""What becomes of a learner's file: PTX if it is a kernel alone, else a program that is linked with its judge."""

import os
import re
import sys
from pathlib import Path

from .confine import Cage
from .errors import UserError
from .exercises import Exercise
from .limited import finish, limits
from .setup import Tools
from .workspace import Workspace

SECONDS = 40
"""Of processor time. The slowest solution takes about two."""
_MEMORY_KIB = 12 * 1024 * 1024
_NVRTC_CANNOT = 2


def kernels(
    workspace: Workspace, tools: Tools, exercise: Exercise, file: Path, ptx: Path, cage: Cage | None = None
) -> list[str]:
    """Compiles a file of kernels to `ptx`. Returns what is wrong in a few lines; nothing if all went well. `cage`
    confines the compilers.

    NVRTC does in a third of nvcc's time what nvcc does, and says it in the same words. What it cannot, a file that
    includes headers of the host for instance, goes to nvcc.
    """
    source = _source(workspace, file)
    text = file.read_text("utf-8", errors="replace")
    if re.search(rf"^\s*void\s+launch_{exercise.name}\s*\(", text, re.MULTILINE):
        return [
            f"{source} has a launch function, as this exercise had it once: now it is the kernel alone.",
            f"Delete `launch_{exercise.name}` and the line that includes workbook/launch.hpp; the judge launches the kernel.",
            f"Or `./workbook reset {exercise.name}` gives you the new text, and keeps yours in workspace/backups.",
        ]
    if library := nvrtc_library(tools):
        done = _run(workspace, _nvrtc_command(tools, library, exercise, [source, str(ptx)]), ptx, [file, *_nvrtc_needs(workspace)], cage)
        # One that does not come to its end would not with nvcc either, and the learner waits.
        if done[0] != _NVRTC_CANNOT and not (done[0] and _meets_the_host(done[2])):
            return _problem(done, source) or cannot_be_used(workspace, exercise, file, ptx)
    done = _run(workspace, nvcc_command(tools, exercise, source, ptx), ptx, [file], cage)
    return _problem(done, source) or cannot_be_used(workspace, exercise, file, ptx)


def together(workspace: Workspace, tools: Tools, exercise: Exercise, files: dict[Path, Path]) -> None:
    """Compiles files to their PTX in one process of NVRTC, in a fraction of the time if they begin with the same headers.
    Only for files that one trusts. One that cannot be compiled so has no PTX then; `kernels` says what is wrong with it.
    """
    if files and (library := nvrtc_library(tools)):
        words = [word for file, ptx in files.items() for word in (_source(workspace, file), str(ptx))]
        command = _nvrtc_command(tools, library, exercise, words)
        # Without the limits of a learner's compiler: what NVRTC keeps of the headers is a large file.
        finish(command, workspace.root, _without_the_emulator(dict(os.environ)), SECONDS)


def cannot_be_used(workspace: Workspace, exercise: Exercise, file: Path, ptx: Path) -> list[str]:
    """What is wrong with a file that the compiler took."""
    return _taken_over(workspace, file, ptx) or _of_another_target(exercise, file, ptx)


def _of_another_target(exercise: Exercise, file: Path, ptx: Path) -> list[str]:
    """libcu++ takes what it has for other targets only for calls of functions that do not exist, with telling names."""
    names = r"\b__cuda_ptx_(\w+?)_is_(?:not|only)_supported_(?:before|on)_(SM_[0-9]+[a-z]?)"
    if not (found := re.search(names, ptx.read_text("utf-8", errors="replace"))):
        return []
    function, target = found[1], found[2].lower()
    return [
        f"{file.name} calls a form of cuda::ptx::{function} that libcu++ has for {target} only; this exercise is for {_target(exercise)}.",
        f"Use the function that the exercise gives instead, or the instruction in inline PTX if the PTX ISA has it for sm_{exercise.architecture}.",
    ]


def _taken_over(workspace: Workspace, file: Path, ptx: Path) -> list[str]:
    """What is wrong with a file that includes a solution; nothing as a rule. PTX names each file that it has code of."""
    for name in re.findall(r'^\s*\.file\s+\d+\s+"([^"]+)"', ptx.read_text("utf-8", errors="replace"), re.MULTILINE):
        path = (workspace.root / name).resolve()
        if path != file.resolve() and path.match("chapters/*/solutions/*"):
            return [
                f"{os.path.relpath(file, workspace.root)} includes {workspace.relative(path)}: that is the solution.",
                "An answer stands in one file; what it may include are headers of CUDA, of libcu++ and of workbook/.",
            ]
    return []


def nvrtc_library(tools: Tools) -> Path | None:
    """NVRTC beside nvcc, of the same toolkit."""
    home = tools.path("nvcc").resolve().parent.parent
    found = (f for place in ("lib64", "lib", "targets/*/lib") for f in home.glob(f"{place}/libnvrtc.so.*"))
    return next(iter(sorted(found, key=lambda file: len(file.name))), None)


def _target(exercise: Exercise) -> str:
    return f"compute_{exercise.architecture}"


def _nvrtc_command(tools: Tools, library: Path, exercise: Exercise, files: list[str]) -> list[str]:
    """`files`: a source, its PTX, and so on."""
    home = tools.path("nvcc").resolve().parent.parent
    include = next((d for d in (home / "include", *home.glob("targets/*/include")) if d.is_dir()), home / "include")
    return [
        *(sys.executable, "-I", "-S", str(Path(__file__).with_name("nvrtc.py")), str(library), *files),
        *(f"--gpu-architecture={_target(exercise)}", "-std=c++20", "-lineinfo", "--device-int128"),
        *("-Icommon/include", "-Icommon/judge/device", f"-I{include}", f"-I{include / 'cccl'}"),
    ]


def nvcc_command(tools: Tools, exercise: Exercise, source: str, ptx: Path) -> list[str]:
    """The same with nvcc."""
    return [
        *(str(tools.path("nvcc")), "-ptx", f"-arch={_target(exercise)}", "-std=c++20", "-lineinfo"),
        *("-I", "common/include", source, "-o", str(ptx)),
    ]


def _source(workspace: Workspace, file: Path) -> str:
    source = os.path.relpath(file, workspace.root)
    if not file.is_file():
        raise UserError(f"there is no file {source}")
    return source


def _nvrtc_needs(workspace: Workspace) -> list[Path]:
    """What the process around NVRTC reads beside the toolkit: Python, that program, and the headers that NVRTC lacks."""
    python = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable)]
    return [*python, Path(__file__).with_name("nvrtc.py"), workspace.root / "common" / "judge" / "device"]


def _run(
    workspace: Workspace, command: list[str], target: Path, readable: list[Path], cage: Cage | None
) -> tuple[int | None, str, str]:
    """Runs a compiler whose result is `target`."""
    command = limits(command, memory_kib=_MEMORY_KIB)
    env = _without_the_emulator({**os.environ, "TMPDIR": str(target.parent)})
    if cage is not None:
        command = cage.command(command, workspace.root, readable=readable, writable=[target.parent])
        env = cage.environment(env)
    return finish(command, workspace.root, env, SECONDS)


def _without_the_emulator(env: dict[str, str]) -> dict[str, str]:
    """NVRTC asks for a driver, and the emulator's would say that this program cannot run on it."""
    places = [place for place in env.get("LD_LIBRARY_PATH", "").split(":") if place]
    kept = ":".join(place for place in places if not any(Path(place).glob("lib*emulator*.so*")))
    return {key: value for key, value in env.items() if key != "LD_LIBRARY_PATH"} | ({"LD_LIBRARY_PATH": kept} if kept else {})


def _meets_the_host(messages: str) -> bool:
    """Whether NVRTC stumbled over code of the host: nvcc takes it, or says better what is wrong with it."""
    return re.search(r"(could not|cannot) open source file|not allowed in JIT mode", messages) is not None


def _problem(done: tuple[int | None, str, str], source: str) -> list[str]:
    status, output, errors = done
    if status == 0:
        return []
    if status is None:
        return [
            f"The compiler had not finished after {SECONDS:g} s, and was stopped.",
            "Look for a template or a constexpr function in your file that calls itself too often.",
        ]
    return compiler_problem((output + errors).splitlines(), source)


_ERROR = re.compile(r"^(?P<place>\S.*?\(\d+\)|\S[^:]*:\d+(:\d+)?): (fatal |catastrophic )?error|^ptxas .*(error|fatal)")


def compiler_problem(lines: list[str], source: str) -> list[str]:
    """The first error, with the place in the learner's file, in a few lines."""
    for number, line in enumerate(lines):
        if _ERROR.match(line):
            rest = []
            for after in lines[number + 1 : number + 8]:
                if not after.strip() or _ERROR.match(after) or "error" in after.split(":")[0]:
                    break
                rest.append(after)
            if source not in line:  # in a header: where the learner's file comes in
                rest += [after.strip() for after in lines[number + 1 :] if source in after][:1]
            return [_without_temporary(line), *rest]
    return ["The compiler stopped without naming an error:", *lines[-5:]]


def _without_temporary(line: str) -> str:
    """ptxas names a file that is gone already."""
    return re.sub(r"ptxas \S+, line \d+; ", "assembler: ", line)
