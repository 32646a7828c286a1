"""The interactive pictures, used by mouse and by keyboard: what they say is compared with the program's numbers."""

import json
import re

import tools
from built_site import BrowserCase


def data(name: str) -> dict:
    return json.loads((tools.ROOT / f"docs/site/data/{name}.json").read_text("utf-8"))


FIGURES_LOADED = """Promise.all([...document.querySelectorAll(".figure img")].map((image) => image.decode()))"""

_PICTURES = """...[...document.querySelectorAll(".picture svg text")].map((text) =>
    parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.clientWidth / text.ownerSVGElement.viewBox.baseVal.width)"""
_FIGURES = """...[...document.querySelectorAll(".figure img")].map((image) => 12 * image.clientWidth / image.naturalWidth)"""
SMALLEST_OF_PICTURES = f"Math.min({_PICTURES})"
"""In pixels."""
SMALLEST_WORDS = f"Math.min({_PICTURES}, {_FIGURES})"
"""In pixels. The smallest words of a figure are of 12 units, and its size is in units."""


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

    def ask_first(self, wanted: bool) -> None:
        box = f"document.querySelector('{self.box} .question input[type=checkbox]')"
        self.browser.evaluate(f"{box}.checked === {json.dumps(wanted)} || {box}.click()")

    def count(self, selector: str) -> int:
        return int(self.browser.evaluate(f"document.querySelectorAll('{self.box} {selector}').length"))

    def texts(self, selector: str) -> list[str]:
        return list(self.browser.evaluate(f"[...document.querySelectorAll('{self.box} {selector}')].map((t) => t.textContent)"))

    def height(self) -> int:
        return int(self.browser.evaluate(f"document.querySelector('{self.box}').offsetHeight"))


class Phone(Pictures):
    def test_words_of_pictures_and_figures_are_of_11_pixels_at_least(self) -> None:
        tools.import_generator()
        from generator.pages import chapter_directories

        for chapter in chapter_directories(tools.ROOT):
            self.open(f"{chapter[3:]}.html", width=390)
            self.browser.evaluate(FIGURES_LOADED)
            self.assertGreaterEqual(self.browser.evaluate(SMALLEST_WORDS), 11, chapter)
