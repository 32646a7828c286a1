"""Runs the tests of the documentation's tools and prints the summary line that all our test programs print.

Usage: run.py NAME... runs test_NAME.py of this directory.
"""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "docs"), str(ROOT / "common")]


def main(names: list[str]) -> int:
    suite = unittest.TestSuite(
        unittest.defaultTestLoader.discover(str(HERE), pattern=f"test_{name}.py", top_level_dir=str(HERE))
        for name in names
    )
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skip  {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    passed = result.testsRun - failed - skipped
    print(f"[summary] {max(passed, 0)} passed, {failed} failed, {skipped} skipped")
    if failed or result.testsRun + skipped == 0:
        return 1
    return 77 if passed <= 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
