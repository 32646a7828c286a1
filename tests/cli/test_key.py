"""The answer key: everything of every exercise is in it, in both formats."""

import re
import unittest

from support import ROOT, TreeTest
from test_learner import MANIFEST, SOLUTION

from cli import answer_key, exercises
from cli.workspace import Workspace

HERE = Workspace(ROOT, ROOT / "build")


class Real(unittest.TestCase):
    def setUp(self) -> None:
        self.known = exercises.all_exercises(HERE)
        self.entries = answer_key.entries(HERE, self.known)

    def test_every_exercise_has_its_parts_in_both_formats(self) -> None:
        markdown, page = answer_key.as_markdown(self.entries), answer_key.as_html(self.entries)
        for entry in self.entries:
            name = entry.exercise.name
            self.assertIn(f"### `{name}`: ", markdown)
            self.assertIn(f'<h3 id="{name}">', page)
            for word in (entry.exercise.task, entry.exercise.learned, *entry.analysis, *entry.exercise.hints, *(says for _, says in entry.wrong)):
                self.assertIn(word, markdown, name)
            self.assertRegex(entry.difference, r"(?m)^\+", name)
            self.assertNotIn("//@", entry.difference)
        self.assertGreaterEqual(sum(len(entry.wrong) for entry in self.entries), 1)

    def test_the_page_is_whole_and_needs_nothing(self) -> None:
        page = answer_key.as_html(self.entries)
        self.assertEqual(re.findall(r'(?:src|href)="', page), [])
        for tag in ("dl", "dd", "pre", "ul", "span", "code"):
            self.assertEqual(len(re.findall(rf"<{tag}[ >]", page)), page.count(f"</{tag}>"), tag)


class Command(TreeTest):
    def setUp(self) -> None:
        super().setUp()
        place = self.tree / "chapters" / "01_sync_copy"
        for name in ("exercises", "solutions"):
            (place / name).mkdir()
        (place / "exercises" / "exercises.toml").write_text(MANIFEST, "utf-8")
        (place / "solutions" / "add_one.cu").write_text(SOLUTION, "utf-8")
        (place / "solutions" / "analysis.toml").write_text('[add_one]\ntext = "It is\\nright."\n', "utf-8")
        self.assertEqual(self.workbook("exercises", "--generate").returncode, 0)
        self.answers = self.tree / "tests" / "exercises" / "answers"
        self.answers.mkdir(parents=True)
        (self.answers / "add_one.toml").write_text(
            '[[cheat]]\nwhat = "by a loop"\nholes = ["x"]\nsays = "one <more> than"\n[[right]]\nwhat = "twice a half"\n', "utf-8"
        )

    def test_wrong_and_other_right_answers_are_in_it(self) -> None:
        text = self.workbook("key").stdout
        for line in ("**Why the solution is one:** It is right.", "**Wrong answers:** by a loop: “one <more> than”", "**Right as well:** twice a half", "+    right();", "-    // YOUR CODE: call it."):
            self.assertIn(line, text.splitlines())

    def test_the_name_chooses_the_format(self) -> None:
        self.assertEqual(self.workbook("key", "a.html").stdout, "a.html: answers to 1 exercises\n")
        self.assertIn("one &lt;more&gt; than", (self.tree / "a.html").read_text("utf-8"))
        self.assertEqual(self.workbook("key", "a.md").returncode, 0)
        self.assertIn("# Answers", (self.tree / "a.md").read_text("utf-8"))
        self.assert_one_line(self.workbook("key", "a.pdf"), 2, "a.pdf", ".html or .md")
        self.assert_one_line(self.workbook("key", "no/a.md"), 1, "cannot write no/a.md")

    def test_damaged_answers_are_one_line(self) -> None:
        (self.answers / "add_one.toml").write_text("[[cheat", "utf-8")
        self.assert_one_line(self.workbook("key"), 1, "add_one.toml")
