"""What Doxygen's pages of the API need before they are part of the site."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

LIST = "namespacemembers.html"
_LETTERS = re.compile(r'<h3><a id="index_.*?</ul>', re.DOTALL)
_HREF = re.compile(r'href="([^"#]+\.html)')


def prepare(html: Path) -> None:
    """One list of all functions and constants in place of a page for each letter, to which nothing leads."""
    pages = sorted(html.glob("namespacemembers*.html"))
    if not pages:
        return
    letters: dict[str, str] = {}
    for page in pages:
        if not re.search(r"_(?:func|vars|type|enum|eval)", page.stem):
            for block in _LETTERS.findall(page.read_text("utf-8")):
                letters[re.search(r'id="index_(.*?)"', block)[1]] = re.sub(r"<(/?)h3", r"<\1h2", block.replace("- ", "", 1).replace(" -</a>", "</a>").replace(" -</h3>", "</h3>"))  # type: ignore[index]
    order = sorted(letters)
    links = " ".join(f'<a href="#index_{letter}">{letter}</a>' for letter in order)
    text = (html / LIST).read_text("utf-8")
    head = '<div class="header"><div class="headertitle"><div class="title">Functions and constants</div></div></div>'
    body = f'<p class="letters">{links}</p>\n' + "\n".join(letters[letter] for letter in order)
    text = re.sub(r'<div class="contents">.*?</div><!-- contents -->', lambda _: f'{head}\n<div class="contents">{body}\n</div><!-- contents -->', text, flags=re.DOTALL)
    for page in pages:
        page.unlink()
    (html / LIST).write_text(text, "utf-8")


def drop_unreachable(html: Path) -> None:
    """Removes Doxygen's pages to which no link leads: its own lists of pages, of members by kind, of all members of a type."""
    seen: set[str] = set()
    wanted = ["index.html"]
    while wanted:
        name = wanted.pop()
        if name not in seen and (html / name).exists():
            seen.add(name)
            wanted += [unquote(unescape(target)) for target in _HREF.findall((html / name).read_text("utf-8"))]
    for page in html.glob("*.html"):
        if page.name not in seen:
            page.unlink()
    for name in ("jquery.js", "dynsections.js", "tabs.css", "doxygen.css"):
        (html / name).unlink(missing_ok=True)


def with_buttons(html: str) -> str:
    """What folds a list is a button: Doxygen's pictures and arrows are out of reach of a keyboard."""
    html = re.sub(r'<span id="img_[\d_]+" class="iconf(?:open|closed)" onclick="[^"]*">&#160;</span>', "", html)
    html = re.sub(
        r'<span id="arr_([\d_]+)" class="arrow" onclick="[^"]*">&#96(\d\d);</span>(.*?<a [^>]*>|.*?<b>)([^<]*)',
        lambda m: f'<button type="button" class="arrow" data-folder="{m[1]}" aria-expanded="{"true" if m[2] == "60" else "false"}"'
        f' aria-label="{m[4]}">&#9656;</button>{m[3]}{m[4]}',
        html,
    )
    html = re.sub(r'<span onclick="javascript:toggleLevel\((\d)\);">\d</span>', r'<button type="button" data-level="\1">\1</button>', html)
    return re.sub(r' onclick="javascript:toggleInherit\(\'([^\']*)\'\)"', r' data-inherited="\1"', html)
