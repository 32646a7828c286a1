"""Exercises and predictions on the chapters' pages: what is read from their files, and that nothing of it is missing."""

import itertools
import re
import unittest
from pathlib import Path

import tools
from cli import analyses, answers, chapters, exercises, holes, predictions, reasons
from cli.errors import UserError
from cli.predictions import Prediction

ROOT, WORKSPACE = tools.ROOT, tools.WORKSPACE
CHAPTERS = chapters.all_chapters(WORKSPACE)
EXERCISES = exercises.all_exercises(WORKSPACE)


def read(text: str) -> list[Prediction]:
    """Predictions of the first chapter, from a text in place of its file."""
    import tempfile

    from cli.workspace import Workspace

    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        place = root / "chapters" / CHAPTERS[0].directory
        place.mkdir(parents=True)
        (place / "predictions.toml").write_text(text, "utf-8")
        return predictions.of_chapter(Workspace(root, root / "build"), CHAPTERS[0])


ONE = """
[[prediction]]
name = "one"
question = "How many?"
kernel = "k"
number = {counter = "global_load_sectors"}
choices = [{number = 4}, {number = 16}]
why = "So."
"""


class Predictions(unittest.TestCase):
    def test_each_chapter_asks_in_its_text_and_in_an_exercise_and_each_question_has_one_place(self) -> None:
        for chapter in CHAPTERS:
            readme = (ROOT / "chapters" / chapter.directory / "README.md").read_text("utf-8")
            placed = re.findall(r"^<!-- predict: (\w+) -->$", readme, re.MULTILINE)
            asked = predictions.of_chapter(WORKSPACE, chapter)
            with self.subTest(chapter=chapter.name):
                self.assertEqual(sorted(placed), sorted(each.name for each in asked if not each.exercise))
                self.assertGreaterEqual(len(placed), 2)
                of_exercises = [each.exercise for each in asked if each.exercise]
                self.assertGreaterEqual(len(of_exercises), 1)
                self.assertLessEqual(set(of_exercises), {each.name for each in EXERCISES if each.chapter == chapter})

    def test_one_answer_to_an_exercise_is_right_by_the_list_that_its_judge_is_tested_with(self) -> None:
        for chapter in CHAPTERS:
            for asked in predictions.of_chapter(WORKSPACE, chapter):
                if not asked.exercise:
                    continue
                exercise = exercises.resolve(asked.exercise, EXERCISES)
                known = {each.what: not each.says for each in answers.answers(exercise.name, exercise.solution(WORKSPACE).read_text("utf-8"))}
                known |= {"solution": True, "skeleton": False}
                with self.subTest(prediction=asked.name):
                    self.assertEqual(sum(known[run.name] for run in asked.runs()), 1)

    def test_what_is_right_is_what_came_out(self) -> None:
        (number,) = read(ONE)
        self.assertEqual([number.right([value]) for value in (4, 15.8, 10)], [[0], [1], []])
        (close,) = read(ONE.replace("{number = 4}, {number = 16}", "{number = 48048}, {number = 47740}"))
        self.assertEqual([close.right([value]) for value in (48048, 47740, 48000)], [[0], [1], [0, 1]], "an exact choice wins")
        (finding,) = read(ONE.replace("number = {", "#").replace("[{number = 4}, {number = 16}]", '[{finding = "", says = "a"}, {finding = "deadlock", says = "b"}]'))
        self.assertEqual([finding.right([value]) for value in ("", "deadlock", "race-shared")], [[0], [1], []])
        runs = ONE.replace('kernel = "k"\n', "").replace("number = {", "least = {").replace("[{number = 4}, {number = 16}]", '[{kernel = "a", says = "a"}, {kernel = "b", says = "b"}]')
        self.assertEqual([read(runs)[0].right(values) for values in ([1, 2], [2, 1], [1, 1])], [[0], [1], [0, 1]])
        self.assertEqual(read(runs.replace("least", "most"))[0].right([1, 2]), [1])

    def test_a_file_that_is_wrong_is_told_with_the_name_of_the_question(self) -> None:
        for wrong, said in (
            (ONE.replace("why = ", "how = "), "prediction 'one': missing or unknown: how, why"),
            (ONE.replace('kernel = "k"\n', ""), "is of one kernel or mistake"),
            (ONE.replace("{number = 16}", '{finding = "x", says = "y"}'), "choices that all have one of"),
            (ONE.replace('why = "So."', 'why = "So."\norder = "sideways"'), "order must be one of late, early, random"),
            (ONE + ONE, "there are two of this name"),
            ("[[prediction", "predictions.toml"),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(UserError, re.escape(said)):
                read(wrong)


class Analyses(unittest.TestCase):
    def test_each_solution_has_one_and_what_it_stands_on_exists(self) -> None:
        for exercise in EXERCISES:
            with self.subTest(exercise=exercise.name):
                analysis = analyses.of(WORKSPACE, exercise)
                self.assertTrue(analyses.LEAST <= analysis.words <= analyses.MOST, f"{analysis.words} words")
                known = {each.what for each in answers.answers(exercise.name, exercise.solution(WORKSPACE).read_text("utf-8"))}
                tried = set(analysis.evidence.get("tried", ()))
                self.assertTrue(tried)
                self.assertLessEqual(tried, known)
                others = {kind: values for kind, values in analysis.evidence.items() if kind != "tried"}
                text = reasons.Text(exercise.chapter.directory, Path(), Path())
                self.assertEqual([lack for kind, values in others.items() for value in values if (lack := reasons.lack(kind, value, text, ROOT))], [])

    def test_none_is_of_an_exercise_that_is_not_there(self) -> None:
        import tomllib

        for chapter in CHAPTERS:
            path = ROOT / "chapters" / chapter.directory / "solutions/analysis.toml"
            names = {each.name for each in EXERCISES if each.chapter == chapter}
            self.assertEqual(set(tomllib.loads(path.read_text("utf-8"))), names)


class OnThePage(unittest.TestCase):
    def sections(self, *, solutions: bool) -> dict[str, dict[str, str]]:
        tools.import_generator()
        from generator.build import rendered_pages

        rendered, _ = rendered_pages(ROOT, solutions=solutions)
        return {
            result.page.name: {section.label: section.html for section in result.sections if "-exercise-" in section.label}
            for result in rendered
            if result.page.chapter
        }

    def test_every_exercise_is_there_with_file_hints_solution_and_analysis(self) -> None:
        pages = self.sections(solutions=True)
        for exercise in EXERCISES:
            html = pages[exercise.chapter.name].pop(f"{exercise.chapter.name}-exercise-{exercise.name}")
            with self.subTest(exercise=exercise.name):
                self.assertEqual(html.count('<details class="hint">'), 3)
                self.assertIn("</details></details></details>", html)
                shown = re.findall(r'<div class="line( hole)?">(.*?)</div>', html.partition("</details>")[0])
                skeleton = holes.skeleton(exercise.solution(WORKSPACE).read_text("utf-8")).splitlines()
                code = itertools.dropwhile(lambda line: line.startswith("///"), skeleton)
                self.assertEqual(_text(shown), "\n".join(code).strip("\n").split("\n"))
                yours = [text for mark, text in shown if mark]
                self.assertEqual(bool(yours), any("//? " in line for line in exercise.solution(WORKSPACE).read_text("utf-8").splitlines()))
                solution = html.partition('<details class="solution">')[2]
                self.assertIn('class="line hole"', solution)
                self.assertIn('<div class="analysis"><p>', solution)
                self.assertNotIn("\x01", html)
        self.assertFalse([label for page in pages.values() for label in page])

    def test_the_list_of_exercises_leads_to_each_and_says_how_one_begins(self) -> None:
        tools.import_generator()
        from generator.build import rendered_pages

        rendered, _ = rendered_pages(ROOT)
        labels = {section.label for result in rendered for section in result.sections}
        for result in rendered:
            mine = [each for each in EXERCISES if each.chapter.number == result.page.chapter]
            if not mine:
                continue
            with self.subTest(chapter=result.page.name):
                above = next(section.html for section in result.sections if section.title == "Exercises")
                for exercise in mine:
                    label = f"{result.page.name}-exercise-{exercise.name}"
                    self.assertIn(f'<td><a href="#{label}"><code>{exercise.name}</code></a></td>', above)
                    html = next(section.html for section in result.sections if section.label == label)
                    self.assertIn(f"<code>./workbook check {exercise.name}</code> · your file: <code>workspace/{exercise.name}.cu</code></p>", html)
                self.assertEqual(above.count('<p class="exercise-begin">'), 1)
                self.assertEqual(set(re.findall(r'href="setup\.html#?([^"]*)"', above)), {"", "setup-systems"})
                self.assertIn("<code>./workbook site --serve</code>", above)
        self.assertIn("setup-systems", labels)

    def test_solutions_can_be_left_out(self) -> None:
        every = "".join(html for page in self.sections(solutions=False).values() for html in page.values())
        self.assertIn('class="hint"', every)
        self.assertNotIn('class="solution"', every)
        self.assertNotIn('class="analysis"', every)


def _text(shown: list[tuple[str, str]]) -> list[str]:
    from html import unescape

    return [unescape(re.sub(r"<[^>]*>", "", text)).replace("\xa0", "").rstrip() for _, text in shown]


if __name__ == "__main__":
    unittest.main()
