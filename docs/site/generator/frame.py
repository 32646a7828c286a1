"""What surrounds a page: navigation, the way to the next page, search, and the scripts of its pictures."""

import json
import re
from html import escape
from pathlib import Path

from weaving import tables

from .doxygen import Names
from .pages import Page
from .render import Rendered

SHARED = "workbook"
"""The namespace of the library that all chapters share."""

REFERENCE = (
    ("files.html", "Headers and sources"),
    ("annotated.html", "Types"),
    ("namespacemembers.html", "Functions and constants"),
)


def navigation(pages: list[Page]) -> str:
    """The side bar: every page under its group, then the API reference."""
    parts = ["<ul>"]
    group = ""
    for page in pages:
        if page.group != group:
            group = page.group
            parts.append(f"</ul>\n<h2>{escape(group)}</h2>\n<ul>")
        parts.append(
            f'<li><a href="{page.file}">{escape(page.label if page.name != "index" else "Home")}</a></li>'
        )
    parts.append("</ul>\n<h2>API reference</h2>\n<ul>")
    parts += [f'<li><a href="{file}">{escape(label)}</a></li>' for file, label in REFERENCE]
    return "\n".join([*parts, "</ul>"])


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


def with_current(html: str, file: str, rendered: Rendered | None) -> str:
    """Marks the page in its own side bar, with the sections of the page below it."""
    contents = ""
    if rendered is not None:
        items = [
            f'<li><a href="#{section.label}">{escape(section.title)}</a></li>'
            for section in rendered.sections
            if section.level == 2
        ]
        contents = f'<ul class="contents-list">{"".join(items)}</ul>' if items else ""
    pattern = re.compile(rf'<li><a href="{re.escape(file)}">(.*?)</a></li>')
    return pattern.sub(
        lambda match: f'<li><a href="{file}" aria-current="page">{match[1]}</a>{contents}</li>', html, count=1
    )


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
    """What a picture shows: the file that make.py wrote, and for the time line first a GPU's record, if there is one."""
    data = json.loads((root / "docs/site/data" / f"{name}.json").read_text("utf-8"))
    return {"sources": [*measured_time_lines(root), data]} if name == "pipeline" else data


def measured_time_lines(root: Path) -> list[dict[str, object]]:
    """The table `pipeline_timeline` of docs/measurements/h200.json in the form of the emulator's record."""
    path = root / "docs/measurements/h200.json"
    if not path.exists():
        return []
    table = tables.load(root).get("pipeline_timeline")
    stages: dict[str, list[dict[str, object]]] = {}
    for row in tables.rows(table) if table else ():
        count = int(str(row["stages"]))
        tile = {key: row[key] for key in ("tile", "issued", "landed", "computed")}
        stages.setdefault(str(count), []).append({**tile, "stage": int(str(row["tile"])) % count})
    return [{"name": "an H200", "unit": "clock cycles", "timed": True, "stages": stages}] if stages else []


def pictures(root: Path, wanted: list[str]) -> str:
    """The scripts and the data of a page's interactive pictures, the data as text in the page itself."""
    if not wanted:
        return ""
    parts = ['<script src="pictures.js"></script>']
    for name in wanted:
        text = json.dumps(picture_data(root, name), ensure_ascii=False, separators=(",", ":")).replace(
            "</", "<\\/"
        )
        parts.append(f'<script type="application/json" id="data-{name}">{text}</script>')
        parts.append(f'<script src="picture_{name}.js"></script>')
    return "\n".join(parts)
