"""Runs Doxygen over the staged pages and the headers, and reads what it called things."""

import re
import subprocess
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

from .pages import SiteError


@dataclass(frozen=True)
class Paths:
    """Where the site's inputs, tools and outputs are."""

    root: Path
    doxygen: Path
    theme: Path
    stage: Path
    output: Path

    @property
    def site(self) -> Path:
        return self.root / "docs/site"

    @property
    def html(self) -> Path:
        return self.output / "html"


def run(paths: Paths) -> None:
    """Doxygen with its warnings as errors."""
    text = (paths.site / "Doxyfile.in").read_text("utf-8")
    values = {
        "OUTPUT": paths.output,
        "STAGE": paths.stage,
        "ROOT": paths.root,
        "THEME": paths.theme,
        "SITE": paths.site,
    }
    text = re.sub(r"@(\w+)@", lambda match: str(values[match[1]]), text)
    doxyfile = paths.stage / "Doxyfile"
    doxyfile.write_text(text, "utf-8")
    done = subprocess.run(
        [str(paths.doxygen), str(doxyfile)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    said = [line.replace(f"{paths.root}/", "") for line in done.stderr.splitlines() if line.strip()]
    if done.returncode != 0 or said:
        raise SiteError(*(said or [f"Doxygen ended with {done.returncode}"]))


@dataclass(frozen=True)
class Names:
    """What Doxygen called its pages: source listings by path, symbols with their addresses."""

    listings: dict[str, str]
    symbols: list[tuple[str, str, str]]


def names(paths: Paths) -> Names:
    """Reads the tag file. Symbols are (kind, qualified name, address)."""
    listings: dict[str, str] = {}
    symbols: dict[tuple[str, str], str] = {}
    for compound in xml.parse(paths.output / "site.tag").getroot().findall("compound"):
        kind, name = compound.get("kind", ""), compound.findtext("name", "")
        file = compound.findtext("filename", "")
        file = file if file.endswith(".html") else f"{file}.html"
        if kind == "file":
            path = Path(compound.findtext("path", "") + name)
            relative = str(path.relative_to(paths.root)) if path.is_relative_to(paths.root) else str(path)
            listings[relative] = file.removesuffix(".html") + "_source.html"
            symbols[("file", name)] = file
        elif kind in ("class", "struct", "namespace", "concept"):
            symbols[(kind, name)] = file
        if kind in ("class", "struct", "namespace"):
            for member in compound.findall("member"):
                qualified = f"{name}::{member.findtext('name', '')}"
                address = f"{member.findtext('anchorfile', '')}#{member.findtext('anchor', '')}"
                symbols.setdefault((member.get("kind", ""), qualified), address)
    shown = [(kind, name, address) for (kind, name), address in symbols.items() if "@" not in name]
    return Names(listings, sorted(shown, key=lambda symbol: symbol[1]))
