"""The lists of mutants in tests/mutants: reading them, applying one to a text, drawing a sample.

A mutant is a small wrong change to a chapter's kernels that the tests have to catch. A list has one `[[mutant]]` table
for each; the keys are those of `Mutant`. A `[[together]]` table names mutants that are tried at once, too: `names`, and what
the emulator must `expect` then.
"""

import random
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .chapters import Chapter
from .errors import UserError
from .workspace import Workspace

PROGRAM, TEST = "program", "test"
_REQUIRED = {"name", "why", "find", "replace"}
_OPTIONAL = {"file", "in", "run", "kernel", "case", "expect"}


class MutantError(Exception):
    """This mutant cannot be tried: neither caught nor missed."""


@dataclass(frozen=True)
class Mutant:
    """One change and how to try it.

    `find` must occur exactly once in `file` (or in the function `inside`, key `in`) and is replaced by `replace`. Then
    the chapter's program runs (with `--kernel` if `kernel` is given), or with `run = "test"` its Catch2 test (`case`
    alone if given). `expect` is the diagnosis that must be among the emulator's.
    """

    chapter: Chapter
    name: str
    why: str
    find: str
    replace: str
    file: str
    inside: str = ""
    run: str = PROGRAM
    kernel: str = ""
    case: str = ""
    expect: str = ""
    also: tuple["Mutant", ...] = ()
    """Further changes to the same file that are made with it."""


def list_path(workspace: Workspace, chapter: Chapter) -> Path:
    return workspace.root / "tests" / "mutants" / f"{chapter.name}.toml"


def load(workspace: Workspace, chapter: Chapter) -> list[Mutant]:
    """The chapter's mutants in the order of the file; a file that is missing or wrong is an error."""
    data, shown = _data(workspace, chapter)
    entries = data.get("mutant")
    if not set(data) <= {"mutant", "together"} or not isinstance(entries, list) or not entries:
        raise UserError(f"{shown}: expected [[mutant]] tables, [[together]] tables and nothing else")
    mutants = [_read(chapter, entry, f"{shown}: mutant {i + 1}") for i, entry in enumerate(entries)]
    for mutant in mutants:
        if sum(other.name == mutant.name for other in mutants) > 1:
            raise UserError(f"{shown}: two mutants are called '{mutant.name}'")
    return mutants


def _data(workspace: Workspace, chapter: Chapter) -> tuple[dict[str, Any], str]:
    """What the list says, and its name for messages."""
    path = list_path(workspace, chapter)
    shown = workspace.relative(path)
    try:
        return tomllib.loads(path.read_text("utf-8")), shown
    except FileNotFoundError:
        raise UserError(f"chapter {chapter.name} has no list of mutants ({shown})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{shown}: {error}") from None


def load_together(workspace: Workspace, chapter: Chapter) -> list[Mutant]:
    """Several of the chapter's mutants at once, as one mutant each: it runs what the first of them runs."""
    known = {mutant.name: mutant for mutant in load(workspace, chapter)}
    data, shown = _data(workspace, chapter)
    found = []
    for entry in data.get("together", ()):
        names = entry.get("names")
        if set(entry) != {"names", "expect"} or not isinstance(names, list) or len(names) < 2 or not set(names) <= known.keys():
            raise UserError(f"{shown}: [[together]] needs the names of mutants of this list and what to expect")
        first, *others = (known[name] for name in names)
        if any(other.file != first.file for other in others):
            raise UserError(f"{shown}: {' and '.join(names)} are not in one file")
        why = "; ".join(known[name].why for name in names)
        found.append(replace(first, name=" + ".join(names), why=why, expect=entry["expect"], also=tuple(others)))
    return found


def _read(chapter: Chapter, entry: dict[str, Any], where: str) -> Mutant:
    if unknown := sorted(set(entry) - _REQUIRED - _OPTIONAL):
        raise UserError(f"{where}: unknown key '{unknown[0]}'")
    if missing := sorted(_REQUIRED - set(entry)):
        raise UserError(f"{where}: '{missing[0]}' is missing")
    if wrong := sorted(key for key, value in entry.items() if not isinstance(value, str)):
        raise UserError(f"{where}: '{wrong[0]}' must be a string")
    values = dict(entry)
    values["inside"] = values.pop("in", "")
    values.setdefault("file", f"chapters/{chapter.directory}/{chapter.name}.cuh")
    mutant = Mutant(chapter=chapter, **values)
    if mutant.run not in (PROGRAM, TEST):
        raise UserError(f"{where}: run is '{mutant.run}'; it may be {PROGRAM} or {TEST}")
    if (mutant.kernel and mutant.run == TEST) or (mutant.case and mutant.run == PROGRAM):
        raise UserError(f"{where}: 'kernel' belongs to run = \"{PROGRAM}\", 'case' to run = \"{TEST}\"")
    if not mutant.file.startswith((f"chapters/{chapter.directory}/", "common/include/")):
        raise UserError(f"{where}: {mutant.file} is neither the chapter's nor in common/include")
    if not mutant.find or mutant.find == mutant.replace:
        raise UserError(f"{where}: it changes nothing")
    return mutant


def mutated(text: str, mutant: Mutant) -> tuple[str, int]:
    """The text with the change, and the line on which it starts."""
    begin, end = _function(text, mutant.inside) if mutant.inside else (0, len(text))
    place = f"{mutant.inside} in {mutant.file}" if mutant.inside else mutant.file
    count = text.count(mutant.find, begin, end)
    if count != 1:
        how = "not found" if count == 0 else f"found {count} times"
        raise MutantError(f"the text to replace was {how} in {place}")
    at = text.index(mutant.find, begin, end)
    line = text.count("\n", 0, at) + 1
    text = text[:at] + mutant.replace + text[at + len(mutant.find) :]
    for other in mutant.also:
        text, _ = mutated(text, other)
    return text, line


def _function(text: str, name: str) -> tuple[int, int]:
    """Where the definition of the function or struct `name` is, its head included."""
    definition = rf"^[^\s/#][^;{{}}]*?\b{re.escape(name)}(?:\([^;{{}}]*|\s*)\{{"
    matches = list(re.finditer(definition, text, re.MULTILINE))
    if len(matches) != 1:
        raise MutantError(f"{len(matches)} definitions of {name} were found instead of one")
    at, depth = matches[0].end(), 1
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return matches[0].start(), at


def sample(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """`count` mutants drawn by `seed`, spread over the chapters as evenly as can be, in the order of the lists."""
    draw = random.Random(seed)
    piles: list[list[Mutant]] = []
    for chapter in dict.fromkeys(mutant.chapter for mutant in mutants):
        pile = [mutant for mutant in mutants if mutant.chapter == chapter]
        draw.shuffle(pile)
        piles.append(pile)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(piles):
        for pile in piles:
            if pile and len(chosen) < count:
                chosen.append(pile.pop())
    return [mutant for mutant in mutants if mutant in chosen]
