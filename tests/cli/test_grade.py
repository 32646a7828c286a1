"""Grades of a room: whose files they are, and how they are shown. Nothing is compiled."""

import csv
import io
import re
import tempfile
import unittest
from pathlib import Path

from support import TreeTest

from cli import gradebook, grading
from cli.chapters import Chapter
from cli.errors import UsageError
from cli.exercises import Exercise
from cli.grading import MISSING, RIGHT, UNTOUCHED, WRONG, Learner, Mark, Room
from cli.judging import Outcome
from cli.records import Record


def exercise(name: str, chapter: str = "01_sync_copy") -> Exercise:
    return Exercise(name, name.title(), "fill", "", 5, ("a", "b", "c"), "", "", Chapter(chapter))


def learner(name: str, **marks: Mark) -> Learner:
    return Learner(name, {}, marks)


ONE, TWO = exercise("one"), exercise("two", "05_tma_1d")
ROOM = Room(
    (
        learner("ada", one=Mark(RIGHT, record=Record(checks=3, hints=1)), two=Mark(RIGHT)),
        learner("bob", one=Mark(WRONG, "out[3] should be 5 and is 6.", "result"), two=Mark(UNTOUCHED)),
        learner("eve", one=Mark(WRONG, "out[7] should be 1 and is 2.", "result")),
        learner("gus"),
        learner("zoe", one=Mark(WRONG, "race-shared in line 4", "run", "race-shared")),
    ),
    (ONE, TWO),
)


class Collected(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def put(self, *files: str) -> None:
        for file in files:
            (self.directory / file).parent.mkdir(parents=True, exist_ok=True)
            (self.directory / file).write_text("x", "utf-8")

    def collect(self, **more: list[str]) -> dict[str, list[str]]:
        found = grading.collect(self.directory, {"one": None}, **more)  # type: ignore[arg-type]
        return {entry.name: list(entry.files) for entry in found}

    def test_files_belong_to_their_directory(self) -> None:
        self.put("ada/one.cu", "ada/other.cu", "bob/workspace/one.cu", "bob/workspace/backups/one.cu")
        self.assertEqual(self.collect(), {"ada": ["one"], "bob": ["one"]})

    def test_those_without_a_file_are_there_too(self) -> None:
        self.put("ada/one.cu", "gus/other.cu", ".git/config")
        self.assertEqual(self.collect(), {"ada": ["one"], "gus": []})
        self.assertEqual(self.collect(names=["ada", "ida"]), {"ada": ["one"], "gus": [], "ida": []})

    def test_groups_of_learners_are_no_learners(self) -> None:
        self.put("morning/ada/one.cu", "evening/bob/one.cu")
        self.assertEqual(self.collect(), {"evening/bob": ["one"], "morning/ada": ["one"]})

    def test_files_without_a_learner(self) -> None:
        self.put("one.cu", "sub/other.cu")
        self.assertEqual(self.collect(), {"": ["one"]})

    def test_nothing_at_all_is_an_error(self) -> None:
        with self.assertRaisesRegex(UsageError, "no file that is named"):
            self.collect()
        with self.assertRaisesRegex(UsageError, "no directory"):
            grading.collect(self.directory / "nowhere", {})

    def test_a_list_of_names(self) -> None:
        file = self.directory / "names"
        file.write_text("# the room\nAda Lovelace\n\n  Bob \n", "utf-8")
        self.assertEqual(grading.roster(file), ["Ada Lovelace", "Bob"])
        with self.assertRaisesRegex(UsageError, "No such file"):
            grading.roster(self.directory / "nowhere")

    def test_links_and_giants_are_not_read(self) -> None:
        self.put("ada/one.cu")
        (self.directory / "link.cu").symlink_to(self.directory / "ada" / "one.cu")
        (self.directory / "large.cu").write_bytes(b" " * (2 << 20))
        self.assertIsNone(grading.unusable(self.directory / "ada" / "one.cu"))
        self.assertIn("is a link", grading.unusable(self.directory / "link.cu") or "")
        self.assertIn("larger", grading.unusable(self.directory / "large.cu") or "")
        self.assertIn("cannot be read", grading.unusable(self.directory / "gone.cu") or "")

    def test_attempts_come_from_the_progress_and_damage_is_noted(self) -> None:
        self.put("ada/one.cu")
        someone = grading.collect(self.directory, {"one": None})[0]  # type: ignore[dict-item]
        self.assertEqual(grading.read_records(someone), {})
        (self.directory / "ada" / "progress.toml").write_text("[one]\nchecks = 4\nhints = 2\n", "utf-8")
        self.assertEqual(grading.read_records(someone)["one"].checks, 4)
        self.assertEqual(someone.note, "")
        (self.directory / "ada" / "progress.toml").write_text("[one", "utf-8")
        self.assertEqual(grading.read_records(someone), {})
        self.assertIn("cannot be read", someone.note)


class Reasons(unittest.TestCase):
    def test_a_reason_is_one_line(self) -> None:
        found = {"name": "race-shared", "locations": [{"file": "a.cu", "line": 12, "role": "read"}]}
        for outcome, words in (
            (Outcome("run", ["x"], found), "race-shared in line 12"),
            (Outcome("result", ["Tried 1 element.", "out[0] is 3."]), "out[0] is 3."),
            (Outcome("compile", ['a.cu(3): error: identifier "x" is undefined', "  x"]),
             'does not compile: identifier "x" is undefined (line 3)'),
            (Outcome("compile", ["../b.cu:1:10: fatal error: x.h: No such file"]),
             "does not compile: x.h: No such file (line 1)"),
            (Outcome("compile", ["the file has a function `main`"]), "does not compile: the file has a function `main`"),
            (Outcome("passed"), ""),
        ):  # fmt: skip
            self.assertEqual(grading.reason(outcome), words)
        self.assertLessEqual(len(grading.reason(Outcome("run", ["x" * 500]))), 90)

    def test_equal_mistakes_with_other_numbers_are_one(self) -> None:
        self.assertEqual(
            list(grading.mistakes(ROOM, ONE)),
            [("out[3] should be 5 and is 6.", ["bob", "eve"]), ("race-shared in line 4", ["zoe"])],
        )


class Shown(unittest.TestCase):
    def test_the_table_has_everybody_and_why(self) -> None:
        text = gradebook.text(ROOM)
        for line in (
            "chapter  1 5  right  tries  hints",
            "ada      + +    2/2      3      1",
            "bob      x -    0/1      0      0",
            "gus      . .    0/0      0      0",
            "one           1      3        1      3      1",
            "    2 × out[3] should be 5 and is 6.: bob, eve",
            "Handed in nothing (1): gus",
        ):
            self.assertIn(line, text.splitlines())

    def test_a_full_room_fits_80_columns(self) -> None:
        sizes = (4, 4, 4, 3, 4, 3, 3, 3, 4)
        tasks = tuple(
            exercise(f"an_exercise_named_{n}_{m}", f"0{n}_chapter") for n, size in enumerate(sizes, 1) for m in range(size)
        )
        people = tuple(
            Learner(f"somebody with quite a long name {i}", {}, {e.name: Mark(WRONG, "y " * 45, record=Record("", 99, 3)) for e in tasks})
            for i in range(30)
        )  # fmt: skip
        lines = gradebook.text(Room(people, tasks)).splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertGreater(len(lines), 30 + 32)

    def test_one_learner_has_a_line_for_each_file(self) -> None:
        text = gradebook.text(Room((learner("", one=Mark(RIGHT), two=Mark(WRONG, "it ends")),), (ONE, TWO)))
        self.assertEqual(text, "  one  ok\n  two  wrong  it ends\n1 of 2 are right")

    def test_the_spreadsheet_has_a_row_for_each_learner_and_exercise(self) -> None:
        rows = list(csv.DictReader(io.StringIO(gradebook.as_csv(ROOM))))
        self.assertEqual(len(rows), 10)
        self.assertEqual((rows[0]["learner"], rows[0]["state"], rows[0]["tries"]), ("ada", RIGHT, "3"))
        self.assertEqual((rows[9]["learner"], rows[9]["state"]), ("zoe", MISSING))

    def test_no_cell_is_a_formula(self) -> None:
        room = Room((learner("=1+2", one=Mark(WRONG, "@x")),), (ONE,))
        row = next(csv.DictReader(io.StringIO(gradebook.as_csv(room))))
        self.assertEqual((row["learner"], row["reason"]), ("'=1+2", "'@x"))

    def test_the_page_shows_strangers_words_as_words_and_loads_nothing(self) -> None:
        room = Room((learner("<script>x</script>", one=Mark(WRONG, '"><img src=y onerror=z>')),), (ONE,))
        page = gradebook.as_html(room, "Grades of <b>")
        for word in ("<script", "<img", "<b>"):
            self.assertNotIn(word, page)
        self.assertEqual(re.findall(r"(?:src|href)=", re.sub(r"&lt;.*?&gt;|title=\"[^\"]*\"", "", page)), [])
        self.assertIn("Handed in nothing: nobody", page)


class Command(TreeTest):
    def test_what_the_user_does_wrong_is_one_line(self) -> None:
        self.assert_one_line(self.workbook("grade", "nowhere"), 2, "nowhere is no directory")
        self.assert_one_line(self.workbook("grade", ".", "--jobs", "0"), 2, "must be at least 1")
        self.assert_one_line(self.workbook("grade", ".", "--names", "gone"), 2, "gone: No such file")
