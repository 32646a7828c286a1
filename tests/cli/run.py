"""Runs the tests of the command and prints the summary line that all our test programs print: run.py [PATTERN]."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "common")]


def main(pattern: str = "test_*.py") -> int:
    suite = unittest.defaultTestLoader.discover(str(HERE), pattern=pattern, top_level_dir=str(HERE))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skip  {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"[summary] {result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or result.testsRun == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
