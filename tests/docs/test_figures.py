"""Every figure is what its script makes. Those of measurements are looked at with the measurements (test_bench)."""

import subprocess
import sys
import unittest

import tools

FIGURES = tools.ROOT / "docs" / "figures"


class Figures(unittest.TestCase):
    def test_each_is_current(self) -> None:
        scripts = [file for file in sorted(FIGURES.glob("*.py")) if "svg.write(" in file.read_text("utf-8")]
        looked_at = 0
        for script in scripts:
            if script.with_suffix(".cpp").exists() or script.stem.startswith("measured_") or script.stem == "svg":
                continue  # the first are made by a program of the build
            looked_at += 1
            with self.subTest(figure=script.stem):
                done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(looked_at, 10)

    def test_each_is_shown_somewhere(self) -> None:
        pages = [*tools.ROOT.glob("chapters/*/README.md"), *tools.ROOT.glob("docs/**/*.md"), tools.ROOT / "README.md"]
        text = "".join(page.read_text("utf-8") for page in pages)
        for picture in sorted(FIGURES.glob("*.svg")):
            with self.subTest(figure=picture.stem):
                self.assertIn(f"figures/{picture.name}", text)
