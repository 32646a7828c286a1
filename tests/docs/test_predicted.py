"""Every prediction of every chapter, run on the emulator: one of its choices is right, by what comes out."""

import os
import tempfile
import unittest
from pathlib import Path

import tools
from cli import chapters, predicted, predictions, requirements, setup
from cli.workspace import Workspace


class Predicted(unittest.TestCase):
    """Needs the chapters' programs, their mistakes, judges and the replay program built."""

    def test_exactly_one_choice_comes_out(self) -> None:
        workspace = Workspace(tools.ROOT, Path(os.environ.get("WORKBOOK_BUILD") or tools.ROOT / "build"))
        known = setup.known(workspace, requirements.CHAPTERS)
        if known is None:
            self.skipTest("nvcc is missing")
        count = 0
        for chapter in chapters.all_chapters(workspace):
            with tempfile.TemporaryDirectory() as directory:
                _, found = predicted.outcomes(workspace, known, chapter, Path(directory))
            self.assertEqual([each.prediction for each in found], predictions.of_chapter(workspace, chapter))
            for outcome in found:
                count += 1
                with self.subTest(chapter=chapter.name, prediction=outcome.prediction.name):
                    self.assertEqual(len(outcome.right), 1, f"came out: {outcome.measured}")
                    if outcome.prediction.form == "finding" and outcome.measured[0] == "":
                        self.fail("a mistake that is not found is no question")
        self.assertGreaterEqual(count, 36)


if __name__ == "__main__":
    unittest.main()
