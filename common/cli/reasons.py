"""The reasons that the book gives, and what each stands on: a citation, an experiment, or the words 'our guess'.

A chapter's list is its `reasons.toml`, that of the pages `docs/pages/reasons.toml`; the form of an entry is described in
docs/pages/contributing.md. Everything here is read from files: what an entry names must exist, and each sentence that has
a word of TRIGGERS in it must stand in a list.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

TRIGGERS = re.compile(
    r"\b(because|cannot|can not|must|always|never|only|why|limits?|limited|costs?|reasons?|needs|has to|impossible|presumably|probably)\b",
    re.IGNORECASE,
)
PAGES = ("measuring", "errors", "emulator", "emulator_reference", "sass", "glossary", "api_versions")
"""The pages of docs/pages that speak about the machine; the others are about this workbook."""
EXPERIMENTS = ("test", "claim", "table", "behaviour", "mistake", "counters", "sass")
KINDS = ("source", *EXPERIMENTS, "guess", "plain")
_NEED_WHY = tuple(kind for kind in EXPERIMENTS if kind != "behaviour")
_FIELDS = {"page", "sentence", "sentences", "why", *KINDS}
_SHORTEST = 12
"""Characters of the shortest quotation that can tell one sentence from another."""


@dataclass(frozen=True)
class Reason:
    """One entry: sentences, and the evidence by its kind."""

    sentences: tuple[str, ...]
    evidence: dict[str, tuple[str, ...]]
    why: str
    place: str
    """Where the entry stands: file and number, for messages."""


@dataclass
class Text:
    """A chapter's prose or a page, and the reasons given for it."""

    name: str
    source: Path
    listed_in: Path
    reasons: list[Reason] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def prose(self) -> str:
        return self.source.read_text("utf-8")


def texts(root: Path, chapters: Sequence[str]) -> list[Text]:
    """Every chapter, by its directory's name, and every page of PAGES, with their lists; a chapter without list has none."""
    found = []
    for chapter in chapters:
        directory = root / "chapters" / chapter
        text = Text(chapter, directory / "README.md", directory / "reasons.toml")
        if text.listed_in.exists():
            text.reasons = _read(text.listed_in, root, text.problems)
        found.append(text)
    path = root / "docs/pages/reasons.toml"
    problems: list[str] = []
    by_page = _read_pages(path, root, problems) if path.exists() else {}
    for page in PAGES:
        found.append(Text(page, root / "docs/pages" / f"{page}.md", path, by_page.pop(page, []), problems))
        problems = []
    if by_page:
        found[-1].problems.append(f"{path.relative_to(root)}: no page '{next(iter(by_page))}' among {', '.join(PAGES)}")
    return found


def _read(path: Path, root: Path, problems: list[str]) -> list[Reason]:
    return [reason for _, reason in _entries(path, root, problems)]


def _read_pages(path: Path, root: Path, problems: list[str]) -> dict[str, list[Reason]]:
    pages: dict[str, list[Reason]] = {}
    for page, reason in _entries(path, root, problems):
        pages.setdefault(page, []).append(reason)
    return pages


def _entries(path: Path, root: Path, problems: list[str]) -> Iterator[tuple[str, Reason]]:
    name = path.relative_to(root)
    try:
        entries = tomllib.loads(path.read_text("utf-8")).get("reason", [])
    except tomllib.TOMLDecodeError as error:
        problems.append(f"{name}: {error}")
        return
    for number, entry in enumerate(entries, 1):
        place = f"{name}, entry {number}"
        if unknown := sorted(set(entry) - _FIELDS):
            problems.append(f"{place}: unknown field {', '.join(unknown)}")
            continue
        sentences = tuple([entry["sentence"]] if "sentence" in entry else entry.get("sentences", []))
        evidence = {kind: _several(entry[kind]) for kind in KINDS if kind in entry}
        if not sentences or not evidence:
            problems.append(f"{place}: it needs a sentence and one of {', '.join(KINDS)}")
            continue
        yield entry.get("page", ""), Reason(tuple(map(flat, sentences)), evidence, entry.get("why", ""), place)


def _several(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def flat(text: str) -> str:
    """The text with single spaces: how lines are broken does not matter."""
    return " ".join(text.split())


def sentences(markdown: str) -> list[str]:
    """The sentences of the prose: no code, no woven blocks, no headings, not those of tables either; a cell is a text of its own."""
    found: list[str] = []
    paragraph: list[str] = []

    def close() -> None:
        found.extend(_split(flat(" ".join(paragraph))))
        paragraph.clear()

    lines = list(_prose_lines(markdown))
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        stripped = line.strip()
        heads_table = stripped.startswith("|") and following.startswith("|-")
        if not stripped or heads_table or stripped.startswith(("#", "<!--")):
            close()
        elif stripped.startswith("|"):
            close()
            for cell in re.split(r"(?<!\\)\|", stripped.strip("|")):
                found.extend(_split(flat(cell)))
        else:
            if re.match(r"([-*>]|\d+\.)\s", stripped):
                close()
            paragraph.append(stripped)
    close()
    return [sentence for sentence in found if sentence]


def _prose_lines(markdown: str) -> Iterator[str]:
    fence, woven = "", False
    for line in markdown.split("\n"):
        if fence:
            if line.strip() == fence:
                fence = ""
            continue
        if match := re.match(r"\s*(`{3,}|~{3,})", line):
            fence = match[1]
            yield ""
        elif woven:
            woven = line != "<!-- end -->"
        elif re.match(r"<!-- (code|output|captured|markdown|mistake|ptx|sass|counters|measured|predict): ", line):
            woven = True
            yield ""
        else:
            yield line


def _split(paragraph: str) -> list[str]:
    return re.split(r"(?<=[.!?:;])[\"')\]*_]*\s+(?=[\"'(\[`*_]*[A-Z0-9`])", paragraph)


def uncovered(text: Text) -> list[str]:
    """The sentences with a word of TRIGGERS that no entry covers."""
    quoted = [quotation for reason in text.reasons for quotation in reason.sentences]
    return [
        sentence
        for sentence in sentences(text.prose)
        if TRIGGERS.search(re.sub(r"`[^`]*`|\]\([^)]*\)", "", sentence))
        and not any(quotation in sentence or sentence in quotation for quotation in quoted)
    ]


def broken(text: Text, root: Path) -> list[str]:
    """One line for each entry whose sentence is not in the text or whose evidence does not exist."""
    problems = list(text.problems)
    whole = flat(text.prose)  # a woven table may give reasons too
    for reason in text.reasons:
        for sentence in reason.sentences:
            if len(sentence) < _SHORTEST:
                problems.append(f"{reason.place}: '{sentence}' is too short to tell which sentence is meant")
            elif sentence not in whole:
                problems.append(f"{reason.place}: the text has no '{sentence}'")
        if any(kind in reason.evidence for kind in _NEED_WHY) and not reason.why:
            problems.append(f"{reason.place}: `why` has to say what would have come out otherwise")
        if "guess" in reason.evidence and not all(_is_called_guess(s, text) for s in reason.sentences):
            problems.append(f"{reason.place}: the sentence does not say 'our guess'")
        for kind, values in reason.evidence.items():
            for value in values:
                if missing := lack(kind, value, text, root):
                    problems.append(f"{reason.place}: {missing}")
    return problems


def _is_called_guess(quotation: str, text: Text) -> bool:
    return any("our guess" in s.lower() for s in sentences(text.prose) if quotation in s or s in quotation)


def lack(kind: str, value: str, text: Text, root: Path) -> str:
    """What is wrong with one piece of evidence, or nothing."""
    if kind in ("guess", "plain"):
        return "" if len(value) >= _SHORTEST else f"{kind} = '{value}' says too little"
    if kind == "source":
        document = flat(value).split(",")[0].strip()
        return "" if document in flat(_file(root / "docs/pages/bibliography.md")) else f"the bibliography has no '{document}'"
    if kind == "test":
        return _lacking_test(value, root)
    if kind in ("claim", "table"):
        return "" if value in _measured(root)[kind] else f"h200.json has no {kind} '{value}'"
    if kind == "behaviour":
        records = "\n".join(_file(path) for path in sorted((root / "docs/measurements").glob("*.md")))
        return "" if flat(value) in flat(records) else f"no record of docs/measurements says '{value}'"
    chapter, _, name = value.rpartition("/")
    chapter = chapter or re.sub(r"^\d+_", "", text.name)
    if kind == "mistake":
        found = list((root / "chapters").glob(f"[0-9][0-9]_{chapter}/mistakes.cu"))
        return "" if found and re.search(rf"\b{re.escape(name)}\b", _file(found[0])) else f"no mistake '{name}' in chapter {chapter}"
    path = root / "tests/chapters" / f"{chapter}.{kind}"
    rows = _file(path).splitlines() if path.exists() else []
    return "" if any(row.split()[:1] == [name] for row in rows) else f"{path.name} has no entry '{name}'"


def _lacking_test(value: str, root: Path) -> str:
    file, _, case = value.partition(":")
    path = root / file.strip()
    if not path.is_file() or not path.is_relative_to(root / "tests"):
        return f"no test file '{file.strip()}'"
    source = re.sub(r'"\s*\n?\s*"', "", _file(path))  # a name of several literals
    return "" if case.strip() and flat(case) in flat(source) else f"{file.strip()} has no case '{case.strip()}'"


@cache
def _file(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def _measured(root: Path) -> dict[str, set[str]]:
    data = json.loads(_file(root / "docs/measurements/h200.json"))
    return {"claim": {claim["id"] for claim in data["claims"]}, "table": set(data["tables"])}


def shown(found: Sequence[Text]) -> Iterator[str]:
    """What `./workbook bench --show` prints: each text's reasons with what they stand on, and the sums."""
    for text in found:
        if not text.reasons:
            continue
        count = {"cited": 0, "tried": 0, "our guess": 0, "plain": 0}
        lines = []
        for reason in text.reasons:
            kinds = list(reason.evidence)
            group = "tried" if any(k in EXPERIMENTS for k in kinds) else "cited" if "source" in kinds else "our guess" if "guess" in kinds else "plain"
            count[group] += len(reason.sentences)
            if group == "plain":
                continue
            evidence = "; ".join(f"{kind}: {value}" for kind, values in reason.evidence.items() for value in values)
            lines += [f"  {sentence}" for sentence in reason.sentences]
            lines.append(f"      {group} | {evidence}{f' | otherwise: {reason.why}' if reason.why else ''}")
        sums = ", ".join(f"{number} {group}" for group, number in count.items() if number)
        yield ""
        yield f"reasons of {text.name}: {sums}"
        yield from lines
