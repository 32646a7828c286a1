#!/usr/bin/env python3
"""The emulator in WebAssembly: builds it, runs its unit tests and the page's worker in Node.js, and compares what it finds,
counts and records, byte for byte, with the host's library.

Skipped where Emscripten or Node.js is missing. PAGE_DESCRIBE: the program of describe.cpp; PAGE_BUILD: where to build;
PAGE_BROWSER: a Chromium, which then loads the page's scripts from file://.
"""

import base64
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import live_site
from edit import Edit
from exercise import Exercises
from firefox import FirefoxListings, FirefoxViewer
from listings import Listings
from live_pictures import LivePictures
from mistakes import Home, Mistakes
from predictions import Predictions
from viewer import Viewer

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PAGE_BUILD") or ROOT / "build/page")
LAUNCHES = sorted((ROOT / "tests/page/launches").glob("*.txt"))
SKIPPED = 77


def _output(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]}: {done.stdout[-8000:]}{done.stderr[-8000:]}")
    return done.stdout


def build(units: bool) -> None:
    source = ROOT / "common/emulator"
    if not (BUILD / "build.ninja").is_file():
        _output("meson", "setup", BUILD, source, "--cross-file", source / "wasm/cross.ini")
    _output("ninja", "-C", BUILD, "wasm/emulator.wasm", *(["wasm/emulator_tests.js"] if units else []))


class UnitTests(unittest.TestCase):
    def test_all_pass(self) -> None:
        output = _output("node", "--no-experimental-fetch", BUILD / "wasm/emulator_tests.js")
        print(output.splitlines()[-1], file=sys.stderr)


class SameAsOnTheHost(unittest.TestCase):
    def test_findings_counters_time_line_and_results(self) -> None:
        program = os.environ.get("PAGE_DESCRIBE")
        if not program:
            self.skipTest("PAGE_DESCRIBE names no program")
        self.assertGreater(len(LAUNCHES), 0)
        for launch in LAUNCHES:
            for order in ("late", "early", "random"):
                with self.subTest(launch=launch.stem, order=order):
                    host = _output(program, launch, order, 3)
                    page = _output("node", ROOT / "tests/page/describe.mjs", BUILD / "wasm/emulator.wasm", launch, order, 3)
                    self.assertEqual(page, host)


class Page(unittest.TestCase):
    """The scripts as a page from file:// loads them."""

    def test_runs_refuses_stops_and_starts_again(self) -> None:
        browser = os.environ.get("PAGE_BROWSER") or shutil.which("chromium")
        if not browser:
            self.skipTest("there is no Chromium")
        sys.path.insert(0, str(ROOT / "tests/docs"))
        from browser import Browser

        with tempfile.TemporaryDirectory() as directory, Browser(Path(browser), 120) as page:
            place(Path(directory))
            self.assertEqual(page.open((Path(directory) / "page.html").as_uri()), [])
            self.assertEqual(page.evaluate("run()"), EXPECTED)


def place(directory: Path) -> None:
    """A page with the emulator's scripts, as the site has them."""
    shutil.copyfile(ROOT / "tests/page/page.html", directory / "page.html")
    for script in (ROOT / "docs/site/live").glob("*.js"):
        shutil.copyfile(script, directory / script.name)
    text = base64.b64encode((BUILD / "wasm/emulator.wasm").read_bytes()).decode("ascii")
    (directory / "emulator_wasm.js").write_text(f'globalThis.hopperEmulatorWasm = "{text}";\n', "ascii")


# What page.html tells of each step.
EXPECTED = [
    "possible",
    "late: race-shared",
    "early: race-shared",
    "random: race-shared",
    "without checks: nothing",
    "refused: the order of completion is late, early or random, not sideways",
    "time: the launch took longer than 2 s",
    "stopped: true",
    "cancelled: the launch was cancelled",
    "again: race-shared",
    "crashed: the launch needs more memory than the 20 MiB that it may use",
    "refused: the module has no kernel other",
    "refused: an array of 67108864 bytes is more than the memory that a page has for it",
]


def main(names: list[str]) -> int:
    """Runs the classes of these names and says the sum of it as the other tests do."""
    if not shutil.which("em++") or not shutil.which("node"):
        print("skip  all of it: Emscripten and Node.js are not both here: they run the site's kernels")
        return SKIPPED
    build(units=UnitTests.__name__ in names)
    live_site.wasm = BUILD / "wasm/emulator.wasm"
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(name, sys.modules[__name__]) for name in names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skip  {test.id()}: {reason}")
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"[summary] {max(result.testsRun - failed - skipped, 0)} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
