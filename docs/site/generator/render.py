"""Markdown to HTML: what code hosts render, plus what only the site can show."""

import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from weaving import code
from weaving.errors import WeaveError

from . import appendix, highlight, mistakes, slides
from .links import SOURCE, Links, slug
from .pages import Page, SiteError
from .tasks import Tasks

_MARK = re.compile(r"^<!-- (?P<kind>[a-z]+): (?P<argument>.*\S) -->\s*$")
_MOST_ROWS = 16
"""Of a measured table that is shown open."""
_COVER = "(Without the site, cover"
"""Begins the paragraph below a picture that asks what the table below it answers."""
_ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)">')


@dataclass
class Section:
    """A heading of level 2 or 3 and the HTML that follows it; the part before the first heading has no title."""

    title: str = ""
    label: str = ""
    level: int = 0
    html: str = ""
    text: str = ""
    code: str = ""


@dataclass
class Rendered:
    """A page ready for the site."""

    page: Page
    sections: list[Section] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    reported: bool = False
    """Whether it has shown a report of the emulator: its listing says where and what, so further ones are closed."""


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")


def anchors(page: Page) -> dict[str, str]:
    """The anchors of a page as its Markdown file is rendered by a code host, and their names on the site."""
    found: dict[str, str] = {}
    tokens = parser().parse(page.source.read_text("utf-8"))
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            plain = _plain(tokens[index + 1])
            name, count = slug(plain), 1
            while name in found:
                name, count = f"{slug(plain)}-{count}", count + 1
            found[name] = f"{page.name}-{name}"
        elif token.type in ("html_block", "inline"):
            found |= {name: name for name in _ANCHOR.findall(token.content)}
    return found


def _plain(inline: Token) -> str:
    """The text of a heading or paragraph without its marks."""
    return "".join(
        child.content if child.type in ("text", "code_inline") else " " if child.type == "softbreak" else ""
        for child in inline.children or []
    )


class Renderer:
    """Renders pages one by one; problems are gathered in `links.problems`."""

    def __init__(self, root: Path, links: Links, pictures: frozenset[str], *, solutions: bool = True) -> None:
        self._root = root
        self._tasks = Tasks(root, lambda text: self._parser.renderInline(text).strip(), solutions=solutions)
        self._links = links
        self._pictures = pictures
        self._parser = parser()

    def render(self, page: Page) -> Rendered:
        """The page in sections, links and listings made for the site."""
        tokens = self._parser.parse(page.source.read_text("utf-8"))
        result = Rendered(page, [Section()])
        names = iter(anchors_in_order(page))
        part: list[Token] = []
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.type == "heading_open":
                self._finish(result, part)
                part = []
                label, level = next(names), int(token.tag[1])
                if level > 1:
                    result.sections.append(Section(_plain(tokens[index + 1]), label, level))
                index += 3
                continue
            part.append(token)
            index += 1
        self._finish(result, part)
        if page.chapter:
            appendix.fold(result.sections)
        self._add_exercises(result)
        return result

    def _add_exercises(self, result: Rendered) -> None:
        """Behind the chapter's list of its exercises, which leads to them, how one begins, and each of them."""
        at = next((i for i, section in enumerate(result.sections, 1) if section.title == "Exercises"), len(result.sections))
        given = {name: Section(title, f"{result.page.name}-exercise-{name}", 3, html) for name, title, html in self._tasks.sections(result.page)}
        if not given:
            return

        def linked(match: re.Match[str]) -> str:
            return f'<td><a href="#{given[match[1]].label}"><code>{match[1]}</code></a></td>' if match[1] in given else match[0]

        above = result.sections[at - 1]
        above.html = re.sub(r"<td><code>(\w+)</code></td>", linked, above.html) + self._tasks.beginning()
        result.sections[at:at] = given.values()

    def _finish(self, result: Rendered, tokens: list[Token]) -> None:
        """Adds the HTML of `tokens` to the last section."""
        section = result.sections[-1]
        section.code += " ".join(token.content for token in tokens if token.type in ("fence", "code_block"))
        kept = self._translate(result, tokens)
        html = self._parser.renderer.render(kept, self._parser.options, {})
        section.html += re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)  # An empty corner of a table heads nothing.
        section.text += " ".join(_plain(token) for token in kept if token.type == "inline")

    def _translate(self, result: Rendered, tokens: list[Token]) -> list[Token]:
        kept: list[Token] = []
        origin = mistake = ""
        listed: tuple[int, Token, str, bool] | None = None  # The last listing: where it is in `kept`, its code, its origin, is it asked about.
        unmarked = False
        measured = folded = asked = False
        index = 0
        while index < len(tokens):
            token = tokens[index]
            line = (token.map or [0])[0] + 1
            if token.type == "html_block" and (match := _MARK.match(token.content.strip())):
                measured = match["kind"] == "measured"
                if match["kind"] == "interactive":
                    kept.append(self._picture(result, match["argument"], tokens, index, line))
                    behind = _after_paragraph(tokens, index + 1)
                    asked = any(part.content.startswith(_COVER) for part in tokens[index + 1 : behind] if part.type == "inline")
                    index = behind
                    continue
                if match["kind"] == "predict":
                    kept.append(_html(self._tasks.prediction(result.page, match["argument"])))
                    index = _after_block(tokens, index + 1)  # Its words for a reader of the file.
                    continue
                if match["kind"] == "home":
                    kept.append(_html(f"<!-- {match['argument']} -->"))
                    index += 1
                    continue
                if match["kind"] == "slides":
                    kept.append(_html(f'<p><a href="{slides.file_name(match["argument"])}">Slides for this plan</a></p>'))
                    index = _after_paragraph(tokens, index + 1)
                    continue
                origin = self._origin(result.page, match["argument"]) if match["kind"] == "code" else ""
                unmarked = match["argument"].endswith(" unmarked")
                mistake = match["argument"] if match["kind"] == "mistake" else ""
            elif token.type == "html_block" and token.content.strip().startswith("<!--"):
                origin, measured = "", False
            elif token.type == "fence":
                summary = "Machine code" if token.info.strip() == "sass" else ""
                if origin:
                    listed = len(kept), token, origin, unmarked
                elif mistake and listed:
                    said = "" if listed[3] else token.content  # A question comes before the answer.
                    kept[listed[0]] = _html(mistakes.annotated(mistake, listed[1].content, listed[2], said))
                    if result.reported:
                        summary = "The emulator's report"
                    result.reported = True
                kept.append(_html(origin + _folded(result.page, token, summary)))
                origin = mistake = ""
            elif token.type == "code_block":
                kept.append(_html(highlight.fragment(token.content, "")))
            else:
                if token.type in ("bullet_list_open", "ordered_list_open") and token.level == 0 and _holds(tokens, index, "fence", "table_open"):
                    token.attrSet("class", "wide")
                if token.type == "list_item_open":
                    _as_task(token, tokens[index + 2] if index + 2 < len(tokens) else None)
                if measured and token.type == "paragraph_open":
                    token.attrSet("class", "table-caption")
                long = measured and _rows(tokens, index) > _MOST_ROWS
                if (long or asked) and token.type == "table_open":
                    summary = "The answers, in a table" if asked else f"Table of {_rows(tokens, index)} rows"
                    kept.append(_html(f'<details class="fold"><summary>{summary}</summary>'))
                    folded = True
                asked = False
                kept += self._plain_token(result.page, token, line)
                if folded and token.type == "table_close":
                    kept.append(_html("</details>"))
                    folded = False
            index += 1
        return kept

    def _plain_token(self, page: Page, token: Token, line: int) -> list[Token]:
        if token.type == "table_open":
            return [_html('<div class="table-box">'), token]
        if token.type == "table_close":
            return [token, _html("</div>")]
        if token.type == "inline":
            self._translate_inline(page, token, line)
        return [token]

    def _translate_inline(self, page: Page, token: Token, line: int) -> None:
        """Links and images; a link to something that the site does not have becomes plain text."""
        dropped = False
        children: list[Token] = []
        for child in token.children or []:
            if child.type == "link_open":
                target = self._links.resolve(page, str(child.attrs["href"]), line)
                dropped = target is None
                if target is not None:
                    child.attrs["href"] = target
            elif child.type == "image":
                self._image(page, child, line)
                children += [_inline('<span class="figure">'), child, _inline("</span>")]
                continue
            if not (dropped and child.type in ("link_open", "link_close")):
                children.append(child)
        token.children = children

    def _image(self, page: Page, child: Token, line: int) -> None:
        target = self._links.resolve(page, str(child.attrs["src"]), line)
        if target is not None:
            child.attrs["src"] = target
        if not child.content.strip():
            place = page.source.relative_to(self._root)
            self._links.problems.append(f"{place}:{line}: the picture has no alternative text")

    def _origin(self, page: Page, argument: str) -> str:
        """The line above a listing that says where it was cut from."""
        name, *symbols = argument.split()
        path = (page.source.parent / name).resolve()
        if not path.is_relative_to(self._root) or not path.exists():
            return ""
        relative = path.relative_to(self._root)
        line = line_of(path.read_text("utf-8"), symbols[0]) if symbols else 1
        href = escape(f"{SOURCE}{relative}#{line}")
        return f'<div class="origin"><a href="{href}">{escape(str(relative))}, line {line}</a></div>'

    def _picture(self, result: Rendered, name: str, tokens: list[Token], index: int, line: int) -> Token:
        """The place of an interactive picture; the paragraph after the mark is for readers without JavaScript."""
        if name not in self._pictures:
            place = result.page.source.relative_to(self._root)
            known = ", ".join(sorted(self._pictures))
            self._links.problems.append(
                f"{place}:{line}: there is no interactive picture '{name}'; there are {known}"
            )
        paragraph = tokens[index + 1 : _after_paragraph(tokens, index + 1)]
        for token in paragraph:
            if token.type == "inline":
                self._translate_inline(result.page, token, line)
        instead = self._parser.renderer.render(paragraph, self._parser.options, {})
        if name not in result.pictures:
            result.pictures.append(name)
        return _html(
            f'<div class="interactive" data-picture="{escape(name)}"><noscript>{instead}</noscript></div>'
        )


def anchors_in_order(page: Page) -> list[str]:
    """The site's names of the headings, in order."""
    prefix = f"{page.name}-"
    return [name for name in anchors(page).values() if name.startswith(prefix)]


def line_of(text: str, symbol: str) -> int:
    """The line on which a definition or a region begins."""
    if match := re.fullmatch(r"\[([a-z0-9_-]+)\]", symbol):
        return next((line + 1 for line, tag in code.tags(text) if tag == match[1]), 1)
    try:
        return code.Source(text).line(symbol)
    except WeaveError as error:
        raise SiteError(str(error)) from None


def _folded(page: Page, fence: Token, summary: str) -> str:
    """A listing; in a chapter one with a summary is closed until somebody wants to see it."""
    listing = highlight.fragment(fence.content, fence.info.strip())
    if not page.chapter or not summary:
        return listing
    count = fence.content.count("\n")
    lines = f"{count} line{'s' if count != 1 else ''}"
    return f'<details class="fold"><summary>{summary}, {lines}</summary>{listing}</details>'


def _holds(tokens: list[Token], index: int, *kinds: str) -> bool:
    """Whether the block that begins at `index` has something of these kinds in it."""
    end = next(at for at in range(index + 1, len(tokens)) if tokens[at].level == tokens[index].level and tokens[at].nesting < 0)
    return any(token.type in kinds for token in tokens[index:end])


def _rows(tokens: list[Token], index: int) -> int:
    """How many rows the table has that begins at `index`, without its head; 0 if none does."""
    if tokens[index].type != "table_open":
        return 0
    count = 0
    while tokens[index].type != "table_close":
        count += tokens[index].type == "tr_open"
        index += 1
    return count - 1


def _after_paragraph(tokens: list[Token], index: int) -> int:
    """The index behind the paragraph that begins at `index`; `index` itself if none does."""
    if index >= len(tokens) or tokens[index].type != "paragraph_open":
        return index
    while tokens[index].type != "paragraph_close":
        index += 1
    return index + 1


def _after_block(tokens: list[Token], index: int) -> int:
    """The index behind the end mark of the block whose body begins at `index`."""
    while index < len(tokens) and not (tokens[index].type == "html_block" and tokens[index].content.strip() == "<!-- end -->"):
        index += 1
    return index + 1


def _as_task(item: Token, content: Token | None) -> None:
    """Gives a list's item that begins with '[ ]' a box to tick instead of a bullet and the brackets."""
    if content is None or content.type != "inline" or not content.content.startswith("[ ] ") or not content.children:
        return
    content.children[0].content = content.children[0].content.removeprefix("[ ] ")
    item.attrSet("class", "task")


def _inline(text: str) -> Token:
    return Token("html_inline", "", 0, content=text)


def _html(text: str) -> Token:
    return Token("html_block", "", 0, content=text + "\n")
