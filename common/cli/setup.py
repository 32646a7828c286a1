"""Set-up: makes sure that what a command needs is there, says what it installs, and remembers that it is done."""

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import apt, requirements, wheels
from .errors import UserError
from .process import logged
from .requirements import Found, Requirement
from .workspace import Workspace

_STAMP_FORMAT = 1
_RUNTIME_LIBRARIES = ("libpkgconf3",)
"""What the unpacked packages load and a bare Debian or Ubuntu lacks."""


@dataclass(frozen=True)
class Tools:
    """What set-up found or installed, by the requirement's key."""

    found: dict[str, Found]

    def path(self, key: str) -> Path:
        return self.found[key].path

    def has(self, key: str) -> bool:
        return key in self.found

    @property
    def meson(self) -> list[str]:
        """The command that starts Meson."""
        path = str(self.path("meson"))
        return [sys.executable, path] if path.endswith(".py") else [path]


def known(workspace: Workspace, needed: Sequence[Requirement]) -> Tools | None:
    """What an earlier set-up found, if it is there still and has all of `needed`; asks for no lock."""
    stamped = _read_stamp(workspace)
    return Tools(stamped) if stamped is not None and all(r.key in stamped for r in needed) else None


def ensure(workspace: Workspace, needed: Sequence[Requirement], wished: Sequence[Requirement] = ()) -> Tools:
    """Everything in `needed`, installed where it was missing, and what of `wished` is there anyway.

    Call it with the workspace's lock held. A second call costs a look at a few files.
    """
    if (tools := known(workspace, needed)) is not None:
        return tools
    stamped = _read_stamp(workspace)
    _complete_wheels(workspace)
    found = {r.key: f for r in (*needed, *wished) if (f := r.probe(workspace)) and r.satisfied_by(f)}
    missing = [r for r in needed if r.key not in found]
    if missing:
        _install(workspace, missing)
        _complete_wheels(workspace)
        for requirement in missing:
            result = requirement.probe(workspace)
            if not requirement.satisfied_by(result):
                raise UserError(
                    f"{requirement.wanted} was installed but does not work (log: {_log(workspace)})"
                )
            assert result is not None
            found[requirement.key] = result
    _write_stamp(workspace, {**(stamped or {}), **found})
    return Tools({**(stamped or {}), **found})


def _log(workspace: Workspace) -> Path:
    return workspace.logs / "setup.log"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def may_install() -> bool:
    return os.environ.get("WORKBOOK_INSTALL", "").lower() not in ("never", "no", "0")


def _install(workspace: Workspace, missing: Sequence[Requirement]) -> None:
    if not may_install():
        raise UserError(
            f"missing: {', '.join(r.wanted for r in missing)}; WORKBOOK_INSTALL=never forbids to install; "
            f"./workbook doctor shows the commands"
        )
    _log(workspace).write_text("", "utf-8")
    _say(f"Setting up in {workspace.root} (once; log: {workspace.relative(_log(workspace))})")
    archive = apt.Apt(workspace.state / "apt", _log(workspace)) if apt.available() else None
    try:
        rest = list(missing)
        if archive is not None:
            rest = _from_archive(workspace, rest, archive)
        for requirement in sorted(rest, key=lambda r: r.wrap is not None):
            _from_elsewhere(workspace, requirement, archive)
    finally:
        if archive is not None:
            archive.discard()


def bring_along(workspace: Workspace, wanted: Sequence[Requirement]) -> None:
    """Puts private copies of `wanted` below the clone, whatever this machine has: they go to machines that have nothing."""
    _log(workspace).write_text("", "utf-8")
    archive = apt.Apt(workspace.state / "apt", _log(workspace)) if apt.available() else None
    try:
        for requirement in wanted:
            if requirement.wheels and not workspace.private(requirement.key).is_dir():
                _from_wheels(workspace, requirement, archive)
        plan = []
        for requirement in (r for r in wanted if not r.wheels):
            choice = archive.choose(requirement.packages, requirement.minimum) if archive else None
            if choice is None:
                raise UserError(f"{requirement.wanted} cannot be packed: only Debian's and Ubuntu's packages can")
            plan.append((requirement, choice))
        if archive is not None:
            _unpack(workspace, plan, archive, complete=True)
        _complete_wheels(workspace)
    finally:
        if archive is not None:
            archive.discard()


def _is_root() -> bool:
    return os.geteuid() == 0


def _from_archive(
    workspace: Workspace, missing: Sequence[Requirement], archive: apt.Apt
) -> list[Requirement]:
    """Takes what it can from the distribution and returns the rest."""
    candidates = [r for r in missing if r.packages and (_is_root() or not r.wheels)]
    if not candidates:
        return list(missing)
    try:
        _say("  reading the package index")
        archive.refresh()
        plan = []
        for requirement in candidates:
            alternatives = requirement.system_packages if _is_root() else ()
            choice = archive.choose(alternatives or requirement.packages, requirement.minimum)
            if choice is not None:
                plan.append((requirement, choice))
        if not plan:
            return list(missing)
        if _is_root():
            _say(f"  apt-get install {' '.join(str(choice) for _, choice in plan)}")
            archive.install([choice for _, choice in plan])
        else:
            _unpack(workspace, plan, archive)
    except UserError as error:
        # Everything with another source is tried there; for the others this is the error to show.
        hopeless = [r for r in candidates if not r.wheels]
        if hopeless:
            names = ", ".join(r.wanted for r in hopeless)
            raise UserError(
                f"missing: {names}; {error}; install by hand: {package_advice(hopeless)}"
            ) from None
        return list(missing)
    done = {requirement.key for requirement, _ in plan}
    return [r for r in missing if r.key not in done]


def _unpack(
    workspace: Workspace,
    plan: Sequence[tuple[Requirement, apt.Choice]],
    archive: apt.Apt,
    *,
    complete: bool = False,
) -> None:
    """Unpacks packages below the clone; the directory is replaced as a whole, so a half-made one never stays.

    `complete` also unpacks what is installed here and may not be on another machine.
    """
    if any(requirement is requirements.COMPILER for requirement, _ in plan):
        raise UserError("only root can install a compiler")
    final = workspace.packages
    partial = final.with_name(final.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    if final.exists():
        shutil.copytree(final, partial, symlinks=True)
    _say(f"  unpacking {' '.join(str(choice) for _, choice in plan)} into {workspace.relative(final)}")
    root = partial / "root"
    root.mkdir(parents=True, exist_ok=True)
    choices = [choice for _, choice in plan]
    packages = archive.closure(choices)
    if complete:
        packages = list(dict.fromkeys([*packages, *map(str, choices), *_RUNTIME_LIBRARIES]))
    archive.unpack(packages, root)
    relink_libraries(root)
    relocate_modules(root)
    if (root / "usr/bin/pkgconf").exists():
        _write_launcher(partial / requirements.private_pkg_config(workspace).name, "pkgconf")
    if (root / "usr/bin/doxygen").exists():
        _write_launcher(partial / requirements.private_doxygen(workspace).name, "doxygen")
    shutil.rmtree(final, ignore_errors=True)
    partial.rename(final)


def relink_libraries(root: Path, system: Path = Path("/")) -> None:
    """Points links to shared libraries that are installed already, and so were not unpacked, at the system's."""
    for link in root.glob("usr/lib/**/*.so*"):
        if link.is_symlink() and not link.exists():
            place = link.parent.relative_to(root)
            for directory in (place, place.relative_to("usr")):
                target = system / directory / link.readlink().name
                if target.exists():
                    link.unlink()
                    link.symlink_to(target)
                    break


def relocate_modules(root: Path) -> None:
    """Makes the pkg-config files below `root` name the unpacked headers and libraries.

    They name them by a link in the build directory, where compilers are started: no compiler then sees a path with a
    space, which Meson's calls of nvcc do not stand.
    """
    home = Workspace.LINK
    for path in root.glob("usr/**/pkgconfig/*.pc"):
        text = re.sub(r"^(\w+)=/usr", rf"\1={home}/usr", path.read_text("utf-8"), flags=re.MULTILINE)
        if path.parts[-3] not in ("lib", "share"):
            # Debian's libzstd.pc names /usr/lib, which its linker searches by architecture and ours does not.
            text = re.sub(r"^libdir=.*$", f"libdir={home}/usr/lib/{path.parts[-3]}", text, flags=re.MULTILINE)
        path.write_text(text, "utf-8")


def _write_launcher(path: Path, program: str) -> None:
    """A script that starts an unpacked program, whose libraries are not where the loader looks."""
    path.write_text(
        f"#!/bin/sh\n# {program}, unpacked without being installed.\n"
        'here=$(dirname "$0")/root/usr\n'
        'for directory in "$here"/lib/*/; do LD_LIBRARY_PATH="$directory:$LD_LIBRARY_PATH"; done\n'
        f'export LD_LIBRARY_PATH\nexec "$here/bin/{program}" "$@"\n',
        "utf-8",
    )
    path.chmod(0o755)


def _from_elsewhere(workspace: Workspace, requirement: Requirement, archive: apt.Apt | None) -> None:
    if requirement.wheels:
        _from_wheels(workspace, requirement, archive)
    elif requirement.wrap is not None:
        _from_wrap(workspace, requirement)
    else:
        raise UserError(
            f"{requirement.wanted} is missing and cannot be installed here; install it: {advice(requirement)}"
        )


def _from_wheels(workspace: Workspace, requirement: Requirement, archive: apt.Apt | None) -> None:
    target = workspace.private(requirement.key)
    _say(f"  pip install {' '.join(requirement.wheels)} into {workspace.relative(target)}")
    began = time.monotonic()
    try:
        pip = wheels.pip_command(archive, workspace.state / "pip")
        wheels.install(pip, requirement.wheels, target, _log(workspace))
    except UserError as error:
        raise UserError(
            f"{requirement.wanted} is missing: {error}; install it: {advice(requirement)}"
        ) from None
    finally:
        shutil.rmtree(workspace.state / "pip", ignore_errors=True)
    _say(f"  done ({time.monotonic() - began:.0f} s)")


def _complete_wheels(workspace: Workspace) -> None:
    """Adds what the wheels leave out: a start for Meson, the directory that nvcc links from, and the linker's names."""
    launcher = requirements.meson_launcher(workspace)
    if launcher.parent.is_dir() and not launcher.exists():
        launcher.write_text(
            "import sys\nfrom pathlib import Path\n\nsys.path.insert(0, str(Path(__file__).resolve().parent))\n"
            "from mesonbuild.mesonmain import main\n\nsys.exit(main())\n",
            "utf-8",
        )
    root = requirements.toolkit(workspace)
    for link, target in ((root / "lib64", "lib"), (root / "lib/libcudart.so", "libcudart.so.13")):
        if (root / "lib").is_dir() and not link.is_symlink():
            link.symlink_to(target)


def _from_wrap(workspace: Workspace, requirement: Requirement) -> None:
    """Meson's own source packages, for systems without Debian's archive."""
    assert requirement.wrap is not None
    directory = workspace.root / "subprojects"
    directory.mkdir(exist_ok=True)
    _say(f"  meson wrap install {requirement.wrap}")
    meson = Tools({"meson": found}).meson if (found := requirements.MESON.probe(workspace)) else ["meson"]
    status, lines = logged([*meson, "wrap", "install", requirement.wrap], _log(workspace), cwd=workspace.root)
    if status != 0 and not (directory / f"{requirement.wrap}.wrap").exists():
        raise UserError(
            f"{requirement.wanted} is missing and Meson's source package could not be fetched; install it: "
            f"{advice(requirement)}",
            detail=lines[-1:],
        )


def advice(requirement: Requirement) -> str:
    """The command that installs one requirement by hand."""
    if requirement.packages and apt.available():
        return package_advice([requirement])
    if requirement.wheels:
        target = Path(".workbook") / requirement.key
        return f"python3 -m pip install --no-deps --target {target} {' '.join(requirement.wheels)}"
    return f"install {requirement.title} with your system's package manager"


def package_advice(missing: Sequence[Requirement]) -> str:
    """One command that installs several requirements from the distribution."""
    release = apt.os_release(apt.OS_RELEASE.read_text("utf-8")) if apt.OS_RELEASE.exists() else {}
    names = " ".join((r.system_packages or r.packages)[0] for r in missing)
    sudo = "" if _is_root() else "sudo "
    if release.get("VERSION_CODENAME") == "bookworm" and {"meson", "catch2"} & {r.key for r in missing}:
        return (
            f"{sudo}apt-get install -t bookworm-backports {names} (with the backports suite in apt's sources)"
        )
    return f"{sudo}apt-get install {names}"


def _stamp_path(workspace: Workspace) -> Path:
    return workspace.state / "setup.json"


def _surroundings(workspace: Workspace) -> dict[str, object]:
    """What makes an earlier set-up's answer valid still."""
    return {
        "format": _STAMP_FORMAT,
        "root": str(workspace.root),
        "python": sys.executable,
        "nvcc": os.environ.get("WORKBOOK_NVCC", ""),
        "cxx": os.environ.get("CXX", ""),
    }


def _read_stamp(workspace: Workspace) -> dict[str, Found] | None:
    try:
        data = json.loads(_stamp_path(workspace).read_text("utf-8"))
        if data["surroundings"] != _surroundings(workspace):
            return None
        found = {key: Found(entry["version"], Path(entry["path"])) for key, entry in data["found"].items()}
        unchanged = all(
            found[key].path.stat().st_mtime_ns == entry["modified"] for key, entry in data["found"].items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if unchanged else None


def _write_stamp(workspace: Workspace, found: dict[str, Found]) -> None:
    entries = {
        key: {"version": f.version, "path": str(f.path), "modified": f.path.stat().st_mtime_ns}
        for key, f in found.items()
    }
    temporary = _stamp_path(workspace).with_suffix(f".{os.getpid()}")
    temporary.write_text(
        json.dumps({"surroundings": _surroundings(workspace), "found": entries}, indent=2), "utf-8"
    )
    temporary.replace(_stamp_path(workspace))
