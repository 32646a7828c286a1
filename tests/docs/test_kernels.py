"""Every kernel that the book promises is in its chapter's sources, in its tests and in its prose."""

import re
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def promised() -> list[tuple[str, str]]:
    """(chapter, kernel) of each line of kernels.txt."""
    lines = (HERE / "kernels.txt").read_text("utf-8").splitlines()
    return [tuple(line.split()[:2]) for line in lines if line and not line.startswith("#")]


def text_of(paths: list[Path]) -> str:
    return "\n".join(path.read_text("utf-8") for path in paths)


class Kernels(unittest.TestCase):
    def test_every_kernel_is_in_sources_tests_and_prose(self) -> None:
        self.assertGreater(len(promised()), 60)
        for chapter, kernel in promised():
            with self.subTest(chapter=chapter, kernel=kernel):
                (directory,) = (ROOT / "chapters").glob(f"[0-9][0-9]_{chapter}")
                sources = text_of(sorted([*directory.glob("*.cuh"), *directory.glob("rungs/*.cuh")]))
                self.assertIsNotNone(re.search(rf"__global__[^;{{]*\b{kernel}\(", sources), "no __global__ function")
                tests = text_of([ROOT / "tests" / "chapters" / f"{chapter}_test.cu"])
                # Chapter 12's rungs have a file each, and its tests run all that ladder.cuh lists.
                rung = kernel.removesuffix("_gemm")
                if "all_rungs(rungs)" in tests:
                    tests += (directory / "ladder.cuh").read_text("utf-8")
                self.assertRegex(tests, rf"\b(launch_)?{rung}")
                prose = (directory / "README.md").read_text("utf-8")
                whole, changed = rf"__global__[^;{{]*\b{kernel}\(", rf"<!-- diff: \S+ rungs/{rung}\.cuh -->"
                self.assertRegex(prose, rf"{whole}|{changed}", "its code is not shown")


if __name__ == "__main__":
    unittest.main()
