"""Predictions of two chapters in a browser: what the page says came out is what the native emulator says."""

import base64
import gzip
import json
import re
import tempfile
import time
import unittest
from pathlib import Path

import live_site
from live_site import CHAPTERS

ANSWER = """(async () => {
    const told = [];
    for (const question of hopperQuestions) {
        const { form, choices } = question;
        const marked = () => choices.map(choice => choice.classList.contains('right'));
        const answer = async number => {
            form.querySelectorAll('input')[number].checked = true;
            form.requestSubmit();
            await question.done;
            return form.querySelector('.predict-outcome').innerText;
        };
        question.button.focus();
        const first = await answer(0), right = marked(), again = await answer((right.indexOf(true) || 0));
        told.push({ name: form.dataset.prediction, right, first, again, open: question.why.open,
            note: question.note.closest('.predict-bar') !== null, focus: document.activeElement === question.button,
            marks: choices.map(choice => choice.querySelector('label .predict-mark')?.innerText ?? '') });
    }
    return JSON.stringify(told);
})()"""
"""Answers each question with its first choice, and then with the right one."""

ONE = """(async () => {
    const question = hopperQuestions[0];
    question.form.querySelectorAll('input')[0].checked = true;
    question.form.requestSubmit();
    await question.done;
    return question.outcome.innerText;
})()"""


class Predictions(unittest.TestCase):
    """Needs what Listings needs, the chapters' mistakes, the judges of their questions, and the replay program."""

    @classmethod
    def setUpClass(cls) -> None:
        from cli import chapters, live_predictions, requirements, setup

        cls.html, cls.browser = live_site.made()
        workspace = live_site.workspace()
        known = [each for each in chapters.all_chapters(workspace) if each.name in CHAPTERS]
        with tempfile.TemporaryDirectory() as kept:
            live_predictions.add_chapters(workspace, setup.known(workspace, requirements.CHAPTERS), cls.html, known, Path(kept))
        cls.asked = {each.name: cls.questions(workspace, each) for each in known}

    @classmethod
    def questions(cls, workspace, chapter) -> dict[str, list[int]]:
        """Of each of the chapter's questions, which choices are right by what the native emulator measured."""
        from cli import predictions

        text = (cls.html / f"live/{chapter.name}_predictions.js").read_text("ascii")
        data = json.loads(gzip.decompress(base64.b64decode(re.search(r'"(.*)"', text)[1])))["questions"]
        return {each.name: each.right(data[each.name]["measured"]) for each in predictions.of_chapter(workspace, chapter)}

    def open(self, name: str) -> None:
        self.assertEqual(self.browser.open((self.html / name).as_uri()), [])

    def away(self, name: str) -> None:
        """Takes a file of the site away until the test is over."""
        file, aside = self.html / name, self.html / f"{name}.aside"
        file.rename(aside)
        self.addCleanup(aside.rename, file)

    def test_the_page_says_what_the_native_emulator_says(self) -> None:
        for chapter, asked in self.asked.items():
            self.open(f"{chapter}.html")
            told = json.loads(self.browser.evaluate(ANSWER))
            self.assertEqual(self.browser.problems(), [])
            self.assertEqual({each["name"] for each in told}, set(asked))
            for each in told:
                with self.subTest(chapter=chapter, prediction=each["name"]):
                    self.assertEqual([i for i, right in enumerate(each["right"]) if right], asked[each["name"]])
                    self.assertIn("As you said." if each["right"][0] else "It came out otherwise.", each["first"])
                    self.assertIn("As you said.", each["again"])
                    self.assertNotIn("Nothing ran in this page", each["first"])
                    self.assertTrue(each["open"] and each["note"] and each["focus"])
                    for right, mark in zip(each["right"], each["marks"], strict=True):
                        self.assertEqual(mark.startswith("✓"), right)

    def test_progress_is_kept_shown_and_forgotten(self) -> None:
        self.open("tma_1d.html")
        self.browser.evaluate("localStorage.clear()")
        self.open("tma_1d.html")
        listed = "document.querySelector('#side a[data-chapter=tma_1d]').textContent"
        self.assertNotIn("predicted", self.browser.evaluate(listed))
        self.browser.evaluate(ONE)
        self.open("tma_1d.html")
        count = len(self.asked["tma_1d"])
        self.assertIn(f"1 of {count} predicted", self.browser.evaluate(listed))
        self.assertIn("You have answered this", self.browser.evaluate("hopperQuestions[0].note.textContent"))
        # Pages from file:// lie in processes of their own, and what one has kept reaches the next a moment later.
        for _ in range(20):
            self.open("index.html")
            card = self.browser.evaluate("document.querySelector('.card[data-chapter=tma_1d]').textContent")
            if "predicted" in card:
                break
            time.sleep(0.1)
        self.assertIn(f"1 of {count} predicted", card)
        self.browser.evaluate("document.querySelector('button.forget').click()")
        self.assertNotIn("predicted", self.browser.evaluate("document.body.innerText"))
        self.assertTrue(self.browser.evaluate("document.querySelector('button.forget').hidden"))

    def test_without_the_emulator_it_says_what_came_out_before(self) -> None:
        self.away("live/emulator_wasm.js")
        self.open("tma_1d.html")
        said = self.browser.evaluate(ONE)
        self.assertRegex(said, r"Nothing ran in this page \(the emulator could not be loaded.*\)\. This came out when the site was built:")
        self.assertIn("The emulator counts 24 ", said)
        marks = self.browser.evaluate("hopperQuestions[0].choices.map(choice => choice.classList.contains('right'))")
        self.assertEqual([i for i, right in enumerate(marks) if right], self.asked["tma_1d"]["copies_in_ptx"])

    def test_without_runs_it_says_which_command_answers(self) -> None:
        self.away("live/tma_1d_predictions.js")
        self.open("tma_1d.html")
        self.assertIn("python3 docs/predictions.py tma_1d says what comes out", self.browser.evaluate(ONE))
