"""The search index: which words say how much of which section, and the names of the API.

The page loads it at the first focus of the search box. It has no sentences: those are in one file for each page, of which
only the pages among the hits are loaded. `docs/site/theme/search.js` reads both, and takes words apart as this file does.
"""

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from .doxygen import Names
from .pages import Page, SiteError
from .render import Rendered, Section

_WORD = re.compile(r"[A-Za-z0-9_]+(?:(?:\.|::)[A-Za-z0-9_]+)*")
_NOISE = re.compile(r"[\d.]+\w?|(?:0x)?[0-9a-f]{8,}|r\d+|ur\d+|p\d|rd\d+|_+|[^\W\d]")
"""Numbers, registers and single letters: outside of headings nobody looks for them."""
_STOP = frozenset(
    "a about after again all alone also always an and another any are as at be because been before between both but "
    "by can come did do does each even every for from get gets give gives go goes had has have he here how i if in "
    "into is it its just let made make makes may might more most must my nor not nothing of on once only or other our "
    "out over own rather same say says should so some still such take taken takes than that the their them then there "
    "these they this those though through to together too until up us very was way we were what when where which "
    "while who whose why will with would yet you your".split()
)
_CHAPTER, _TITLE, _ALSO, _PAGE, _TEXT, _CODE = 20.0, 9.0, 11.0, 2.0, 3.0, 1.5
"""What a word is worth in a chapter's name, in a heading, in search.toml, on a page of that name, in prose and in a listing."""
_LEVELS = 26
_USUAL = 0.017
"""The share of sections from which on a word is usual: where it says least of a section it is left out, for it costs room and finds nothing."""
_LESS = {"teaching": 0.55, "contributing": 0.5, "bibliography": 0.6, "emulator_reference": 0.7, "h200_behaviour": 0.8, "api_versions": 0.9}
"""Pages that mention everything, and are seldom what somebody looks for."""


def stem(word: str) -> str:
    """A word without its ending, roughly: `copies`, `copying` and `copied` are one."""
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ied"):
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and re.search(r"[aeiouy]", rest) and not word.endswith("eed"):
            return rest[:-1] if re.search(r"([bdgmnprt])\1$", rest) else rest.removesuffix("e")
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


_STOP_STEMS = frozenset(map(stem, _STOP))


def words(text: str) -> Iterator[str]:
    """The words of a text as they are compared: names with dots whole, and then in their parts."""
    for match in _WORD.finditer(text):
        whole = match[0].lower().replace("::", ".")
        yield stem(whole)
        if "." in whole or "_" in whole.strip("_"):
            for part in whole.split("."):
                if part != whole:
                    yield stem(part)
                if "_" in part.strip("_"):
                    yield from (stem(piece) for piece in part.split("_") if piece)


def kept(text: str) -> Iterator[str]:
    return (word for word in words(text) if word not in _STOP_STEMS and not _NOISE.fullmatch(word))


def extra_words(root: Path) -> dict[str, dict[str, list[str]]]:
    """docs/site/search.toml: words that mean the same, and questions with the section that answers them."""
    return tomllib.loads((root / "docs/site/search.toml").read_text("utf-8"))


def _weights(page: Page, section: Section, also: Iterable[str], usual: float) -> dict[str, float]:
    """What each word is worth in a section. `usual` is how many words a section has."""
    found: dict[str, float] = defaultdict(float)
    prose, listing = Counter(kept(section.text)), Counter(kept(section.code))
    length = 0.5 + 0.5 * (prose.total() + 0.3 * listing.total()) / usual
    for counts, worth in ((prose, _TEXT), (listing, _CODE)):
        for word, count in counts.items():
            found[word] += worth * count / (count + length)
    own = set(words(f"{page.title} {page.name}"))
    if section.title:
        for word in set(words(section.title)) - _STOP_STEMS:
            found[word] += _TITLE * (0.8 if section.level > 3 else 1)
    for word in own - _STOP_STEMS:
        found[word] += _PAGE if section.title else _CHAPTER if page.chapter else _TITLE
    for text in also:
        for word in {next(words(match[0])) for match in _WORD.finditer(text)} - _STOP_STEMS:
            found[word] += _CHAPTER if page.chapter and not section.title else _ALSO
    factor = _LESS.get(page.name, 1.0)
    return {word: weight * factor for word, weight in found.items()}


def _number(value: int) -> str:
    """In the digits a to z; nothing for 0."""
    digits = ""
    while value:
        value, digit = divmod(value, 26)
        digits = chr(97 + digit) + digits
    return digits


def _postings(entries: list[tuple[int, float]], sections: int) -> str:
    """Sections with weights: the distance to the one before in small letters, then the weight in a capital."""
    text, before = "", -1
    least = 1 if len(entries) > _USUAL * sections else 0
    for number, weight in entries:
        level = min(_LEVELS - 1, max(0, round(weight) - 1))
        if level < least:
            continue
        text += _number(number - before - 1) + chr(65 + level)
        before = number
    return text


def address(page: Page, section: Section) -> str:
    return f"{page.file}#{section.label}" if section.label else page.file


def index(root: Path, rendered: list[Rendered], names: Names) -> str:
    """The script search_index.js. Raises SiteError where search.toml names a section that is not there."""
    extra = extra_words(root)
    sections = [(result.page, section) for result in rendered for section in result.sections]
    also = dict(extra["also"])
    usual = sum(len(section.text) for _, section in sections) / len(sections) / 7
    terms: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, (page, section) in enumerate(sections):
        for word, weight in _weights(page, section, also.pop(address(page, section), ()), usual).items():
            terms[word].append((number, weight))
    if also:
        raise SiteError(*(f"docs/site/search.toml: there is no section {name}" for name in also))
    # A word of one listing alone that is longer than anybody types only costs room.
    shown = {word: entries for word, entries in terms.items() if len(word) < 48}
    ordered = sorted(shown)
    pages = [result.page for result in rendered]
    value = {
        "pages": [[page.name, page.label] for page in pages],
        "sections": [[pages.index(page), section.title, section.label.removeprefix(f"{page.name}-")] for page, section in sections],
        "terms": " ".join(ordered),
        "postings": " ".join(_postings(shown[word], len(sections)) for word in ordered),
        "same": {stem(word): [stem(other) for other in others] for word, others in extra["same"].items()},
        "stop": " ".join(sorted(_STOP)),
        "names": _by_file(names),
    }
    return f"window.SITE_INDEX = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n"


def _by_file(names: Names) -> list[list[object]]:
    """The API's names below the pages that they are on: [file, [kind, name, anchor, …]]."""
    found: dict[str, list[str]] = defaultdict(list)
    for kind, name, target in names.symbols:
        file, _, anchor = target.partition("#")
        found[file] += [kind, name, anchor]
    return [[file, entries] for file, entries in found.items()]


def texts(rendered: list[Rendered]) -> Iterator[tuple[str, str]]:
    """For each page the name and the text of a script with its sentences, section by section."""
    for result in rendered:
        said = [re.sub(r"\s+", " ", section.text).strip() for section in result.sections]
        value = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        yield result.page.name, f'window.SITE_TEXTS["{result.page.name}"] = {value};\n'
