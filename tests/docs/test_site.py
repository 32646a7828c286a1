"""The built site: Doxygen is silent, every link holds, and every page shows well in a browser."""

import functools
import http.server
import re
import tempfile
import threading
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import tools
from built_site import BrowserCase, html_pages, prose_pages, site


class Anchors(HTMLParser):
    """The names that a page defines, the addresses that it uses, and its text outside of code."""

    _SILENT = ("script", "style", "code", "noscript")

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.used: list[str] = []
        self.text: list[str] = []
        self.pictures_without_words: list[str] = []
        self._listing = 0
        self._silent = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        self.used += [given[name] for name in ("href", "src") if name in given]
        if tag == "img" and not given.get("alt", "").strip():
            self.pictures_without_words.append(given.get("src", ""))
        self._silent += tag in self._SILENT
        if tag == "div" and (self._listing or "fragment" in given.get("class", "").split()):
            self._listing += 1

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self._SILENT
        self._listing -= tag == "div" and self._listing > 0

    def handle_data(self, data: str) -> None:
        if not self._silent and not self._listing:
            self.text.append(data)


@functools.cache
def parsed(path: Path) -> Anchors:
    page = Anchors()
    page.feed(path.read_text("utf-8"))
    return page


class Links(unittest.TestCase):
    def test_every_link_and_anchor_of_every_page_holds(self) -> None:
        broken = []
        for page in html_pages():
            for address in parsed(page).used:
                parts = urlsplit(address)
                if parts.scheme in ("http", "https", "mailto", "data") or address.startswith("javascript:"):
                    continue
                target = page if not parts.path else page.parent / unquote(parts.path)
                if not target.exists():
                    broken.append(f"{page.name}: {address}")
                elif not parts.fragment or target.suffix != ".html":
                    continue
                elif unquote(parts.fragment) not in parsed(target).names:
                    broken.append(f"{page.name}: {address} (no such anchor)")
        self.assertEqual(broken, [])

    def test_nothing_is_fetched_from_another_host(self) -> None:
        for page in html_pages():
            text = page.read_text("utf-8")
            self.assertEqual(
                re.findall(r'(?:src|<link [^>]*href)="(?:https?:)?//[^"]*"', text), [], page.name
            )

    def test_no_mark_of_ours_or_of_doxygen_is_shown(self) -> None:
        for page in prose_pages():
            text = " ".join(parsed(page).text)
            self.assertIsNone(
                re.search(r"<!--|-->|\\::|[\\@](?:ref|section|page|snippet|htmlinclude)\b|\]\(", text), page.name
            )
            self.assertNotIn("source:", text, page.name)

    def test_every_picture_has_words(self) -> None:
        for page in prose_pages():
            self.assertEqual(parsed(page).pictures_without_words, [], page.name)

    def test_every_page_can_be_reached_from_the_first(self) -> None:
        seen: set[str] = set()
        wanted = ["index.html"]
        while wanted:
            name = wanted.pop()
            if name not in seen and name.endswith(".html") and (site() / name).exists():
                seen.add(name)
                wanted += [unquote(urlsplit(address).path) for address in parsed(site() / name).used]
        self.assertEqual(sorted({page.name for page in html_pages()} - seen), [])

    def test_list_of_functions_has_all_letters(self) -> None:
        text = (site() / "namespacemembers.html").read_text("utf-8")
        self.assertGreaterEqual(len({name for name in parsed(site() / "namespacemembers.html").names if name.startswith("index_")}), 20)
        for name in ("add_one_ptx()", "swizzled_address()", "tensor_map_problem()"):
            self.assertIn(f"<li>{name}", text)

    def test_every_page_has_one_heading_of_the_first_level(self) -> None:
        for page in html_pages():
            self.assertEqual(len(re.findall(r"<h1\b", page.read_text("utf-8"))), 1, page.name)

    def test_every_prose_page_has_all_pages_beside_it_and_a_neighbour(self) -> None:
        files = {page.name for page in prose_pages()}
        for page in prose_pages():
            self.assertLessEqual(files, set(parsed(page).used), page.name)
            self.assertRegex(page.read_text("utf-8"), r'<a rel="(?:prev|next)" ')
            self.assertRegex(page.read_text("utf-8"), r'aria-current="page"')


FOLLOWS = """(async () => {
    for (let i = 0; i < 50; ++i) {
        if (document.documentElement.classList.contains("dark-mode") === %s) return true;
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return false;
})()"""

OVERFLOW = """(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const wide = [...document.querySelectorAll("#main *")].filter((node) => {
        if (node.getBoundingClientRect().right <= width + 1) return false;
        for (let box = node.parentElement; box; box = box.parentElement)
            if (/auto|scroll|hidden/.test(getComputedStyle(box).overflowX)) return false;
        return true;
    });
    return [document.documentElement.scrollWidth + " pixels", ...wide.slice(0, 4).map((node) => node.outerHTML.slice(0, 120))];
})()"""

CONTRAST = """(() => {
    const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
    const light = (rgb) => {
        const [r, g, b] = rgb.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const behind = (node) => {
        const layers = [];
        for (; node; node = node.parentElement) {
            const colour = getComputedStyle(node).backgroundColor, [, , , alpha = 1] = parse(colour);
            if (colour.startsWith("rgba") && alpha === 0) continue;
            layers.unshift(colour);
            if (/^rgb\\(/.test(colour)) break;
        }
        for (const colour of ["#fff", ...layers]) { // The canvas lays them over each other as the page does.
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
        }
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const found = new Map();
    for (const node of document.querySelectorAll("#main p, #main li, #main td, #main th, #main a, #main code, #main .line, #main .line span, #main .origin a, #side a")) {
        const a = light(parse(getComputedStyle(node).color)), b = light(behind(node));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5 && node.textContent.trim()) found.set(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`, node.textContent.slice(0, 40));
    }
    return [...found].slice(0, 6).map(([name, text]) => `${name}: ${text}`);
})()"""


def pages_to_see() -> list[Path]:
    """All pages but those that Doxygen makes by rote, of which the longest of each kind stand for the rest."""
    kinds = ("*_source.html", "*-members.html", "dir_*.html")
    by_rote = [sorted(site().glob(kind), key=lambda page: -page.stat().st_size) for kind in kinds]
    left_out = {page for pages in by_rote for page in pages[10:]}
    return [page for page in html_pages() if page not in left_out]


class InBrowser(BrowserCase):
    def test_pages_are_sound_in_light_and_dark_wide_and_narrow(self) -> None:
        wrong = []
        prose = set(prose_pages())
        narrow_then_dark = ((390, False), (1280, True))
        for number, page in enumerate(pages_to_see()):
            if page in prose:
                shapes = [(width, dark) for dark in (False, True) for width in (1280, 390)]
            else:  # Each is opened in the shape in which the last one was left, since a change takes its time.
                shapes = narrow_then_dark[:: -1 if number % 2 else 1]
            for at, (width, dark) in enumerate(shapes):
                self.browser.shape(width, dark=dark)
                if at == 0:
                    wrong += [f"{page.name}: {problem}" for problem in self.browser.open(page.as_uri())]
                name = f"{page.name} at {width} {'dark' if dark else 'light'}"
                if not self.browser.evaluate(FOLLOWS % ("true" if dark else "false")):
                    wrong.append(f"{name}: does not follow the system")
                wrong += [f"{name}: too wide: {problem}" for problem in self.browser.evaluate(OVERFLOW)]
                if page in prose:
                    wrong += [
                        f"{name}: hard to read: {problem}" for problem in self.browser.evaluate(CONTRAST)
                    ]
            wrong += [f"{page.name}: {problem}" for problem in self.browser.problems()]
        if found := list(dict.fromkeys(wrong)):
            self.fail(f"{len(found)} problems:\n" + "\n".join(found[:60]))

    def test_button_switches_light_and_dark_and_the_choice_stays(self) -> None:
        self.open("index.html")
        dark = "document.documentElement.classList.contains('dark-mode')"
        self.assertIs(self.browser.evaluate(dark), False)
        self.click("#dark")
        self.assertIs(self.browser.evaluate(dark), True)
        self.assertEqual(self.text("#dark"), "Light")
        self.open("index.html")
        self.assertIs(self.browser.evaluate(dark), True)
        self.click("#dark")
        self.assertIs(self.browser.evaluate(dark), False)

    def test_menu_opens_on_a_phone(self) -> None:
        self.open("index.html", width=390)
        seen = "getComputedStyle(document.getElementById('side')).visibility"
        self.assertEqual(self.browser.evaluate(seen), "hidden")
        self.click("#menu")
        self.assertEqual(self.browser.evaluate(seen), "visible")
        self.browser.press("Escape")
        self.assertEqual(
            self.browser.evaluate("document.getElementById('menu').getAttribute('aria-expanded')"), "false"
        )

    def test_copy_button_copies_the_listing(self) -> None:
        self.open("tma_1d.html")
        copied = self.browser.evaluate(
            "(async () => { let got; document.execCommand = () => { got = document.activeElement.value; return true; };"
            "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (t) => { got = t; } } });"
            "const box = [...document.querySelectorAll('.listing')].find((b) => b.textContent.includes('__global__'));"
            "box.querySelector('.copy').click(); await new Promise((r) => setTimeout(r, 50)); return got; })()"
        )
        source = (tools.ROOT / "chapters/05_tma_1d/README.md").read_text("utf-8")
        self.assertIn(f"```cuda\n{copied}\n```", source)

    def test_copy_button_of_output_copies_the_command(self) -> None:
        self.open("tma_2d.html")
        copied = self.browser.evaluate(
            "(async () => { let got;"
            "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (t) => { got = t; } } });"
            "const box = [...document.querySelectorAll('.listing')].find((b) => b.textContent.startsWith('$ '));"
            "box.querySelector('.copy').click(); await new Promise((r) => setTimeout(r, 50)); return got; })()"
        )
        self.assertRegex(copied, r"^\./workbook run tma_2d [^\n]+$")

    def test_site_works_below_a_path_of_a_server(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "some").mkdir()
            (Path(directory) / "some/path").symlink_to(site())

            class Handler(http.server.SimpleHTTPRequestHandler):
                def log_message(self, *_: object) -> None:
                    pass

            server = http.server.ThreadingHTTPServer(
                ("127.0.0.1", 0), functools.partial(Handler, directory=directory)
            )
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            try:
                address = f"http://127.0.0.1:{server.server_address[1]}/some/path/"
                for name in ("", "swizzle.html", "files.html"):
                    self.assertEqual(self.browser.open(address + name), [], name)
                self.browser.evaluate("Search.ready()")
                self.assertTrue(self.browser.evaluate("Search.find('barrier').hits.length > 10"))
            finally:
                server.shutdown()
                server.server_close()


if __name__ == "__main__":
    unittest.main()
