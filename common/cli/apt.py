"""Debian's and Ubuntu's packages: installed by root, or unpacked into the clone by an ordinary user.

Works on a package index of its own, so that looking into the backports suite changes nothing in the machine's set-up.
The archive's address is taken from the machine's own sources.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import UserError
from .process import capture, logged
from .requirements import parse_version

SOURCES = Path("/etc/apt")
OS_RELEASE = Path("/etc/os-release")


@dataclass(frozen=True)
class Choice:
    """One package in one version."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package}={self.version}"


def available() -> bool:
    return shutil.which("apt-get") is not None and shutil.which("dpkg") is not None


def os_release(text: str) -> dict[str, str]:
    return {key: value.strip("\"'") for key, value in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE)}


def backports_source(sources: Sequence[tuple[str, str]], codename: str) -> str | None:
    """A deb822 entry for the backports suite of `codename`, or None when it is configured already or cannot be derived.

    `sources` are pairs of file name and text; both of apt's formats are read.
    """
    suite = f"{codename}-backports"
    derived: str | None = None
    for name, text in sources:
        entries = _stanzas(text) if name.endswith(".sources") else _lines(text)
        for entry in entries:
            if entry.get("enabled", "yes").lower() == "no" or "deb" not in entry.get("types", "").split():
                continue
            suites = entry.get("suites", "").split()
            if suite in suites:
                return None
            if codename in suites and derived is None:
                derived = f"Types: deb\nURIs: {entry['uris']}\nSuites: {suite}\nComponents: main\n"
                if entry.get("signed-by"):
                    derived += f"Signed-By: {entry['signed-by']}\n"
    return derived


def _stanzas(text: str) -> list[dict[str, str]]:
    entries = []
    for block in re.split(r"\n[ \t]*\n", text):
        block = "\n".join(line for line in block.splitlines() if not line.startswith("#"))
        fields = re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", block, re.MULTILINE)
        if fields:
            entries.append({key.lower(): value.strip() for key, value in fields})
    return entries


def _lines(text: str) -> list[dict[str, str]]:
    entries = []
    for match in re.finditer(r"^\s*(deb)\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)", text, re.MULTILINE):
        signed = re.search(r"signed-by=(\S+)", match[2] or "")
        entries.append(
            {
                "types": match[1],
                "uris": match[3],
                "suites": match[4],
                "signed-by": signed[1] if signed else "",
            }
        )
    return entries


def _reason(lines: Sequence[str]) -> str:
    """apt's first error without the address it begins with."""
    for line in lines:
        if line.startswith("E:"):
            return re.sub(r"^E: (Failed to fetch \S+\s+)?", "", line).strip()
    return "no reason given"


def simulated_installations(lines: Sequence[str]) -> list[str]:
    """The package=version words in what `apt-get --simulate install` prints."""
    matches = (re.match(r"Inst (\S+) (?:\[[^]]*\] )?\((\S+)", line) for line in lines)
    return [f"{match[1]}={match[2]}" for match in matches if match]


class Apt:
    """apt with a private index below `directory`."""

    def __init__(self, directory: Path, log: Path) -> None:
        self._directory = directory
        self._log = log
        self._refreshed = False

    def _options(self) -> list[str]:
        settings = {
            "Dir::Etc::sourcelist": "/dev/null",
            "Dir::Etc::sourceparts": self._directory / "sources",
            "Dir::State::Lists": self._directory / "lists",
            "Dir::Cache::pkgcache": "",
            "Dir::Cache::srcpkgcache": "",
            "Acquire::Retries": 1,
            "Acquire::http::Timeout": 20,
            "Acquire::https::Timeout": 20,
            "Acquire::Languages": "none",
        }
        if os.geteuid() == 0:
            # The private index may lie where apt's own user cannot go.
            settings["APT::Sandbox::User"] = "root"
        else:
            settings["Dir::Cache"] = self._directory / "cache"
            settings["Dir::State"] = self._directory / "state"
            settings["Dir::State::status"] = "/var/lib/dpkg/status"
        return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]

    def refresh(self) -> None:
        """Fetches the package index once, with the backports suite where Debian has one."""
        if self._refreshed:
            return
        for name in ("sources", "lists/partial", "cache/archives/partial", "state"):
            (self._directory / name).mkdir(parents=True, exist_ok=True)
        backports = self._copy_sources()
        self._copy_lists()
        status, lines = self._update()
        if status != 0 and backports:
            backports.unlink()
            status, lines = self._update()
        if status != 0:
            raise UserError(f"the package index could not be fetched ({_reason(lines)})")
        self._refreshed = True

    def _update(self) -> tuple[int, list[str]]:
        return logged(["apt-get", *self._options(), "-o", "APT::Update::Error-Mode=any", "update"], self._log)

    def _copy_sources(self) -> Path | None:
        """Copies the machine's sources and adds backports; returns the added file."""
        texts = []
        paths = [
            SOURCES / "sources.list",
            *sorted((SOURCES / "sources.list.d").glob("*.list")),
            *sorted((SOURCES / "sources.list.d").glob("*.sources")),
        ]
        for index, path in enumerate(paths):
            try:
                text = path.read_text("utf-8", errors="replace")
            except OSError:
                continue
            texts.append((path.name, text))
            (self._directory / "sources" / f"{index:02}-{path.name}").write_text(text, "utf-8")
        release = os_release(OS_RELEASE.read_text("utf-8")) if OS_RELEASE.exists() else {}
        entry = (
            backports_source(texts, release.get("VERSION_CODENAME", ""))
            if release.get("ID") == "debian"
            else None
        )
        if entry is None:
            return None
        added = self._directory / "sources" / "workbook-backports.sources"
        added.write_text(entry, "utf-8")
        return added

    def _copy_lists(self) -> None:
        """Starts from the machine's own index: what has not changed is not fetched again."""
        for path in Path("/var/lib/apt/lists").glob("*_dists_*"):
            try:
                shutil.copy2(path, self._directory / "lists" / path.name)
            except OSError:
                continue

    def choose(self, alternatives: Sequence[str], minimum: tuple[int, ...]) -> Choice | None:
        """The newest version of the first package that is new enough."""
        self.refresh()
        for package in alternatives:
            output = capture(["apt-cache", *self._options(), "madison", package]) or ""
            versions = [
                line.split("|")[1].strip()
                for line in output.splitlines()
                if line.count("|") == 2 and "Packages" in line
            ]
            suitable = [v for v in versions if parse_version(v) >= minimum]
            if suitable:
                return Choice(package, max(suitable, key=parse_version))
        return None

    def install(self, choices: Sequence[Choice]) -> None:
        """Installs packages system-wide; needs root."""
        words = [str(choice) for choice in choices]
        command = ["apt-get", *self._options(), "install", "-y", "--no-install-recommends", *words]
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        status, lines = logged(command, self._log, env=env)
        if status != 0:
            names = " ".join(choice.package for choice in choices)
            raise UserError(f"apt-get could not install {names} ({_reason(lines)}; log: {self._log})")

    def closure(self, choices: Sequence[Choice]) -> list[str]:
        """What installing `choices` would install: they and every package that they need and that is not there."""
        words = [str(choice) for choice in choices]
        status, lines = logged(
            ["apt-get", *self._options(), "--simulate", "--no-install-recommends", "install", *words],
            self._log,
        )
        if status != 0:
            raise UserError(f"apt-get cannot resolve {' '.join(words)} ({_reason(lines)}; log: {self._log})")
        # What apt takes for installed and set-up has not found is damaged: it is unpacked all the same.
        return simulated_installations(lines) or words

    def unpack(self, packages: Sequence[str], into: Path) -> None:
        """Downloads packages and unpacks them below `into`; needs no rights at all."""
        with tempfile.TemporaryDirectory(dir=self._directory) as directory:
            status, lines = logged(
                ["apt-get", *self._options(), "download", *packages], self._log, cwd=Path(directory)
            )
            if status != 0:
                raise UserError(
                    f"apt-get could not download {' '.join(packages)} ({_reason(lines)}; log: {self._log})"
                )
            for archive in sorted(Path(directory).glob("*.deb")):
                status, lines = logged(["dpkg", "-x", str(archive), str(into)], self._log)
                if status != 0:
                    raise UserError(
                        f"dpkg could not unpack {archive.name} ({lines[-1] if lines else 'no message'})"
                    )

    def discard(self) -> None:
        """Removes the private index."""
        shutil.rmtree(self._directory, ignore_errors=True)
