"""The interactive pictures of chapters 1 to 4: what they show is compared with what is computed here, in another way."""

import json
import unittest

import tools
from browser import Browser
from built_site import site
from cli import requirements
from test_access import violations
from test_pictures import Pictures, data

PAGES = {"sync_copy.html": ("coalescing",)}
"""Each page with its pictures."""


SMALLEST_WORDS = """Math.min(...[...document.querySelectorAll(".picture svg text")].map((text) =>
    parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.clientWidth / text.ownerSVGElement.viewBox.baseVal.width))"""
"""In pixels."""


def setUpModule() -> None:
    First.browser = Browser(tools.need(requirements.BROWSER)).__enter__()
    unittest.addModuleCleanup(First.browser.__exit__, None, None, None)


class First(Pictures):
    """Tests that share one browser with all others of this file."""

    @classmethod
    def setUpClass(cls) -> None:
        pass

    def answer(self, value: object) -> None:
        """Types a number, or presses the button with these words."""
        form = f"document.querySelector('{self.box} .question')"
        if isinstance(value, str):
            self.browser.evaluate(f"[...{form}.querySelectorAll('button')].find((b) => b.textContent === {value!r}).click()")
        else:
            self.browser.evaluate(f"{form}.querySelector('input[type=number]').value = {value}; {form}.requestSubmit()")

    def ask_first(self, wanted: bool) -> None:
        box = f"document.querySelector('{self.box} .question input[type=checkbox]')"
        self.browser.evaluate(f"{box}.checked === {json.dumps(wanted)} || {box}.click()")

    def count(self, selector: str) -> int:
        return int(self.browser.evaluate(f"document.querySelectorAll('{self.box} {selector}').length"))

    def texts(self, selector: str) -> list[str]:
        return list(self.browser.evaluate(f"[...document.querySelectorAll('{self.box} {selector}')].map((t) => t.textContent)"))

    def height(self) -> int:
        return int(self.browser.evaluate(f"document.querySelector('{self.box}').offsetHeight"))


def sectors(size: int, offset: int, stride: int) -> int:
    """The sectors of 32 bytes in which any byte of 32 elements lies."""
    return len({(size * (offset + lane * stride) + byte) // 32 for lane in range(32) for byte in range(size)})


class Coalescing(First):
    def test_emulator_counted_what_the_addresses_say(self) -> None:
        for size, rows in data("coalescing")["sectors"].items():
            for offset, row in enumerate(rows):
                self.assertEqual(row, [sectors(int(size), offset, stride) for stride in range(9)], f"{size} {offset}")

    def test_answer_shows_the_sectors(self) -> None:
        for width in (1280, 390):
            self.open("sync_copy.html", width=width)
            self.box = '.picture[data-picture="coalescing"]'
            self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")
            heights = {self.height()}
            for size, stride, offset in ((4, 1, 1), (4, 4, 0), (16, 8, 7), (1, 0, 3), (8, 3, 5)):
                for number, value in enumerate((size, stride, offset)):
                    self.choose(number, value)
                self.assertEqual((self.count("rect.chosen"), self.texts("svg .count")), (0, []))
                self.assertNotIn("counts", self.said())
                self.answer(5)
                expected = sectors(size, offset, stride)
                self.assertEqual(self.count("rect.chosen"), expected)
                self.assertEqual(sum(int(text) for text in self.texts("svg .count")), expected)
                self.assertEqual(self.count("rect.wanted"), 32 if stride else 1)
                self.assertRegex(self.said(), rf"The emulator counts {expected} sectors?\. You said {'so' if expected == 5 else '5'}\.")
                self.assertIn(f"{32 * expected} bytes move, and {size * (32 if stride else 1)} of them", self.said())
                heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)

    def test_kernels_of_the_chapter_need_no_question(self) -> None:
        self.show("coalescing", "sync_copy.html")
        self.ask_first(False)
        for kernel, expected in (("loop_coalesced", 4), ("loop_strided", 16), ("vectorized", 16)):
            self.button(kernel)
            self.assertIn(f"counts {expected} sectors. {32 * expected} bytes move", self.said())


class Everybody(First):
    """Who can use them."""

    def test_axe_sees_no_barrier_and_words_can_be_read_on_a_phone(self) -> None:
        axe = tools.need(requirements.AXE).read_text("utf-8")
        for page, names in PAGES.items():
            for width, dark in ((1280, False), (390, True)):
                self.browser.shape(width, dark=dark)
                self.assertEqual(self.browser.open((site() / page).as_uri()), [])
                self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('.picture')].map((p) => p.dataset.picture)"), list(names))
                self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")
                self.assertGreaterEqual(self.browser.evaluate(SMALLEST_WORDS), 11, page)
                self.assertEqual(violations(self.browser, axe, "'.picture'"), [], f"{page} {width}")


if __name__ == "__main__":
    unittest.main()
