"""What the workbook needs, how to tell whether it is there, and where it can come from.

`doctor` reads this list and changes nothing; set-up reads the same list and installs what is missing.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .process import capture
from .workspace import Workspace

Version = tuple[int, ...]


@dataclass(frozen=True)
class Found:
    """Something that is there: its version as text and the file that shows it."""

    version: str
    path: Path


@dataclass(frozen=True)
class Requirement:
    """One thing the workbook needs.

    `packages` are alternatives in the distribution, best first; `system_packages` are what root installs instead,
    where that differs. `wheels` and `wrap` are where it comes from when the distribution has it not.
    """

    key: str
    title: str
    minimum: Version
    purpose: str
    probe: Callable[[Workspace], Found | None]
    packages: tuple[str, ...] = ()
    system_packages: tuple[str, ...] = ()
    wheels: tuple[str, ...] = ()
    wrap: str | None = None

    def satisfied_by(self, found: Found | None) -> bool:
        return found is not None and parse_version(found.version) >= self.minimum

    @property
    def wanted(self) -> str:
        """Name and minimum, as shown to the user."""
        return f"{self.title} {'.'.join(map(str, self.minimum))} or newer" if self.minimum else self.title


def parse_version(text: str) -> Version:
    """The leading numbers of a version, epoch dropped: '1:1.7.0-1~bpo12+1' is (1, 7, 0)."""
    match = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match.group(1).split(".")) if match else (0,)


def _program(candidates: Iterable[str | Path | None], pattern: str, *flags: str) -> Found | None:
    """The first candidate that starts and whose output has a version."""
    for candidate in candidates:
        path = shutil.which(str(candidate)) if candidate else None
        output = capture([path, *(flags or ("--version",))]) if path else None
        match = re.search(pattern, output) if output else None
        if path and match:
            return Found(match.group(1), Path(path))
    return None


def _compiler(_: Workspace) -> Found | None:
    return _program((os.environ.get("CXX"), "c++", "g++", "clang++"), r"(\d+\.\d+[.\d]*)")


def meson_launcher(workspace: Workspace) -> Path:
    """Starts the private Meson; a file of ours, because the wheel's own script does not find its package there."""
    return workspace.private("meson") / "launch_meson.py"


def _meson(workspace: Workspace) -> Found | None:
    private = workspace.private("meson") / "mesonbuild" / "coredata.py"
    if private.exists() and meson_launcher(workspace).exists():
        match = re.search(r"^version = '([^']+)'", private.read_text("utf-8"), re.MULTILINE)
        if match:
            return Found(match.group(1), meson_launcher(workspace))
    return _program(("meson",), r"(\d+\.\d+[.\d]*)")


def _ninja(workspace: Workspace) -> Found | None:
    return _program(
        (workspace.private("ninja") / "bin" / "ninja", "ninja", "ninja-build"), r"(\d+\.\d+[.\d]*)"
    )


def private_pkg_config(workspace: Workspace) -> Path:
    """Our script around an unpacked pkgconf, which has its shared library beside it."""
    return workspace.packages / "pkg-config"


def _pkg_config(workspace: Workspace) -> Found | None:
    return _program(
        (os.environ.get("PKG_CONFIG"), "pkg-config", "pkgconf", private_pkg_config(workspace)),
        r"(\d+\.\d+[.\d]*)",
    )


def module_directories(workspace: Workspace) -> list[Path]:
    """Where pkg-config's files are in the private packages."""
    usr = workspace.packages / "root" / "usr"
    return [
        d
        for d in (*sorted(usr.glob("lib/*/pkgconfig")), usr / "lib/pkgconfig", usr / "share/pkgconfig")
        if d.is_dir()
    ]


def _module(name: str, wrap: str) -> Callable[[Workspace], Found | None]:
    """A library by its pkg-config file, or as a source package in subprojects/."""

    def probe(workspace: Workspace) -> Found | None:
        directories = [Path(d) for d in os.environ.get("PKG_CONFIG_PATH", "").split(":") if d]
        directories += module_directories(workspace)
        for prefix in (Path("/usr/local"), Path("/usr")):
            directories += [
                *sorted(prefix.glob("lib/*/pkgconfig")),
                prefix / "lib64/pkgconfig",
                prefix / "lib/pkgconfig",
                prefix / "share/pkgconfig",
            ]
        for directory in directories:
            version = module_version(directory / f"{name}.pc")
            if version:
                return Found(version, directory / f"{name}.pc")
        source = workspace.root / "subprojects" / f"{wrap}.wrap"
        match = (
            re.search(r"^directory\s*=\s*\S*?-v?(\d\S*)", source.read_text("utf-8"), re.MULTILINE)
            if source.exists()
            else None
        )
        return Found(match.group(1), source) if match else None

    return probe


def module_version(path: Path) -> str | None:
    """The version that a pkg-config file states."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return None
    variables = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    match = re.search(r"^Version:\s*(.+)$", text, re.MULTILINE)
    return (
        re.sub(r"\$\{(\w+)\}", lambda m: variables.get(m[1], ""), match.group(1)).strip() if match else None
    )


def toolkit(workspace: Workspace) -> Path:
    """Root of the private CUDA toolkit."""
    return workspace.private("nvcc") / "nvidia" / "cu13"


def _nvcc(workspace: Workspace) -> Found | None:
    """nvcc by the user's word, from an earlier set-up, on the PATH, or in the usual places; the first that is new enough."""
    chosen = os.environ.get("WORKBOOK_NVCC")
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"]
    candidates: list[str | Path] = (
        [chosen]
        if chosen
        else [toolkit(workspace) / "bin/nvcc", "nvcc", *(f"{h}/bin/nvcc" for h in homes if h)]
    )
    best: Found | None = None
    for candidate in candidates:
        found = _program((candidate,), r"V(\d+\.\d+\.\d+)")
        if found and NVCC_MINIMUM <= parse_version(found.version):
            return found
        best = best or found
    return best


def _disassembler(workspace: Workspace) -> Found | None:
    """cuobjdump, where nvdisasm stands beside it or is on the PATH."""
    private = toolkit(workspace) / "bin"
    extra = workspace.private("disassembler") / "nvidia" / "cu13" / "bin"
    for directory in (extra, private, None, Path("/usr/local/cuda/bin")):
        cuobjdump, nvdisasm = ((directory or Path()) / name for name in ("cuobjdump", "nvdisasm"))
        if _program((nvdisasm,), r"V(\d+\.\d+\.\d+)"):
            found = _program((cuobjdump,), r"V(\d+\.\d+\.\d+)")
            if found:
                return found
    return None


def _doxygen(workspace: Workspace) -> Found | None:
    return _program(("doxygen", private_doxygen(workspace)), r"(\d+\.\d+[.\d]*)")


def private_doxygen(workspace: Workspace) -> Path:
    """Our script around an unpacked Doxygen, which has its libraries beside it."""
    return workspace.packages / "doxygen"


def _theme(workspace: Workspace) -> Found | None:
    """The directory of the site's theme; its style sheet states the version nowhere, Debian's package does."""
    for prefix in (Path("/usr"), Path("/usr/local"), workspace.packages / "root" / "usr"):
        sheet = prefix / "share" / "doxygen-awesome-css" / "doxygen-awesome.css"
        if sheet.exists():
            return Found("2", sheet.parent)
    return None


def _markdown(workspace: Workspace) -> Found | None:
    package = workspace.private("markdown") / "markdown_it" / "__init__.py"
    if not package.exists() or not (workspace.private("markdown") / "mdurl").is_dir():
        return None
    match = re.search(r"^__version__ = \"([^\"]+)\"", package.read_text("utf-8"), re.MULTILINE)
    return Found(match.group(1), package.parents[1]) if match else None


def _browser(_: Workspace) -> Found | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return _program((os.environ.get("CHROMIUM"), *names), r"(\d+\.\d+[.\d]*)")


def _firefox(_: Workspace) -> Found | None:
    return _program((os.environ.get("FIREFOX"), "firefox-esr", "firefox"), r"Firefox (\d+\.\d+[.\d]*)")


def _emscripten(_: Workspace) -> Found | None:
    return _program(("em++",), r"(?:emcc|Emscripten)[^\n]*?(\d+\.\d+\.\d+)")


def _axe(workspace: Workspace) -> Found | None:
    """The script axe-core, as a Python package carries it; its first line states its version."""
    script = workspace.private("axe") / "axe_playwright_python" / "axe.min.js"
    match = re.match(r"/\*! axe v([\d.]+)", script.read_text("utf-8", errors="replace")) if script.exists() else None
    return Found(match.group(1), script) if match else None


def _speller(_: Workspace) -> Found | None:
    return _program(("hunspell",), r"Hunspell (\d+\.\d+[.\d]*)")


def _dictionary(_: Workspace) -> Found | None:
    """The dictionary of British English; its file has no version."""
    for directory in (Path("/usr/share/hunspell"), Path("/usr/share/myspell/dicts")):
        if (directory / "en_GB.dic").exists():
            return Found("0", directory / "en_GB.dic")
    return None


NVCC_MINIMUM = (13, 0)

COMPILER = Requirement("c++", "a C++ compiler", (), "compiles the host code", _compiler, packages=("g++",))
MESON = Requirement(
    "meson",
    "Meson",
    (1, 7, 0),
    "configures the build",
    _meson,
    packages=("meson",),
    wheels=("meson==1.7.2",),
)
NINJA = Requirement(
    "ninja",
    "Ninja",
    (1, 8, 2),
    "runs the build",
    _ninja,
    packages=("ninja-build",),
    wheels=("ninja==1.13.0",),
)
PKG_CONFIG = Requirement(
    "pkg-config",
    "pkg-config",
    (),
    "finds the libraries",
    _pkg_config,
    packages=("pkgconf-bin",),
    system_packages=("pkgconf", "pkg-config"),
)
CATCH2 = Requirement(
    "catch2",
    "Catch2",
    (3, 4),
    "the tests are written with it",
    _module("catch2", "catch2"),
    packages=("libcatch2-dev", "catch2"),
    wrap="catch2",
)
ZSTD = Requirement(
    "zstd",
    "zstd",
    (),
    "unpacks the PTX in a program",
    _module("libzstd", "zstd"),
    packages=("libzstd-dev",),
    wrap="zstd",
)
LZ4 = Requirement(
    "lz4",
    "LZ4",
    (),
    "unpacks the PTX in a program",
    _module("liblz4", "lz4"),
    packages=("liblz4-dev",),
    wrap="lz4",
)
NVCC = Requirement(
    "nvcc",
    "nvcc",
    NVCC_MINIMUM,
    "compiles the chapters",
    _nvcc,
    wheels=(
        "nvidia-cuda-nvcc==13.0.88",
        "nvidia-nvvm==13.0.88",
        "nvidia-cuda-crt==13.0.88",
        "nvidia-cuda-runtime==13.0.96",
        "nvidia-cuda-cccl==13.0.85",
    ),
)
# The oldest wheels of the disassembler are 13.2; they read the machine code of 13.0.
DISASSEMBLER = Requirement(
    "disassembler",
    "cuobjdump and nvdisasm",
    (12, 0),
    "show machine code (workbook sass)",
    _disassembler,
    wheels=("nvidia-cuda-cuobjdump==13.2.86", "nvidia-cuda-nvdisasm==13.2.86"),
)

DOXYGEN = Requirement(
    "doxygen", "Doxygen", (1, 9, 1), "builds the site", _doxygen, packages=("doxygen",)
)
THEME = Requirement(
    "doxygen-theme",
    "the theme Doxygen Awesome",
    (),
    "dresses the site",
    _theme,
    packages=("doxygen-awesome-css",),
)
MARKDOWN = Requirement(
    "markdown",
    "markdown-it-py",
    (3, 0),
    "reads the site's pages",
    _markdown,
    wheels=("markdown-it-py==3.0.0", "mdurl==0.1.2"),
)
BROWSER = Requirement(
    "browser", "Chromium", (110,), "looks at the site's pages in the tests", _browser, packages=("chromium",)
)
FIREFOX = Requirement(
    "firefox", "Firefox", (115,), "runs the site's kernels a second time in the tests", _firefox, packages=("firefox-esr",)
)
EMSCRIPTEN = Requirement(
    "emscripten",
    "Emscripten",
    (3, 1, 6),
    "compiles the emulator for the site's pages",
    _emscripten,
    packages=("emscripten",),
)
AXE = Requirement(
    "axe",
    "axe-core",
    (4, 6),
    "looks for barriers in the site's pages",
    _axe,
    wheels=("axe-playwright-python==0.1.8",),
)
SPELLER = Requirement(
    "speller", "hunspell", (), "reads the prose in the tests", _speller, packages=("hunspell",)
)
DICTIONARY = Requirement(
    "dictionary",
    "the dictionary of British English",
    (),
    "reads the prose in the tests",
    _dictionary,
    packages=("hunspell-en-gb",),
)

BASE = (COMPILER, PKG_CONFIG, NINJA, MESON, CATCH2, ZSTD, LZ4)
EMULATOR = tuple(r for r in BASE if r is not CATCH2)
CHAPTERS = (*BASE, NVCC)
SITE = (DOXYGEN, THEME, MARKDOWN)
LIVE_SITE = (*SITE, EMSCRIPTEN)
DOCUMENTATION_TESTS = (*SITE, BROWSER, FIREFOX, AXE, SPELLER, DICTIONARY)
ALL = (*CHAPTERS, DISASSEMBLER, *DOCUMENTATION_TESTS, EMSCRIPTEN)


def documentation_tests(workspace: Workspace) -> tuple[Requirement, ...]:
    """What tests of the documentation need here. Emscripten is among it where it can be had: it is no package that can be
    unpacked anywhere, so that only root gets it, and the tests of the site's kernels say that they were skipped."""
    here = os.geteuid() == 0 or EMSCRIPTEN.satisfied_by(EMSCRIPTEN.probe(workspace))
    return (*DOCUMENTATION_TESTS, EMSCRIPTEN) if here else DOCUMENTATION_TESTS
