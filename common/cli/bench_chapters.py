"""What chapters make of their measurements. Each says so itself, in `chapters/NN_name/measured.py`:

    BENCH = Bench(raw=…, tables=…, claims=…)

This reads these files, and knows no chapter. A chapter without one measures nothing, or nothing that is a claim.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .bench_claims import runs_agree
from .bench_file import Claim, Table, Tables
from .errors import UserError

Maker = Callable[[Tables], Table]
Claims = Callable[[Tables], Iterator[Claim]]
Needs = tuple[str, ...]
"""The names of tables without which something is not made."""


@dataclass(frozen=True)
class Tuner:
    """A program that searches for the fastest kernel; `./workbook bench --tune` runs it. Its trials get a file of their own."""

    program: str
    """Its name, in the chapter's directory of the build."""
    compact: Callable[[Tables], Tables]
    """The trials as that file has them."""
    derive: Callable[[Tables], Tables]
    """What readers want of them."""
    file: str = "tuner"
    """What that file's name ends with, behind the GPU's: h200_tuner.json."""


@dataclass(frozen=True)
class Bench:
    """What a chapter makes of its measurements."""

    raw: Sequence[str] = ()
    """Tables that only those for readers are made of."""
    tables: Mapping[str, tuple[Needs, Maker]] = field(default_factory=dict)
    """Tables for readers by name, with those that each is made of."""
    claims: Sequence[tuple[Needs, Claims]] = ()
    """What the tables must show."""
    then: Callable[[Path, Mapping[str, str], Tables], list[str]] | None = None
    """What to measure after the chapter's NAME_bench, with that program; returns what went wrong."""
    tuner: Tuner | None = None
    own_program: bool = True
    """Whether the chapter's own program is measured too."""


NOTHING = Bench()


def load(root: Path, directories: Iterable[str]) -> dict[str, Bench]:
    """What each of these chapters says, by the name of its directory."""
    return {directory: _load(root / "chapters" / directory, directory) for directory in directories}


def _load(directory: Path, name: str) -> Bench:
    path = directory / "measured.py"
    if not path.exists():
        return NOTHING
    # As a package, so that the file may take others of its directory: `from .tuner import trials`.
    module_name = f"measured_{name}"
    spec = importlib.util.spec_from_file_location(module_name, path, submodule_search_locations=[str(directory)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    found = getattr(module, "BENCH", None)
    if not isinstance(found, Bench):
        raise UserError(f"{path} has no `BENCH = Bench(...)`; common/cli/bench_chapters.py says what that is")
    return found


def raw(benches: Iterable[Bench]) -> set[str]:
    """The tables that only those for readers are made of."""
    return {name for bench in benches for name in bench.raw}


def derived(benches: Iterable[Bench]) -> set[str]:
    """The tables that are made of others."""
    return {name for bench in benches for name in bench.tables}


def derive(benches: Iterable[Bench], tables: Tables) -> Tables:
    """The tables for readers that these raw tables are enough for."""
    return {
        name: make(tables)
        for bench in benches
        for name, (needs, make) in bench.tables.items()
        if _there(needs, tables)
    }


def check(benches: Iterable[Bench], tables: Tables) -> list[Claim]:
    """All claims whose tables are there."""
    every = [pair for bench in benches for pair in bench.claims] + [(("agreement",), runs_agree)]
    return [claim for needs, make in every if _there(needs, tables) for claim in make(tables)]


def _there(needs: Needs, tables: Tables) -> bool:
    return all(name in tables and tables[name].rows for name in needs)
