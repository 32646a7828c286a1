"""One exercise whose answer is a kernel alone: its skeleton is current and fails for the stated reason; its solution and other
right answers pass in every order of completion; cheats are refused with words that say what was expected.

Usage: kernel_test.py NAME [Given|Answers]. The judge is built; kernels are compiled here, as for a learner.
"""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from cli.answers import answers  # noqa: E402
from cli import backend, compiling, exercises, holes, judging, verdict  # noqa: E402
from cli.judging import Outcome  # noqa: E402
from cli.requirements import Found  # noqa: E402
from cli.setup import Tools  # noqa: E402
from cli.workspace import Workspace  # noqa: E402

NAME = sys.argv[1]
ORDERS = ("late", "early", "random")
LEAST_CHEATS, LEAST_RIGHT = 3, 2


class KernelTest(unittest.TestCase):
    """What both parts use."""

    def setUp(self) -> None:
        self.workspace = Workspace.locate()
        self.exercise = exercises.resolve(NAME, exercises.all_exercises(self.workspace))
        self.tools = Tools({"nvcc": Found("", Path(os.environ["WORKBOOK_NVCC"]))})
        self.solution = self.exercise.solution(self.workspace).read_text("utf-8")
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="workbook kernel ")))

    def judged(self, text: str, orders: tuple[str, ...] = ORDERS) -> list[tuple[Outcome, str]]:
        """The outcome, and the verdict as one line, for each order of completion."""
        file = self.directory / f"{NAME}.cu"
        file.write_text(text, "utf-8")
        return self.judged_ptx(self.compiled(file), orders)

    def compiled(self, file: Path) -> Path:
        """The PTX of a file that must be right to the compilers."""
        ptx = file.with_suffix(".ptx")
        self.assertEqual(compiling.kernels(self.workspace, self.tools, self.exercise, file, ptx), [])
        return ptx

    def judged_ptx(self, ptx: Path, orders: tuple[str, ...] = ORDERS) -> list[tuple[Outcome, str]]:
        command = [self.exercise.judge(self.workspace), ptx]
        result = []
        for order in orders:
            outcome = judging.run(self.workspace, self.exercise, command, backend.Backend.EMULATOR, order=order)
            shown = verdict.render(self.exercise, outcome, "advice", self.workspace)
            self.assertLessEqual(len(shown.splitlines()), 24, shown)
            result.append((outcome, f"{order}: {' '.join(shown.split())}"))
        return result


class Given(KernelTest):
    """What the learner is given: the skeleton, and the solution in the end."""

    def test_skeleton_is_made_from_the_solution(self) -> None:
        skeleton = self.exercise.skeleton(self.workspace).read_text("utf-8")
        self.assertEqual(skeleton, holes.skeleton(self.solution))

    def test_skeleton_fails_for_the_stated_reason(self) -> None:
        for outcome, text in self.judged(holes.skeleton(self.solution), ("late",)):
            self.assertFalse(outcome.passed, text)
            self.assertIn(self.exercise.fails_with, text)

    def test_solution_passes(self) -> None:
        for outcome, text in self.judged(holes.solution(self.solution)):
            self.assertTrue(outcome.passed, f"{text} {outcome.diagnostic}")

    def test_solution_says_what_is_wanted(self) -> None:
        head = self.solution.splitlines()[:30]
        self.assertTrue(head[0].startswith(f"/// @file {NAME}.cu"), head[0])
        for word in ("Given", "Wanted"):
            self.assertTrue(any(line.startswith(f"/// {word}") for line in head), f"the head lacks '{word}'")


class Answers(KernelTest):
    """What the judge has to refuse, what it has to take, and what the compilers do with the solution."""

    def compiled_together(self, texts: list[str]) -> list[Path]:
        """Files beside their PTX. They begin with the same headers, read once for all. Where that fails, as a check does it."""
        files = [self.directory / str(number) / f"{NAME}.cu" for number, _ in enumerate(texts)]
        for file, text in zip(files, texts, strict=True):
            file.parent.mkdir()
            file.write_text(text, "utf-8")
        compiling.together(self.workspace, self.tools, self.exercise, {file: file.with_suffix(".ptx") for file in files})
        for file in files:
            if not file.with_suffix(".ptx").exists():
                self.compiled(file)
        return files

    def including_the_solution(self) -> str:
        """An answer that takes the solution over, and begins with the solution's headers."""
        path = os.path.relpath(self.exercise.solution(self.workspace), self.directory / "0")
        headers = re.findall(r"^#include .*\n", self.solution, re.MULTILINE)
        return f'{"".join(headers)}#define ANSWER "{path}"\n#include ANSWER\n'

    def test_solution_compiles_with_nvcc_too(self) -> None:
        source = os.path.relpath(self.exercise.solution(self.workspace), ROOT)
        command = compiling.nvcc_command(self.tools, self.exercise, source, self.directory / "nvcc.ptx")
        status, output, errors = compiling.finish(command, ROOT, dict(os.environ), compiling.SECONDS)
        self.assertEqual(status, 0, output + errors)

    def test_cheats_are_refused_and_right_answers_taken(self) -> None:
        known = answers(NAME, self.solution)
        self.assertGreaterEqual(sum(bool(answer.says) for answer in known), LEAST_CHEATS)
        self.assertGreaterEqual(sum(not answer.says for answer in known), LEAST_RIGHT)
        *files, including = self.compiled_together([*(answer.text for answer in known), self.including_the_solution()])
        with self.subTest(answer="includes the solution"):
            self.assertIn(f"/solutions/{NAME}.cu: that is the solution.", self.problem(including)[0])
        for answer, file in zip(known, files, strict=True):
            with self.subTest(answer=answer.what):
                self.assertEqual(self.problem(file), [])
                for outcome, text in self.judged_ptx(file.with_suffix(".ptx")):
                    self.assertEqual(outcome.passed, not answer.says, text)
                    self.assertIn(answer.says, text)

    def problem(self, file: Path) -> list[str]:
        """Why a file that the compiler took is no answer."""
        return compiling.cannot_be_used(self.workspace, self.exercise, file, file.with_suffix(".ptx"))


def main() -> int:
    load = unittest.defaultTestLoader
    parts = [Given, Answers] if len(sys.argv) < 3 else [{"Given": Given, "Answers": Answers}[sys.argv[2]]]
    suite = unittest.TestSuite(map(load.loadTestsFromTestCase, parts))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"[summary] {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
