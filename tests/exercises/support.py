"""A clone to learn in, which checks with the judges and the emulator that Meson has built for these tests."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
NAME = "reverse_tile"
HOLE = "// YOUR CODE: bring element t of this block's tile from `in`."
ANSWER = "tile[t] = in[start + t];"


class CloneTest(unittest.TestCase):
    """Each test gets a fresh clone."""

    def setUp(self) -> None:
        self.use_home(self.enterContext(fresh_home()))

    def use_home(self, home: Path) -> None:
        self.home = home
        self.clone = home / "my clone"
        self.desk = self.clone / "workspace"
        self.file = self.desk / f"{NAME}.cu"

    def environment(self, **more: str) -> dict[str, str]:
        """The build is the one of these tests; nothing is installed."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("EMULATOR_", "LD_LIBRARY"))}
        return env | {
            "WORKBOOK_BUILT": "1",
            "WORKBOOK_INSTALL": "never",
            "WORKBOOK_BACKEND": "emulator",
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }

    def workbook(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.clone / "workbook"), *arguments],
            cwd=self.clone,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=400,
            stdin=subprocess.DEVNULL,
        )

    def check(self, *arguments: str, name: str = NAME, **more: str) -> subprocess.CompletedProcess[str]:
        """Checks an exercise; whatever came of it, the command did not fall over."""
        done = self.workbook("check", name, *arguments, **more)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn("workbook: WORKBOOK_BUILT", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def write(self, hole: str, *, skeleton: Path | None = None) -> None:
        """Puts `hole` into the hole of the learner's file."""
        self.desk.mkdir(exist_ok=True)
        text = (skeleton or next(self.clone.glob(f"chapters/*/exercises/{NAME}.cu"))).read_text("utf-8")
        assert HOLE in text
        self.file.write_text(text.replace(HOLE, hole), "utf-8")

    def assert_solved(self) -> None:
        """The next check works."""
        self.write(ANSWER)
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{NAME}: solved.", done.stdout)


@contextlib.contextmanager
def fresh_home() -> Iterator[Path]:
    """A directory with a clone in it, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="workbook learner ") as directory:
        home = Path(directory).resolve()
        copy_tree(home / "my clone")
        yield home


def command_line(process: Path) -> str:
    """What a directory of /proc says was started; empty for a process that has ended."""
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def running(*words: str) -> bool:
    """Whether a process runs whose command line begins with the first word and has all of them."""
    lines = [command_line(process) for process in Path("/proc").glob("[0-9]*")]
    return any(line.startswith(words[0]) and all(word in line for word in words) for line in lines)


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def copy_tree(to: Path) -> None:
    """A clone of this repository as git makes it, or what git would make of a tree without git."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        # Every test makes one: the history stays where it is, which takes an eighth of the time.
        clone = ["git", "clone", "--quiet", "--shared", str(ROOT), str(to)]
        subprocess.run(clone, check=True, capture_output=True)
        return
    to.mkdir()
    for name in (".gitignore", "LICENSE", "README.md", "meson.build", "meson.options", "workbook"):
        shutil.copy2(ROOT / name, to / name)
    for name in ("chapters", "common", "docs", "tests"):
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))


def main(module: ModuleType) -> int:
    """Runs a module's tests, or those that the command line names, and prints the summary line of all our tests."""
    load = unittest.defaultTestLoader
    suite = load.loadTestsFromNames(sys.argv[1:], module) if sys.argv[1:] else load.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skip  {test.id()}: {reason}")
    bad, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"[summary] {result.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    return 1 if bad else 0
