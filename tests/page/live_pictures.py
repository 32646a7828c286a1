"""Pictures that run the emulator in the page: for formulas that nobody computed before, they show what Python computes."""

import json
import re
import unittest
from collections import Counter

import live_site

TRY = """(async (name, choices, text) => {
    const box = document.querySelector(`.picture[data-picture="${name}"]`), own = box.querySelector('.own');
    choices.forEach((value, at) => {
        const list = box.querySelectorAll('select')[at];
        list.value = value;
        list.dispatchEvent(new Event('change'));
    });
    own.querySelector('input').value = text;
    own.requestSubmit();
    const reply = own.querySelector('.reply');
    for (let i = 0; i < 500 && /^Running/.test(reply.textContent); ++i) await new Promise((done) => setTimeout(done, 10));
    const question = box.querySelector('.question'), before = box.querySelector('.readout').textContent;
    question.querySelector('input[type=number]') && (question.querySelector('input[type=number]').value = 7);
    if (/^It ran/.test(reply.textContent)) question.requestSubmit();
    [...box.querySelectorAll('button')].find((each) => each.textContent === 'To the end')?.click();
    return JSON.stringify([reply.textContent, before, box.querySelector('.readout').textContent,
        box.querySelectorAll('rect.wanted').length, box.querySelectorAll('rect.chosen').length, [...box.querySelectorAll('svg text')].map((each) => each.textContent)]);
})"""
"""Chooses, sends a formula, and answers 7: the reply, what is said before and after the answer, marks, and the words in the drawing."""

ELEMENTS = {
    "lane": lambda lane: lane,
    "lane * 5 % 32": lambda lane: lane * 5 % 32,
    "31 - lane": lambda lane: 31 - lane,
    "(lane & 0x3) << 3 | lane >> 2": lambda lane: (lane & 3) << 3 | lane >> 2,
    "lane / 4 * 7": lambda lane: lane // 4 * 7,
    "17": lambda lane: 17,
}
LAYOUTS = {
    "row * 128": lambda row: row * 128,
    "row * 132": lambda row: row * 132,
    "row * 128 ^ (row % 8) * 16": lambda row: row * 128 ^ (row % 8) * 16,
    "row * 64 + (row & 12) * 4": lambda row: row * 64 + (row & 12) * 4,
    "64": lambda row: 64,
}


class LivePictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.html, cls.browser = live_site.made()

    def tried(self, name: str, choices: list[object], text: str) -> list:
        return json.loads(self.browser.evaluate(f"{TRY}({json.dumps(name)}, {json.dumps(choices)}, {json.dumps(text)})"))

    def show(self, page: str) -> None:
        self.assertEqual(self.browser.open((self.html / page).as_uri()), [])

    def test_sectors_of_any_formula(self) -> None:
        self.show("sync_copy.html")
        for text, element in ELEMENTS.items():
            for size in (1, 4, 16):
                with self.subTest(text=text, size=size):
                    sectors = len({(size * element(lane) + byte) // 32 for lane in range(32) for byte in range(size)})
                    reply, before, said, marks, chosen, _ = self.tried("coalescing", [size, 2, 3], text)
                    self.assertIn("It ran.", reply)
                    self.assertNotIn("counts", before)
                    self.assertRegex(said, rf"The emulator, in this page, counts {sectors} sectors?\. You said {'so' if sectors == 7 else '7'}\.")
                    self.assertEqual((marks, chosen), (len({element(lane) for lane in range(32)}), sectors))
        self.assertEqual(self.browser.problems(), [])

    def test_turns_of_any_layout(self) -> None:
        self.show("swizzle.html")
        for text, place in LAYOUTS.items():
            for read, size in ((0, 4), (1, 16)):
                with self.subTest(text=text, size=size):
                    column, expected = [place(row) for row in range(32)], 0
                    for first in range(0, 32, 128 // size):
                        words = {at // 4 + word for at in column[first : first + 128 // size] for word in range(size // 4)}
                        expected += max(Counter(word % 32 for word in words).values())
                    reply, before, said, _, _, words = self.tried("bank_turns", [128, read], text)
                    if any(at % size for at in column):
                        self.assertIn(f"an element of {size} bytes must lie at a multiple of {size}", reply)
                        continue
                    self.assertIn("It ran.", reply)
                    self.assertNotIn("counted", before)
                    self.assertIn(f"counted: your layout: {expected}, 128-byte mode: ", said)
                    self.assertIn("You said so." if expected == 7 else "You said 7 for your layout.", said)
                    self.assertIn(f"{expected} wavefront{'' if expected == 1 else 's'}", words)
        self.assertEqual(self.browser.problems(), [])

    def test_what_is_no_formula_is_said_in_a_line(self) -> None:
        self.show("sync_copy.html")
        for text, words in (
            ("", "ends too soon"), ("lane *", "ends too soon"), ("(lane", "not closed"), ("lane lane", "an operator is missing"), ("warp", "‘warp’ cannot stand there"),
            ("alert(1)", "‘alert’ cannot stand there"), ("lane / (lane - lane)", "For lane 0 the formula has no value"), ("lane - 1", "For lane 0 the formula gives -1"),
            ("lane * 100", "For lane 11 the formula gives 1100: 0 to 1023"), ("1.5", "cannot stand there"),
        ):
            with self.subTest(text):
                reply, before, said, *_ = self.tried("coalescing", [4, 2, 3], text)
                self.assertIn(words, reply)
                self.assertEqual(before, said)

    def test_nothing_is_loaded_before_it_is_needed(self) -> None:
        self.show("swizzle.html")
        loaded = "[...document.scripts].some((each) => /emulator/.test(each.src))"
        self.assertFalse(self.browser.evaluate(loaded))
        self.tried("bank_turns", [128, 0], "row * 4")
        self.assertTrue(self.browser.evaluate(loaded))

    def test_a_site_without_the_emulator_says_so(self) -> None:
        file, aside = self.html / "live/emulator_worker.js", self.html / "live/emulator_worker.aside"
        file.rename(aside)
        self.addCleanup(aside.rename, file)
        self.show("swizzle.html")
        self.assertRegex(self.tried("bank_turns", [128, 0], "row * 4")[0], re.escape("This site was built without the emulator"))
