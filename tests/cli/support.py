"""A tiny copy of the workbook that the command can be run in without building anything."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class TreeTest(unittest.TestCase):
    """Each test gets a fresh tree with the command, two chapters and no build."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="workbook test ")
        self.addCleanup(directory.cleanup)
        self.tree = Path(directory.name).resolve() / "my clone"
        shutil.copytree(
            ROOT / "common" / "cli",
            self.tree / "common" / "cli",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        shutil.copy2(ROOT / "workbook", self.tree / "workbook")
        for name in ("01_sync_copy", "05_tma_1d"):
            (self.tree / "chapters" / name).mkdir(parents=True)
        (self.tree / "chapters" / "meson.build").write_text(
            "chapter_names = ['01_sync_copy', '05_tma_1d']\n", "utf-8"
        )
        (self.tree / "chapters" / "01_sync_copy" / "README.md").write_text(
            "# Chapter 1: through the registers\n", "utf-8"
        )

    def workbook(
        self,
        *arguments: str,
        cwd: Path | None = None,
        command: Path | None = None,
        user: int | None = None,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Runs the tree's command; it may install nothing and sees no GPU."""
        env = {
            k: v for k, v in os.environ.items() if not k.startswith(("WORKBOOK_", "EMULATOR_", "LD_LIBRARY"))
        }
        env |= {"WORKBOOK_INSTALL": "never", "PYTHONDONTWRITEBYTECODE": "1", **environment}
        return subprocess.run(
            [str(command or self.tree / "workbook"), *arguments],
            cwd=cwd or self.tree,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
            user=user,
        )

    def assert_one_line(self, done: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
        """The command failed as it should: exit status, one line on stderr, and the words in it."""
        self.assertEqual(done.returncode, code, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        self.assertEqual(len(lines), 1, done.stderr)
        for part in parts:
            self.assertIn(part, lines[0])
        self.assertEqual(done.stdout, "")
