"""The lists of reasons: those of this book, and what is refused."""

import tempfile
import unittest
from pathlib import Path

from cli import chapters, reasons
from cli.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]

README = """# Chapter 1: a chapter
A copy must wait
for its bytes. `never` in code asks for nothing. This costs time; our guess is
that the bank is busy.

| a | b |
|---|---|
| it cannot be | fine |

```
because this is code
```
<!-- output: ./workbook run -->
it must be made by a program
<!-- end -->
"""

LIST = """
[[reason]]
sentence = "A copy must wait for its bytes."
source = "PTX ISA, 'cp.async'"
[[reason]]
sentence = "This costs time; our guess is"
guess = "count the cycles of one bank"
[[reason]]
sentence = "it cannot be"
test = "tests/a_test.cu: a case"
why = "the case would fail"
"""


class Lists(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.write("chapters/01_a/README.md", README)
        self.write("chapters/01_a/mistakes.cu", "__global__ void no_wait() {}")
        self.write("docs/pages/bibliography.md", "### PTX ISA\n")
        self.write("docs/measurements/h200.json", '{"claims": [{"id": "fast"}], "tables": {"ladder": {}}}')
        self.write("docs/measurements/h200_behaviour.md", "elects the lowest lane\n")
        self.write("tests/a_test.cu", 'TEST_CASE("a case of "\n          "two literals") {}')
        self.write("tests/chapters/a.sass", "kernel  LDS\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        reasons._file.cache_clear()
        reasons._measured.cache_clear()

    def look(self, listed: str) -> tuple[list[str], list[str]]:
        self.write("chapters/01_a/reasons.toml", listed)
        text = reasons.texts(self.root, ["01_a"])[0]
        return reasons.broken(text, self.root), reasons.uncovered(text)

    def test_a_complete_list_is_silent(self) -> None:
        self.assertEqual(self.look(LIST), ([], []))

    def test_each_sentence_with_a_trigger_is_wanted_once_and_nothing_else(self) -> None:
        broken, missing = self.look("")
        self.assertEqual(broken, [])
        self.assertEqual(len(missing), 3, missing)
        self.assertTrue(any("A copy must wait for its bytes." in sentence for sentence in missing))

    def test_what_an_entry_names_has_to_exist(self) -> None:
        for evidence, words in (
            ('source = "Manual of Nowhere"', "bibliography"),
            ('test = "tests/a_test.cu: another case"\nwhy = "w"', "has no case"),
            ('test = "tests/b_test.cu: a case"\nwhy = "w"', "no test file"),
            ('test = "tests/a_test.cu"\nwhy = "w"', "has no case"),
            ('claim = "slow"\nwhy = "w"', "no claim"),
            ('table = "rungs"\nwhy = "w"', "no table"),
            ('behaviour = "elects the highest"', "no record"),
            ('mistake = "no_fence"\nwhy = "w"', "no mistake"),
            ('sass = "other"\nwhy = "w"', "no entry"),
            ('counters = "kernel"\nwhy = "w"', "no entry"),
            ('plain = "x"', "says too little"),
            ('guess = "count the cycles"', "does not say 'our guess'"),
            ('claim = "fast"', "`why` has to say"),
            ('sauce = "PTX ISA"', "unknown field"),
            ('why = "w"', "it needs a sentence and one of"),
        ):
            with self.subTest(evidence=evidence):
                broken, _ = self.look(f'[[reason]]\nsentence = "A copy must wait"\n{evidence}\n')
                self.assertEqual(len(broken), 1, broken)
                self.assertIn(words, broken[0])

    def test_every_kind_is_taken_where_it_exists(self) -> None:
        for evidence in (
            'source = "PTX ISA, \'cp.async\'"',
            'test = "tests/a_test.cu: a case of two literals"\nwhy = "w"',
            'claim = "fast"\nwhy = "w"',
            'table = "ladder"\nwhy = "w"',
            'behaviour = "the lowest lane"',
            'mistake = "no_wait"\nwhy = "w"',
            'sass = "kernel"\nwhy = "w"',
        ):
            with self.subTest(evidence=evidence):
                self.assertEqual(self.look(f'[[reason]]\nsentence = "A copy must wait"\n{evidence}\n')[0], [])

    def test_a_sentence_that_is_gone_is_told(self) -> None:
        broken, _ = self.look('[[reason]]\nsentence = "A copy need not wait"\nplain = "advice to the reader"\n')
        self.assertIn("the text has no 'A copy need not wait'", broken[0])


class Book(unittest.TestCase):
    """This book's own lists."""

    def test_every_reason_stands_on_something(self) -> None:
        names = [c.directory for c in chapters.all_chapters(Workspace.locate())]
        for text in reasons.texts(ROOT, names):
            if not text.reasons:
                continue
            with self.subTest(text=text.name):
                self.assertEqual(reasons.broken(text, ROOT), [])
                self.assertEqual(reasons.uncovered(text), [])


if __name__ == "__main__":
    unittest.main()
