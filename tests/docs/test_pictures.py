"""The interactive pictures, used by mouse and by keyboard: what they say is compared with the program's numbers."""

import json
import re
import unittest

import tools
from built_site import BrowserCase


def data(name: str) -> dict:
    return json.loads((tools.ROOT / f"docs/site/data/{name}.json").read_text("utf-8"))


PAGES = {"tensor_box": "tma_2d.html", "swizzle": "swizzle.html"}

FIGURES_LOADED = """Promise.all([...document.querySelectorAll(".figure img")].map((image) => image.decode()))"""

SMALLEST_WORDS = """Math.min(...[...document.querySelectorAll(".picture svg text")].map((text) =>
    parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.clientWidth / text.ownerSVGElement.viewBox.baseVal.width),
    ...[...document.querySelectorAll(".figure img")].map((image) => 12 * image.clientWidth / image.naturalWidth))"""
"""In pixels. The smallest words of a figure are of 12 units, and its size is in units."""

CONTRAST_OF_BANKS = """(() => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number).slice(0, 3);
    const light = (rgb) => {
        const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const cells = [...document.querySelectorAll('%s rect.bank')].slice(0, 32), words = light(parse(getComputedStyle(cells[0].nextElementSibling).fill));
    const colours = cells.map((cell) => parse(getComputedStyle(cell).fill));
    const ratios = colours.map(light).map((ground) => (Math.max(words, ground) + 0.05) / (Math.min(words, ground) + 0.05));
    return [Math.min(...ratios), Math.hypot(...colours[0].map((part, n) => part - colours[31][n]))];
})()"""
"""The least contrast of a bank's number, and how far the colours of the first and the last bank are apart."""


class Pictures(BrowserCase):
    page: str

    def show(self, name: str, page: str) -> None:
        self.open(page)
        self.box = f'.picture[data-picture="{name}"]'

    def said(self) -> str:
        return self.text(f"{self.box} .readout")

    def numbers(self) -> list[int]:
        return [int(number) for number in re.findall(r"-?\d+", self.said())]

    def choose(self, number: int, value: object) -> None:
        self.browser.evaluate(
            f"(() => {{ const list = document.querySelectorAll('{self.box} select')[{number}];"
            f"list.value = {json.dumps(str(value))}; list.dispatchEvent(new Event('change')); }})()"
        )

    def press(self, *keys: str) -> None:
        self.browser.evaluate(f"document.querySelector('{self.box} svg').focus()")
        for key in keys:
            self.browser.press(key)

    def button(self, label: str) -> None:
        self.browser.evaluate(
            f"[...document.querySelectorAll('{self.box} button')].find((b) => b.textContent === {label!r}"
            f" || b.getAttribute('aria-label') === {label!r}).click()"
        )


class Swizzle(Pictures):
    def test_places_banks_and_passes_are_the_programs(self) -> None:
        self.show("swizzle", "swizzle.html")
        given = data("swizzle")
        for mode, offset, size, row, column in (
            (3, 0, 4, 5, 3),
            (0, 0, 4, 5, 3),
            (2, 128, 2, 7, 9),
            (1, 896, 16, 31, 1),
        ):
            with self.subTest(mode=mode, offset=offset, size=size):
                for number, value in enumerate((mode, size, offset)):
                    self.choose(number, value)
                self.press(
                    *["ArrowUp"] * 31, *["ArrowLeft"] * 63, *["ArrowDown"] * row, *["ArrowRight"] * column
                )
                layout = next(each for each in given["modes"][mode]["layouts"] if each["offset"] == offset)
                byte = column * size
                address = layout["chunks"][row][byte // 16] + byte % 16
                passes = layout["passes"][given["element_sizes"].index(size)][column]
                said = self.said()
                self.assertIn(f"Row {row}, column {column}:", said)
                self.assertIn(f"here at byte {address} ", said)
                first, wide = address // 4 % 32, max(1, size // 4)
                self.assertIn(f"banks {first} to {first + wide - 1}. " if wide > 1 else f"bank {first}. ", said)
                self.assertRegex(said, rf"reads column {column} needs {passes} pass(es)?;")

    def test_pointing_at_an_element_chooses_it_and_shows_its_conflicts(self) -> None:
        self.show("swizzle", "swizzle.html")
        self.choose(0, 0)
        self.browser.evaluate(
            f"document.querySelectorAll('{self.box} rect.bank')[32 * 2 + 4].dispatchEvent(new MouseEvent('mouseenter'))"
        )
        self.assertIn("Row 2, column 4:", self.said())
        self.assertIn("needs 32 passes", self.said())
        clash = f"document.querySelectorAll('{self.box} .clash').length"
        self.assertEqual(self.browser.evaluate(clash), 32)


    def test_banks_can_be_read_and_told_apart_in_light_and_dark(self) -> None:
        for dark in (False, True):
            self.show("swizzle", "swizzle.html")
            self.browser.shape(1280, dark=dark)
            self.browser.evaluate(f"document.documentElement.classList.toggle('dark-mode', {json.dumps(dark)})")
            least, apart = self.browser.evaluate(CONTRAST_OF_BANKS % self.box)
            self.assertGreaterEqual(least, 4.5, f"dark: {dark}")
            self.assertGreaterEqual(apart, 60, f"dark: {dark}: banks 0 and 31")


class Phone(Pictures):
    def test_words_of_pictures_and_figures_are_of_11_pixels_at_least(self) -> None:
        for name, page in PAGES.items():
            self.open(page, width=390)
            self.browser.evaluate(FIGURES_LOADED)
            self.assertGreaterEqual(self.browser.evaluate(SMALLEST_WORDS), 11, name)

    def test_box_is_in_sight_when_the_page_opens(self) -> None:
        self.open("tma_2d.html", width=390)
        seen = self.browser.evaluate(
            """(() => {
                const part = document.querySelector(".picture .box").getBoundingClientRect(), whole = document.querySelector(".picture .drawing");
                const { left, right } = whole.getBoundingClientRect();
                return [part.left >= left, part.right <= right,
                    [...whole.querySelectorAll(".faint")].every((words) => words.getBoundingClientRect().left >= left)];
            })()"""
        )
        self.assertEqual(seen, [True, True, True])

    def test_nothing_below_a_picture_jumps(self) -> None:
        for name, page in PAGES.items():
            for width in (390, 1280):
                self.open(page, width=width)
                self.box = f'.picture[data-picture="{name}"]'
                self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")
                height = f"document.querySelector('{self.box}').offsetHeight"
                heights = {self.browser.evaluate(height)}
                if name == "tensor_box":
                    for key in (*["ArrowLeft"] * 4, *["ArrowUp"] * 7, *["ArrowRight"] * 4):
                        self.press(key)
                        heights.add(self.browser.evaluate(height))
                self.assertEqual(len(heights), 1, f"{name} at {width}: {heights}")


class TensorBox(Pictures):
    def test_what_cannot_be_stored_was_not_stored(self) -> None:
        self.show("tensor_box", "tma_2d.html")
        self.button("Store the box")
        self.press(*["ArrowLeft"] * 4)
        self.assertIn("must not begin before the matrix", self.said())
        state = f"(() => {{ const store = [...document.querySelectorAll('{self.box} button')].at(-1); return [store.textContent, store.disabled]; }})()"
        self.assertEqual(self.browser.evaluate(state), ["Store the box", True])
        self.press("ArrowRight")
        self.assertEqual(self.browser.evaluate(state), ["Store the box", False])

    def test_box_brings_counts_and_stores_what_the_program_saw(self) -> None:
        self.show("tensor_box", "tma_2d.html")
        given = data("tensor_box")
        for keys in (
            (),
            ("ArrowLeft",) * 9 + ("ArrowUp",) * 20,
            ("ArrowDown",) * 3,
            ("ArrowRight",) * 2,
            ("ArrowDown",) * 20,
        ):
            self.press(*keys)
            x, y, *_ = self.numbers()
            corner = next(each for each in given["corners"] if (each["x"], each["y"]) == (x, y))
            inside = sum(
                0 <= x + i < given["width"] and 0 <= y + j < given["height"]
                for j in range(given["box_height"])
                for i in range(given["box_width"])
            )
            self.assertIn(f"{inside} of 32 elements", self.said())
            self.assertIn(f"{corner['tile'].count(0)} are filled with zeros", self.said())
            self.assertIn(f"counts {given['counted_bytes']} bytes", self.said())
            if corner["memory"] is None:
                self.assertIn("must not begin before the matrix", self.said())
                continue
            changed = [at for at, value in enumerate(corner["memory"]) if value != given["memory"][at]]
            padding = sum(at % given["pitch"] >= given["width"] for at in changed)
            self.assertIn(
                f"changes {len(changed) - padding} elements and {padding} words of padding", self.said()
            )

    def test_store_shows_the_memory_after_it(self) -> None:
        self.show("tensor_box", "tma_2d.html")
        x, y, *_ = self.numbers()
        corner = next(each for each in data("tensor_box")["corners"] if (each["x"], each["y"]) == (x, y))
        self.button("Store the box")
        texts = self.browser.evaluate(
            f"[...document.querySelectorAll('{self.box} text')].map((t) => t.textContent)"
        )
        stored = [value for value in corner["memory"] if value >= 1000]
        self.assertTrue(stored)
        self.assertLessEqual({str(value) for value in stored}, set(texts))
        self.button("Before the store")
        texts = self.browser.evaluate(
            f"[...document.querySelectorAll('{self.box} text')].map((t) => t.textContent)"
        )
        self.assertFalse(any(re.fullmatch(r"1\d{3}", text) for text in texts))

    def test_buttons_move_the_box(self) -> None:
        self.show("tensor_box", "tma_2d.html")
        x, y, *_ = self.numbers()
        self.button("box to the left")
        self.button("box up")
        self.assertEqual(self.numbers()[:2], [x - 4, y - 1])


if __name__ == "__main__":
    unittest.main()
