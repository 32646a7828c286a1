"""The two groups of tests: what a call runs, that both together are all, and that .ci/run runs each test once."""

import io
import json
import os
import re
import shlex
import tempfile
import unittest
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from cli import build, main, results
from cli.commands import test as test_command
from cli.errors import UsageError
from cli.workspace import Workspace
from support import ROOT

Test = dict[str, Any]


def chosen(words: list[str], tests: list[Test], workspace: Workspace) -> list[str]:
    """The names of the tests that `./workbook WORDS` runs."""
    return [test["name"] for test in test_command.chosen_by(main.parse(words), tests, workspace)]


class Choice(unittest.TestCase):
    tests: list[Test] = [
        {"name": "tma_1d", "suite": ["chapters"]},
        {"name": "tma_1d_bench", "suite": ["bench", "project"]},
        {"name": "cli", "suite": ["cli", "project"]},
    ]

    def chosen(self, *words: str) -> list[str]:
        with tempfile.TemporaryDirectory() as directory:
            (list_file := Path(directory) / "chapters/meson.build").parent.mkdir()
            list_file.write_text("chapter_names = ['05_tma_1d']\n", "utf-8")
            return chosen(["test", *words], self.tests, Workspace(Path(directory), Path(directory) / "build"))

    def test_without_a_name_the_projects_own_are_left_out(self) -> None:
        self.assertEqual(self.chosen(), ["tma_1d"])
        self.assertEqual(self.chosen("--backend", "emulator"), ["tma_1d"])

    def test_all_means_all(self) -> None:
        self.assertEqual(self.chosen("--all"), ["tma_1d", "tma_1d_bench", "cli"])

    def test_a_name_finds_tests_of_both_groups(self) -> None:
        self.assertEqual(self.chosen("5"), ["tma_1d", "tma_1d_bench"])
        self.assertEqual(self.chosen("cli"), ["cli"])
        self.assertEqual(self.chosen("project"), ["tma_1d_bench", "cli"])
        with self.assertRaises(UsageError):
            self.chosen("nosuch")


class LastLines(unittest.TestCase):
    def said(self, left_out: list[Test], *others: results.Outcome) -> list[str]:
        totals = results.Totals()
        for outcome in (*others, results.Outcome("tma_1d", 16, 0, 0)):
            totals.add(outcome)
        with redirect_stdout(io.StringIO()) as said:
            test_command._report(totals, left_out)
        return said.getvalue().splitlines()

    def test_they_say_how_many_were_left_out_and_how_to_run_them(self) -> None:
        *_, left_out, total = self.said(Choice.tests[1:])
        self.assertEqual(total, "16 passed, 0 failed, 0 skipped")
        self.assertRegex(left_out, r"^left out: 2 tests of .*'\./workbook test --all' runs them too$")

    def test_where_nothing_was_left_out_they_say_nothing(self) -> None:
        self.assertFalse(any("left out" in line for line in self.said([])))

    def test_what_failed_stands_right_above_the_total(self) -> None:
        failed = results.Outcome("cli", 3, 1, 0, output=("cli: FAIL", "FAIL: test_x (test_y.Z)"))
        lines = self.said(Choice.tests[1:], failed)
        self.assertEqual(
            lines[-3:], ["  cli: FAIL", "  FAIL: test_x (test_y.Z)", "19 passed, 1 failed, 0 skipped"]
        )


class Build(unittest.TestCase):
    """The tests that there really are: Meson's list of them, in the build that this test belongs to."""

    def setUp(self) -> None:
        if not os.environ.get("TESTED_BUILD"):
            self.skipTest("needs a configured build: './workbook test cli' has one")
        self.workspace = Workspace(ROOT, Path(os.environ["TESTED_BUILD"]))
        self.tests = test_command.known_tests(self.workspace)

    def chosen(self, *words: str) -> list[str]:
        return chosen(["test", *words], self.tests, self.workspace)

    def test_both_groups_are_all_tests_and_share_none(self) -> None:
        plain, project, everything = self.chosen(), self.chosen("project"), self.chosen("--all")
        self.assertEqual(Counter(everything), Counter(test["name"] for test in self.tests))
        self.assertEqual(Counter(plain) + Counter(project), Counter(everything))
        self.assertEqual(set(everything), {*plain, *project})
        self.assertEqual([name for name, times in Counter(everything).items() if times > 1], [])
        self.assertTrue(plain and project)

    def test_ci_runs_each_test_once(self) -> None:
        text = (ROOT / ".ci" / "run").read_text("utf-8")
        calls = [shlex.split(call)[1:] for call in re.findall(r"^(?:tests )(\./workbook test\b.*)$", text, re.MULTILINE)]
        self.assertIn(["test"], calls)  # The README's command as it stands there, on the clone as it is.
        run = Counter(name for call in calls for name in chosen(call, self.tests, self.workspace))
        self.assertEqual(run, Counter(test["name"] for test in self.tests))

    def test_everything_is_built_that_a_test_of_either_group_needs(self) -> None:
        """Ninja's default leaves out what one test alone needs: Meson runs the tests with --no-rebuild."""
        for words in ([], ["--all"], [test_command.PROJECT]):
            options = main.parse(["test", *words])
            wanted = test_command.targets(options, test_command.chosen_by(options, self.tests, self.workspace), self.workspace)
            needed = test_command.needs([t for t in self.tests if t["name"] in self.chosen(*words)], self.workspace)
            self.assertEqual(set(needed) - set(wanted), set(), words)
            self.assertEqual(build.DEFAULT in wanted, bool(words))

    def test_programs_mistakes_and_exercises_are_in_the_plain_group(self) -> None:
        plain = set(self.chosen())
        for test in self.tests:
            if {"chapters", "mistakes"} & set(test["suite"]):
                self.assertIn(test["name"], plain)
            if test["name"].endswith("_answers"):
                self.assertIn(test["name"].removesuffix("_answers"), plain)
        self.assertIn("journey", plain)

    def test_of_the_emulator_a_few_tests_are_in_the_plain_group(self) -> None:
        plain = {test["name"] for test in self.tests if {"emulator", "hardware"} & set(test["suite"])} & set(self.chosen())
        kinds = ("language", "launch", "memory")
        self.assertEqual(
            plain,
            {"hardware_differential", "emulator_example_embed", "emulator_example_listen"}
            | {f"emulator_cuda_{kind}" for kind in kinds},
        )

    def test_plain_tests_need_nothing_that_only_the_project_needs(self) -> None:
        plain = [test for test in self.tests if test_command.PROJECT not in test["suite"]]
        targets = json.loads((self.workspace.build / "meson-info" / "intro-targets.json").read_text("utf-8"))
        all_files = {file for target in targets if target["build_by_default"] for file in target["filename"]}
        built = {str(self.workspace.build / file) for file in test_command.needs(plain, self.workspace)}
        for part in ("_bench", "pairs_", "tests/headers/", "/faults", "/emulator_checks", "/emulator_scalar", "/device_library"):
            self.assertTrue(any(part in file for file in all_files), part)
            self.assertFalse(any(part in file for file in built), part)


if __name__ == "__main__":
    unittest.main()
