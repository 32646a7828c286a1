"""One exercise: its skeleton is current, compiles and fails for the stated reason; its solution passes; its cheat fails.

Usage: exercise_test.py NAME SKELETON_PROGRAM SOLUTION_PROGRAM [CHEAT_PROGRAM], all linked with the judge. cheats.toml says
which exercises have a cheat.
"""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from cheat import cheats  # noqa: E402
from cli import backend, exercises, holes, judging, verdict  # noqa: E402
from cli.judging import Outcome  # noqa: E402
from cli.workspace import Workspace  # noqa: E402

NAME = sys.argv[1]
SKELETON, SOLUTION, *CHEAT = (Path(program).resolve() for program in sys.argv[2:])


class ExerciseTest(unittest.TestCase):
    def setUp(self) -> None:
        self.workspace = Workspace.locate()
        self.exercise = exercises.resolve(NAME, exercises.all_exercises(self.workspace))

    def run_on(self, program: Path, where: backend.Backend) -> tuple[Outcome, str]:
        outcome = judging.run(self.workspace, self.exercise, [program], where)
        return outcome, verdict.render(self.exercise, outcome, "advice", self.workspace)

    def test_skeleton_is_made_from_the_solution(self) -> None:
        text = self.exercise.solution(self.workspace).read_text("utf-8")
        self.assertEqual(self.exercise.skeleton(self.workspace).read_text("utf-8"), holes.skeleton(text))

    def test_skeleton_fails_for_the_stated_reason(self) -> None:
        outcome, text = self.run_on(SKELETON, backend.Backend.EMULATOR)
        self.assertFalse(outcome.passed, text)
        self.assertIn(self.exercise.fails_with, " ".join(text.split()))
        self.assertLessEqual(len(text.splitlines()), 24, text)

    def test_no_advice_is_against_the_exercise(self) -> None:
        _, text = self.run_on(SKELETON, backend.Backend.EMULATOR)
        advice = " ".join(text.split()).partition("What to do: ")[2]
        if any(condition.field == "block_barriers" for condition in self.exercise.counters):
            self.assertNotIn("Put __syncthreads()", advice)

    def test_solution_passes(self) -> None:
        outcome, text = self.run_on(SOLUTION, backend.select(None))
        self.assertTrue(outcome.passed, text)

    def test_solution_passes_in_every_order_of_completion(self) -> None:
        for order in ("early", "random"):
            outcome = judging.run(self.workspace, self.exercise, [SOLUTION], backend.Backend.EMULATOR, order=order)
            self.assertTrue(outcome.passed, f"{order}: {outcome.lines} {outcome.diagnostic}")

    def test_cheat_fails_and_is_told_what_was_expected(self) -> None:
        self.assertEqual(len(CHEAT), NAME in cheats())
        for program in CHEAT:
            for order in ("late", "early", "random"):
                outcome = judging.run(self.workspace, self.exercise, [program], backend.Backend.EMULATOR, order=order)
                text = verdict.render(self.exercise, outcome, "advice", self.workspace)
                self.assertFalse(outcome.passed, f"{order}: {text}")
                self.assertIn(str(cheats()[NAME]["fails_with"]), " ".join(text.split()))

    def test_solution_says_what_is_wanted(self) -> None:
        head = self.exercise.solution(self.workspace).read_text("utf-8").splitlines()[:30]
        self.assertTrue(head[0].startswith(f"/// @file {NAME}.cu"), head[0])
        for word in ("Given", "Wanted"):
            self.assertTrue(any(line.startswith(f"/// {word}") for line in head), f"the head lacks '{word}'")


def main() -> int:
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(ExerciseTest)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"[summary] {result.testsRun - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
