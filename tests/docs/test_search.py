"""The search: what people type and what comes first, what it costs, and how it is used by keyboard."""

import gzip
import json
import tomllib
import unittest
from pathlib import Path

import tools
from built_site import BrowserCase, site

HERE = Path(__file__).resolve().parent
MOST_BYTES = 150_000
"""Of the index, compressed."""


def index() -> dict:
    text = (site() / "search_index.js").read_text("utf-8")
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def fits(address: str, wanted: str) -> bool:
    """`page.html` and `page.html#section` are themselves, `page.html#` is any section, `*` any page of the API, `*#` any name."""
    if wanted.startswith("*"):
        return wanted[1:] in address
    return address.startswith(wanted) if wanted.endswith("#") else address == wanted


class Index(unittest.TestCase):
    def test_index_is_small(self) -> None:
        self.assertLess(len(gzip.compress((site() / "search_index.js").read_bytes(), 9)), MOST_BYTES)

    def test_every_address_of_the_index_is_there(self) -> None:
        from test_site import parsed

        found = index()
        names = {entries[at + 1] for _, entries in found["names"] for at in range(0, len(entries), 3)}
        self.assertLessEqual({"workbook::swizzled_address", "tma_1d::add_one_ptx"}, names)
        addresses = [(f"{found['pages'][page][0]}.html", f"{found['pages'][page][0]}-{label}" if label else "") for page, _, label in found["sections"]]
        addresses += [(file, entries[at + 2]) for file, entries in found["names"] for at in range(0, len(entries), 3)]
        for file, anchor in addresses:
            self.assertTrue((site() / file).exists(), file)
            self.assertTrue(not anchor or anchor in parsed(site() / file).names, f"{file}#{anchor}")

    def test_words_of_search_toml_that_lead_nowhere_are_an_error(self) -> None:
        tools.import_generator()
        from generator import search
        from generator.pages import Page, SiteError
        from generator.render import Rendered, Section
        from generator.doxygen import Names

        page = Rendered(Page(Path("x.md"), "x", "X", ""), [Section(text="a word")])
        with self.assertRaises(SiteError) as caught:
            search.index(tools.ROOT, [page], Names({}, []))
        self.assertIn("there is no section errors.html#errors-the-kernel-never-ends", str(caught.exception))


class Search(BrowserCase):
    def setUp(self) -> None:
        self.open("index.html")

    def find(self, queries: list[str]) -> list[list[str]]:
        self.browser.evaluate("Search.ready()")
        return self.browser.evaluate(
            f"{json.dumps(queries)}.map((query) => Search.find(query).hits.map((hit) => hit.address))"
        )

    def test_what_people_type_finds_what_they_look_for(self) -> None:
        expected = [
            (query, wanted)
            for group in tomllib.loads((HERE / "search.toml").read_text("utf-8")).values()
            for query, wanted in group.items()
        ]
        self.assertGreaterEqual(len(expected), 60)
        wrong = [
            f"{query}: {hits[:3]}"
            for (query, wanted), hits in zip(expected, self.find([query for query, _ in expected]), strict=True)
            if not hits or not any(fits(hits[0], each) for each in wanted)
        ]
        self.assertEqual(wrong, [])

    def test_page_and_index_take_words_apart_alike(self) -> None:
        tools.import_generator()
        from generator import search

        samples = sorted({match[0] for match in search._WORD.finditer((tools.ROOT / "README.md").read_text("utf-8"))})
        samples += ["cp.async.bulk.wait_group.read", "cuda::ptx::mbarrier_init", "__grid_constant__", "copied", "copies", "needed", "passes"]
        theirs = self.browser.evaluate(f"{json.dumps(samples)}.map((word) => Search.forms(word))")
        self.assertEqual(theirs, [list(dict.fromkeys(search.words(word))) for word in samples])

    def test_index_is_loaded_when_somebody_wants_to_search(self) -> None:
        loaded = "[...document.scripts].some((script) => script.src.includes('search_index'))"
        self.assertIs(self.browser.evaluate(loaded), False)
        self.browser.press("/")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "query")
        self.assertIs(self.browser.evaluate(loaded), True)

    def type(self, text: str) -> None:
        self.browser.evaluate("query.focus()")
        self.browser.evaluate(
            f"(async () => {{ query.value = {json.dumps(text)}; query.dispatchEvent(new Event('input'));"
            "for (let i = 0; i < 100 && !found.textContent; ++i) await new Promise((r) => setTimeout(r, 20));"
            "for (let i = 0; i < 100 && hits.querySelector('a[href*=tma_1d]') && !hits.querySelector('span'); ++i) await new Promise((r) => setTimeout(r, 20)); })()"
        )

    def test_hits_are_a_list_to_choose_from_by_keyboard(self) -> None:
        self.type("add_one_ptx")
        self.assertEqual(self.browser.evaluate("query.getAttribute('role')"), "combobox")
        self.assertEqual(self.browser.evaluate("query.getAttribute('aria-expanded')"), "true")
        self.browser.press("ArrowDown")
        self.assertEqual(self.text("#hits [aria-selected='true'] b"), "tma_1d::add_one_ptx")
        self.assertEqual(self.browser.evaluate("document.getElementById(query.getAttribute('aria-activedescendant')).ariaSelected"), "true")
        self.browser.press("ArrowUp")
        self.browser.press("Escape")
        self.assertEqual(self.browser.evaluate("query.getAttribute('aria-expanded')"), "false")
        self.assertIs(self.browser.evaluate("hits.hidden"), True)

    def test_words_are_marked_where_they_were_found(self) -> None:
        self.type("wait_group.read")
        marks = self.browser.evaluate("[...hits.children[0].querySelectorAll('mark')].map((mark) => mark.textContent)")
        self.assertIn("wait_group.read", marks)
        self.assertTrue(self.browser.evaluate("[...hits.querySelectorAll('span mark')].length > 3"))

    def test_nothing_found_is_said(self) -> None:
        self.type("zzzzqqqq")
        self.assertEqual(self.text("#found"), "Nothing found.")
        self.assertIs(self.browser.evaluate("hits.hidden"), True)


if __name__ == "__main__":
    unittest.main()
