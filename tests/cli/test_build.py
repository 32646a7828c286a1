"""Builds and locks: what one process of the command leaves to the next."""

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path
from unittest import mock

from cli import build, lock
from cli.commands import emulate
from cli.workspace import Workspace


HOLDER = """
import sys
from pathlib import Path
from cli import lock
with lock.exclusive(Path(sys.argv[1]), "holding it"):
    print("ready", flush=True)
    sys.stdin.read()
"""


class Lock(unittest.TestCase):
    def test_the_second_waits_and_says_for_whom(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "lock"
            env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            command = [sys.executable, "-c", HOLDER, str(path)]
            with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
                assert holder.stdin is not None and holder.stdout is not None
                self.assertEqual(holder.stdout.readline(), b"ready\n")
                said = io.StringIO()
                # What we say while waiting is what makes the holder let go.
                with mock.patch.object(said, "flush", side_effect=holder.stdin.close), redirect_stderr(said):
                    with lock.exclusive(path, "testing"):
                        self.assertIn(str(os.getpid()), path.read_text("utf-8"))
                self.assertEqual(holder.wait(30), 0)
            self.assertIn(f"waiting for process {holder.pid}, which is holding it", said.getvalue())

    def test_a_lock_that_was_left_behind_does_not_count(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "lock"
            path.write_text("process 1, which is dead\n", "utf-8")
            with redirect_stderr(io.StringIO()) as said, lock.exclusive(path, "testing"):
                pass
            self.assertEqual(said.getvalue(), "")


class EmulatorThatIsBuilt(unittest.TestCase):
    """`emulate` takes the lock only where the libraries are not those of the sources."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = Path(directory.name)
        self.workspace = Workspace(root, root / "build")
        self.library = self.workspace.build / build.EMULATOR_DIRECTORY / "libcudart.so.13"
        self.source = root / "common/emulator/machine/warp.cpp"
        for path in (self.library, self.source, root / "meson.build", root / "meson.options"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("first", "utf-8")
            os.utime(path, (1000, 1000))
        (self.workspace.build / "meson-info").mkdir()
        (self.workspace.build / "meson-info/intro-targets.json").write_text(
            json.dumps([{"type": "shared library", "filename": [str(self.library)]}]), "utf-8"
        )
        self.targets = [str(build.EMULATOR_DIRECTORY / "libcudart.so.13")]
        self.workspace.logs.mkdir(parents=True)

    def build(self, targets: list[str], script: str = "true") -> None:
        ninja = self.workspace.root / "ninja"
        ninja.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        ninja.chmod(0o755)
        tools = mock.Mock()
        tools.path.return_value = ninja
        with redirect_stderr(io.StringIO()), mock.patch.dict(os.environ, {"WORKBOOK_BUILT": ""}):
            build.build(self.workspace, tools, targets)

    def test_a_build_of_its_libraries_is_remembered(self) -> None:
        self.assertFalse(build.is_emulator_current(self.workspace))
        self.build(self.targets)
        self.assertTrue(build.is_emulator_current(self.workspace))

    def test_so_is_a_build_of_everything_but_not_one_of_something_else(self) -> None:
        self.build(["chapters/01_sync_copy/sync_copy"])
        self.assertFalse(build.is_emulator_current(self.workspace))
        self.build([])
        self.assertTrue(build.is_emulator_current(self.workspace))

    def test_a_change_of_a_source_or_of_a_library_ends_it(self) -> None:
        for path in (self.source, self.library):
            self.build(self.targets)
            path.write_text("other", "utf-8")
            self.assertFalse(build.is_emulator_current(self.workspace))
            os.utime(path, (2000, 2000))
        self.build(self.targets)
        self.source.with_name("new.cpp").write_text("", "utf-8")
        self.assertFalse(build.is_emulator_current(self.workspace))
        self.source.with_name("new.cpp").unlink()
        self.assertTrue(build.is_emulator_current(self.workspace))
        self.library.unlink()
        self.assertFalse(build.is_emulator_current(self.workspace))

    def test_a_source_that_changes_during_the_build_does_not_count_as_built(self) -> None:
        self.build(self.targets, f"touch -d 2100-01-01 {self.source}")
        self.assertFalse(build.is_emulator_current(self.workspace))

    def test_emulate_waits_for_nobody_then(self) -> None:
        program = self.workspace.root / "program"
        program.write_text("#!/bin/sh\nexit 7\n", "utf-8")
        program.chmod(0o755)
        self.build(self.targets)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", HOLDER, str(self.workspace.state / "lock")]
        options = argparse.Namespace(
            program=str(program),
            arguments=[],
            **dict.fromkeys(
                ("threads", "seed", "order", "checks", "counters", "trace", "report", "exit_status", "leaks")
            ),
            uninitialised_global=None,
            watchdog=None,
            record=None,
            launches=None,
        )
        with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdin is not None and holder.stdout is not None
            self.assertEqual(holder.stdout.readline(), b"ready\n")
            self.assertEqual(emulate.execute(options, self.workspace), 7)
            self.assertIsNone(holder.poll())
            holder.stdin.close()
            self.assertEqual(holder.wait(30), 0)
