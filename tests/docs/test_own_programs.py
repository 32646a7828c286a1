"""What docs/pages/own_programs.md shows builds with nvcc, CMake and Meson and runs on the emulator, as it stands there."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "pages" / "own_programs.md"
NVCC = os.environ.get("NVCC", "nvcc")
BOUND = "    if (i < size)\n"


def files() -> dict[str, str]:
    """The files that the page shows, by name."""
    found = re.findall(r"^`([\w.]+)`:\n```\w+\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return dict(found)


def command(word: str) -> list[str]:
    """The line of the page that begins with `word`, as shell commands."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(word + " ")]
    assert len(lines) == 1, lines
    return lines[0].split(" && ")


class OwnPrograms(unittest.TestCase):
    def setUp(self) -> None:
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="own program ")))
        for name, text in files().items():
            (self.place / name).write_text(text, "utf-8")

    def shell(self, *lines: str, expected: int = 0, **env: str) -> str:
        directory = str(Path(NVCC).parent)
        # A build's own trial programs must not meet the emulator's libcuda, which Meson's tests have in their path.
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EMULATOR_") and k != "LD_LIBRARY_PATH"}
        environment = kept | {
            "PATH": f"{directory}:{os.environ['PATH']}" if "/" in NVCC else os.environ["PATH"],
            **env,
        }
        said = ""
        for line in lines:
            done = subprocess.run(
                line, shell=True, cwd=self.place, env=environment, capture_output=True, text=True, timeout=300
            )
            said += done.stdout + done.stderr
            self.assertEqual(done.returncode, expected, f"{line}\n{said}")
        return said

    def emulate(self, program: str, expected: int = 0) -> str:
        word = f"'{ROOT / 'workbook'}' emulate {program}"
        return self.shell(word, expected=expected, WORKBOOK_BUILT="1", WORKBOOK_INSTALL="never")

    def assert_works(self, program: str, *build: str) -> None:
        """It runs; and without its comparison it is stopped at its line, so it ran on the emulator and has its lines."""
        self.shell(*build)
        self.assertIn("cudaSuccess; the last square is 998001", self.emulate(program))
        source = self.place / "my_program.cu"
        self.assertEqual(source.read_text("utf-8").count(BOUND), 1)
        source.write_text(source.read_text("utf-8").replace(BOUND, "\n"), "utf-8")
        os.utime(source, (source.stat().st_mtime + 5,) * 2)
        self.shell(build[-1])
        said = self.emulate(program, expected=1)
        self.assertIn("out-of-bounds", said)
        self.assertRegex(said, r"my_program\.cu:6\b")

    def needs(self, tool: str) -> None:
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")

    def test_nvcc(self) -> None:
        self.assert_works("./my_program", *command("nvcc"))

    def test_cmake(self) -> None:
        self.needs("cmake")
        os.environ["CUDACXX"] = NVCC
        self.assert_works("build/my_program", *command("cmake"))

    def test_meson(self) -> None:
        self.needs("meson")
        self.assert_works("build/my_program", *command("meson"))

    def test_a_static_runtime_is_told_with_the_option_of_each(self) -> None:
        static = command("nvcc")[0].replace("-cudart shared", "-cudart static")
        if not any(Path(shutil.which(NVCC) or NVCC).resolve().parents[1].rglob("libcudart_static.a")):
            self.skipTest("this toolkit has no static runtime")
        self.shell(static)
        said = self.emulate("./my_program", expected=1)
        for words in ("nvcc -cudart shared", "CUDA_RUNTIME_LIBRARY Shared", "link_args: '-cudart=shared'"):
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
