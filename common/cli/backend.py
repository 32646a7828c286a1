"""Where programs run: on a GPU or on the emulator. The programs are the same; only the libraries they load differ."""

import argparse
import ctypes
import os
from dataclasses import dataclass
from enum import Enum

from .build import EMULATOR_DIRECTORY
from .errors import UsageError, UserError
from .requirements import toolkit
from .workspace import Workspace

MINIMUM_CAPABILITY = (9, 0)
MINIMUM_DRIVER = 13000
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76


class Backend(Enum):
    GPU = "gpu"
    EMULATOR = "emulator"


@dataclass(frozen=True)
class Gpu:
    """One device as the driver describes it."""

    name: str
    capability: tuple[int, int]


@dataclass(frozen=True)
class Driver:
    """The installed driver: the CUDA version it supports (1000·major + 10·minor) and its devices."""

    version: int
    gpus: tuple[Gpu, ...]

    def problem(self) -> str | None:
        """Why chapters cannot run on these GPUs, or None."""
        if not any(gpu.capability >= MINIMUM_CAPABILITY for gpu in self.gpus):
            return "no GPU of compute capability 9.0 or newer"
        if self.version < MINIMUM_DRIVER:
            return f"the driver supports CUDA {self.version // 1000}.{self.version % 1000 // 10}; the workbook needs 13.0"
        return None


def query_driver() -> Driver | None:
    """Asks libcuda; None where there is none or it finds no device."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        if cuda.cuInit(0) != 0:
            return None
        version, count = ctypes.c_int(), ctypes.c_int()
        if cuda.cuDriverGetVersion(ctypes.byref(version)) or cuda.cuDeviceGetCount(ctypes.byref(count)):
            return None
        return Driver(version.value, tuple(_gpu(cuda, index) for index in range(count.value)))
    except (OSError, AttributeError):
        return None


def _gpu(cuda: ctypes.CDLL, index: int) -> Gpu:
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), _CAPABILITY_MAJOR, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), _CAPABILITY_MINOR, device)
    return Gpu(name.value.decode(errors="replace"), (major.value, minor.value))


def add_option(parser: argparse.ArgumentParser, default: str = "auto") -> None:
    parser.add_argument(
        "--backend",
        choices=("auto", "gpu", "emulator"),
        default=None,
        help="where to run; auto is a GPU of compute capability 9.0 or newer if there is one, else the emulator "
        f"(default: $WORKBOOK_BACKEND or {default})",
    )


def select(option: str | None, default: str = "auto") -> Backend:
    """The backend that the option, the environment or the machine asks for."""
    wish = option or os.environ.get("WORKBOOK_BACKEND") or default
    if wish not in ("auto", "gpu", "emulator"):
        raise UsageError(f"WORKBOOK_BACKEND is '{wish}'; it may be auto, gpu or emulator")
    if wish == "emulator":
        return Backend.EMULATOR
    driver = query_driver()
    problem = driver.problem() if driver else "no CUDA driver with a GPU"
    if wish == "gpu" and problem:
        raise UserError(f"cannot run on a GPU: {problem}; use --backend emulator")
    return Backend.EMULATOR if problem else Backend.GPU


def environment(backend: Backend, workspace: Workspace) -> dict[str, str]:
    """The environment for a program: the libraries of the emulator, or of a private toolkit, come first."""
    env = {**os.environ, "WORKBOOK_BACKEND": backend.value}
    directory = (
        workspace.build / EMULATOR_DIRECTORY if backend is Backend.EMULATOR else toolkit(workspace) / "lib"
    )
    if directory.is_dir():
        own = str(directory)
        env["LD_LIBRARY_PATH"] = f"{own}:{env['LD_LIBRARY_PATH']}" if env.get("LD_LIBRARY_PATH") else own
    return env
