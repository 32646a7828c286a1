"""The steps from the tree to the site."""

import re
import shutil
from html import unescape
from pathlib import Path

from . import doxygen, frame, home, letters, mentions, origin, reference, render, search, slides
from .doxygen import Names, Paths
from .links import SOURCE, Links
from .pages import Page, SiteError, all_pages, chapter_directories
from .render import Rendered, Renderer

_COMMANDS = {2: "section", 3: "subsection", 4: "subsubsection"}


def known_pictures(root: Path) -> frozenset[str]:
    """The interactive pictures that have a script."""
    return frozenset(
        path.stem.removeprefix("picture_") for path in (root / "docs/site/pictures").glob("picture_*.js")
    )


def rendered_pages(root: Path, *, solutions: bool = True) -> tuple[list[Rendered], Links]:
    """Every page as HTML, with the solutions of exercises or without; raises SiteError with all links that lead nowhere."""
    pages = all_pages(root)
    links = Links(root, pages, {page.name: render.anchors(page) for page in pages})
    renderer = Renderer(root, links, known_pictures(root), solutions=solutions)
    rendered = [renderer.render(page) for page in pages]
    if links.problems:
        raise SiteError(*links.problems)
    mentions.link(rendered)
    letters.add(rendered)
    origin.fill_in(root, rendered)
    for section in rendered[0].sections:
        if home.PLACE in section.html:
            section.html = section.html.replace(home.PLACE, home.cards(root, rendered))
    return rendered, links


def build(paths: Paths, *, solutions: bool = True) -> int:
    """Builds the site into `paths.html`; returns the number of pages that came from Markdown."""
    rendered, links = rendered_pages(paths.root, solutions=solutions)
    for directory in (paths.stage, paths.output):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    _stage(paths, rendered)
    doxygen.run(paths)
    names = doxygen.names(paths)
    reference.prepare(paths.html)
    (paths.html / "style.css").write_text(_style(paths), "utf-8")
    terms = frame.definitions(rendered)
    by_file = {result.page.file: result for result in rendered}
    for file in sorted(paths.html.glob("*.html")):
        _finish(paths, file, by_file.get(file.name), names, links, terms)
    for target, source in links.copied.items():
        (paths.html / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, paths.html / target)
    for script in (paths.site / "pictures").glob("*.js"):
        shutil.copyfile(script, paths.html / script.name)
    shutil.copyfile(paths.site / "tasks/predictions.js", paths.html / "predictions.js")
    (paths.html / "slides").mkdir()
    for plan in slides.plan_names(paths.root):
        (paths.html / slides.file_name(plan)).write_text(slides.deck(paths.root, plan, back="../teaching.html"), "utf-8")
    _search(paths, rendered, names)
    _in_one_piece(paths.html / "index.html")
    reference.drop_unreachable(paths.html)
    shutil.copyfile(_licence(paths.theme), paths.html / "doxygen-awesome-licence.txt")
    return len(rendered)


def _search(paths: Paths, rendered: list[Rendered], names: Names) -> None:
    """What the search box loads, as scripts: files that a page opened from the disk may load too."""
    (paths.html / "search_index.js").write_text(search.index(paths.root, rendered, names), "utf-8")
    (paths.html / "search").mkdir()
    for name, text in search.texts(rendered):
        (paths.html / f"search/{name}.js").write_text(text, "utf-8")


def _style(paths: Paths) -> str:
    """All style sheets in one, without their comments: one request before a page can be drawn."""
    sheets = (paths.html / "doxygen.css", paths.theme / "doxygen-awesome.css", paths.site / "theme/site.css", paths.site / "pictures/pictures.css", paths.site / "tasks/tasks.css")
    text = "\n".join(re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL) for sheet in sheets)
    note = "/* Doxygen's style, the theme Doxygen Awesome (MIT licence, doxygen-awesome-licence.txt), and ours. */\n"
    return note + re.sub(r"\n\s*\n+", "\n", text)


def _in_one_piece(page: Path) -> None:
    """Puts into the first page what would hold up its drawing, so that it is drawn as soon as it has come."""
    html = page.read_text("utf-8")
    style = (page.parent / "style.css").read_text("utf-8")
    html = html.replace('<link href="style.css" rel="stylesheet"/>', f"<style>\n{style}</style>")

    def script(match: re.Match[str]) -> str:
        return f"<script>\n{(page.parent / match[1]).read_text('utf-8')}</script>"

    page.write_text(re.sub(r'<script src="(doxygen-awesome-[^"]+\.js)"></script>', script, html), "utf-8")


def _licence(theme: Path) -> Path:
    """The theme's licence, beside it or where Debian keeps licences."""
    for path in (theme / "LICENSE", theme.parents[0] / "doc/doxygen-awesome-css/copyright"):
        if path.exists():
            return path
    raise SiteError(f"the theme in {theme} has no licence beside it")


def _stage(paths: Paths, rendered: list[Rendered]) -> None:
    """Writes what Doxygen reads: a page for each Markdown file, whose HTML it takes over as it is."""
    pages = [result.page for result in rendered]
    for name in ("pages", "parts"):
        (paths.stage / name).mkdir()
    header = (paths.site / "theme/header.html").read_text("utf-8")
    questions = {each.page.name: sum(section.html.count('<form class="predict"') for section in each.sections) for each in rendered}
    header = header.replace("@NAVIGATION@", frame.navigation(pages, questions))
    (paths.stage / "header.html").write_text(header, "utf-8")
    shutil.copyfile(paths.site / "theme/footer.html", paths.stage / "footer.html")
    (paths.stage / "pages/namespaces.dox").write_text(_namespaces(paths.root), "utf-8")
    for result in rendered:
        (paths.stage / f"pages/{result.page.name}.dox").write_text(_page(paths, pages, result), "utf-8")


def _namespaces(root: Path) -> str:
    """What each namespace is, so that Doxygen lists it."""
    said = {
        "emu": "The emulator as a library: its public headers.",
        "workbook": "What the chapters' programs share: none of it is what a chapter teaches.",
        "copy_paths": "Chapter 5: one copy, all ways into shared memory; its own program runs copy_by_ring, measurements the others.",
        "tuner": "Chapter 8: the program that searched for the last rung.",
    }
    for number, directory in enumerate(chapter_directories(root), 1):
        said[directory.partition("_")[2]] = f"Chapter {number}: its kernels, and a launch function for each."
    return "\n".join(f"/** @namespace {name} @brief {text} */" for name, text in said.items()) + "\n"


def _page(paths: Paths, pages: list[Page], result: Rendered) -> str:
    """A Doxygen page of `result`; its sections are Doxygen's, so that the API reference may refer to them."""
    title = _text(result.page.title)
    lines = [
        f"/** @mainpage {title}" if result.page.name == "index" else f"/** @page {result.page.name} {title}"
    ]
    for number, section in enumerate(result.sections):
        if section.title:
            lines.append(f"@{_COMMANDS[min(section.level, 4)]} {section.label} {_text(section.title)}")
        part = f"{result.page.name}.{number}.html"
        html = section.html
        if section is result.sections[-1]:
            html += frame.neighbours(pages, result.page)
        (paths.stage / "parts" / part).write_text(html, "utf-8")
        lines.append(f"@htmlinclude[block] {part}")
    return "\n".join([*lines, "*/", ""])


def _text(title: str) -> str:
    """A heading for Doxygen, with nothing in it that Doxygen would take for a command or a link."""
    return re.sub(r"([\\@<>#%&\"*_`~])", r"\\\1", title)


def _cuda_keywords(line: str) -> str:
    """A line of a listing with CUDA's own keywords in the colour of the others; Doxygen knows C++ only."""
    pattern = r'<span class="(?:comment|stringliteral)">.*?</span>|(?<![\w"#])(__[a-z_]+__)(?=[ (])'
    return re.sub(pattern, lambda m: f'<span class="keyword">{m[1]}</span>' if m[1] else m[0], line)


def _finish(
    paths: Paths, file: Path, result: Rendered | None, names: Names, links: Links, terms: dict[str, tuple[str, str]]
) -> None:
    """Adds to a page what needs the whole site: addresses of listings, its place in the side bar, its pictures."""
    html = file.read_text("utf-8")
    # A line of links to the page's own headings, of which some do not exist.
    html = re.sub(r'<div class="summary">.*?</div>', "", html, flags=re.DOTALL)

    def listing(match: re.Match[str]) -> str:
        path, _, line = unescape(match[1]).partition("#")
        if path.startswith(("common/include/", "common/emulator/include/")) and not line and path in names.listings:
            return f'href="{names.listings[path].replace("_source.html", ".html")}"'
        if path in names.listings:
            return f'href="{names.listings[path]}{f"#l{int(line):05}" if line else ""}"'
        return f'href="{links.copy(path, paths.root / path)}"'

    html = re.sub(rf'href="{SOURCE}([^"]*)"', listing, html)
    if file.name.endswith("_source.html"):
        html = "\n".join(_cuda_keywords(line) for line in html.split("\n"))
    if result is not None:
        html = frame.with_references(html, result.page, names)
        if result.page.chapter:
            html = frame.with_notes(html, terms)
        contents = frame.contents(result)
        kinds = [kind for kind, wanted in (("home", result.page.name == "index"), ("with-toc", bool(contents))) if wanted]
        html = html.replace('<main id="main">', f'<main id="main" class="{" ".join(kinds)}">', 1)
        html = html.replace('<div class="contents">', f'{contents}\n<div class="contents">', 1)
    html = frame.with_headings(reference.with_buttons(html), result)
    html = frame.with_current(html, file.name)
    scripts = '<script src="predictions.js" defer></script>\n' if 'class="predict"' in html else ""
    html = html.replace(
        "</body>", scripts + frame.pictures(paths.root, result.pictures if result else []) + "\n</body>"
    )
    file.write_text(html, "utf-8")
