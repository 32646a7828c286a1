"""What surrounds a page: navigation, the way to the next page, search, and the scripts of its pictures."""

import json
import re
from html import escape
from pathlib import Path

from . import measured
from .doxygen import Names
from .pages import Page
from .render import Rendered

SHARED = "workbook"
"""The namespace of the library that all chapters share."""

NOTE = 130
"""How long a note in the margin is, in characters; its first sentence is never cut."""

REFERENCE = (
    ("namespaces.html", "Namespaces"),
    ("files.html", "Headers and sources"),
    ("annotated.html", "Types"),
    ("namespacemembers.html", "Functions and constants"),
)


def navigation(pages: list[Page], questions: dict[str, int]) -> str:
    """The side bar: every page under its group, then the API reference. `questions`: how many a chapter has to answer."""
    parts = ["<ul>"]
    group = ""
    for page in pages:
        if page.group != group:
            group = page.group
            parts.append(f"</ul>\n<h2>{escape(group)}</h2>\n<ul>")
        parts.append(
            f'<li><a href="{page.file}"{_read_mark(page, questions)}>{escape(page.label if page.name != "index" else "Home")}</a></li>'
        )
    parts.append("</ul>\n<h2>API reference</h2>\n<ul>")
    parts += [f'<li><a href="{file}">{escape(label)}</a></li>' for file, label in REFERENCE]
    return "\n".join([*parts, "</ul>"])


def _read_mark(page: Page, questions: dict[str, int]) -> str:
    """By which the browser keeps how far a chapter was read, and how many of its predictions were answered."""
    return f' data-chapter="{page.name}" data-questions="{questions.get(page.name, 0)}"' if page.chapter else ""


def neighbours(pages: list[Page], page: Page) -> str:
    """Links to the page before and the page after."""
    at = pages.index(page)
    links = []
    if at > 0:
        before = pages[at - 1]
        links.append(f'<a rel="prev" href="{before.file}"><span>Previous</span>{escape(before.label)}</a>')
    if at + 1 < len(pages):
        after = pages[at + 1]
        links.append(f'<a rel="next" href="{after.file}"><span>Next</span>{escape(after.label)}</a>')
    return f'<nav class="neighbours" aria-label="Neighbours">{"".join(links)}</nav>'


def with_headings(html: str, rendered: Rendered | None) -> str:
    """The title as the page's one heading of the first level, and all others below it, each with a link to itself."""
    html = re.sub(r'<div class="title">(.*?)</div>', lambda m: f'<h1 class="title">{m[1].strip()}</h1>', html, count=1, flags=re.DOTALL)
    if rendered is None:
        return html

    def heading(match: re.Match[str]) -> str:
        level, label, title = int(match[1]) + 1, match[2], match[3].strip()
        link = f'<a class="permalink" href="#{label}" tabindex="-1" aria-hidden="true">#</a>'
        return f'<h{level} id="{label}">{title}{link}</h{level}>'

    return re.sub(r'<h([1-3])><a class="anchor" id="([^"]+)"></a>\s*(.*?)</h\1>', heading, html, flags=re.DOTALL)


def with_current(html: str, file: str) -> str:
    """Marks the page in its own side bar."""
    return html.replace(f'<li><a href="{file}"', f'<li><a href="{file}" aria-current="page"', 1)


def contents(rendered: Rendered) -> str:
    """The page's sections: a list beside the text on wide screens, behind a button on others."""
    items: list[str] = []
    below: list[str] = []

    def close() -> None:
        if below:
            items[-1] = items[-1].removesuffix("</li>") + f"<ul>{''.join(below)}</ul></li>"
            below.clear()

    for section in rendered.sections:
        item = f'<li><a href="#{section.label}">{escape(section.title)}</a></li>'
        if section.level == 2:
            close()
            items.append(item)
        elif section.level == 3 and items:
            below.append(item)
    close()
    if len(items) < 2:
        return ""
    button = '<button type="button" aria-expanded="false" aria-controls="toc-list">On this page</button>'
    return f'<nav id="toc" aria-label="On this page">{button}<ul id="toc-list">{"".join(items)}</ul></nav>'


def definitions(rendered: list[Rendered]) -> dict[str, tuple[str, str]]:
    """The glossary: a term's address, the term and the beginning of what it means."""
    found = {}
    for result in rendered:
        for section in result.sections if result.page.name == "glossary" else ():
            text = re.sub(r"\s*\((?:ISA|Guide|Best Practices|libcu|chapters?)\b.*$", "", re.sub(r"\s+", " ", section.text)).strip()
            said = ""
            for sentence in re.split(r"(?<=[.:])\s+(?=[A-Z`])", text):
                if said and len(said) + len(sentence) > NOTE:
                    break
                said = f"{said} {sentence}".strip()
            if section.label and text:
                found[f"{result.page.file}#{section.label}"] = (section.title, said)
    return found


def with_notes(html: str, terms: dict[str, tuple[str, str]]) -> str:
    """What a term of the glossary means, in the margin beside the paragraph that first has a link to it."""
    seen: set[str] = set()

    def noted(match: re.Match[str]) -> str:
        fresh = [each for each in re.findall(r'href="(glossary\.html#[^"]+)"', match[0]) if each in terms and each not in seen]
        length = len(re.sub(r"<[^>]*>", "", match[0]))
        room = -(-length // 72) * 26 + 26  # The paragraph's lines, and a little below it.
        kept = []
        for each in dict.fromkeys(fresh):
            room -= -(-len(" ".join(terms[each])) // 35) * 19 + 14
            if room < 0:
                break
            kept.append(each)
        seen.update(fresh := kept)
        notes = "".join(
            f'<div class="note" role="note"><a href="{each}" tabindex="-1">{escape(terms[each][0])}</a> {escape(terms[each][1])}</div>'
            for each in fresh
        )
        return notes + match[0]

    return re.sub(r"<p>.*?</p>", noted, html, flags=re.DOTALL)


def with_references(html: str, page: Page, names: Names) -> str:
    """Leads names of the shared library in the prose, such as `swizzled_index`, to the API reference.

    A bare word of small letters may be anything, and a name that the chapter has too is the chapter's.
    """
    symbols = {name: address for _, name, address in reversed(names.symbols)}

    def link(match: re.Match[str]) -> str:
        name = match[1].removeprefix(f"{SHARED}::")
        if name == match[1] and (name.islower() and "_" not in name or f"{page.name}::{name}" in symbols):
            return match[0]
        address = symbols.get(f"{SHARED}::{name}")
        return f'<a href="{address}">{match[0]}</a>' if address else match[0]

    return re.sub(r'(?<!">)<code>((?:\w+::)*\w+)(?:\(\))?</code>(?!</a>)', link, html)


def picture_data(root: Path, name: str) -> object:
    """What a picture shows: measurements, or the file that make.py wrote."""
    if name in measured.PICTURES:
        return measured.PICTURES[name](root)
    data: object = json.loads((root / "docs/site/data" / f"{name}.json").read_text("utf-8"))
    return data


def pictures(root: Path, wanted: list[str]) -> str:
    """The scripts and the data of a page's interactive pictures, the data as text in the page itself."""
    if not wanted:
        return ""
    parts = ['<script src="pictures.js" defer></script>']
    if any("LiveInput" in (root / f"docs/site/pictures/picture_{name}.js").read_text("utf-8") for name in wanted):
        parts.append('<script src="live_input.js" defer></script>')
    for name in wanted:
        text = json.dumps(picture_data(root, name), ensure_ascii=False, separators=(",", ":")).replace(
            "</", "<\\/"
        )
        parts.append(f'<script type="application/json" id="data-{name}">{text}</script>')
        parts.append(f'<script src="picture_{name}.js" defer></script>')
    return "\n".join(parts)
