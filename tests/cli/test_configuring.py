"""What makes the emulator compile again, and what does not: a small tree with Meson, Ninja and the compiler of this machine."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from cli import build, configuring, requirements, setup
from cli.configuring import Extent
from cli.errors import UserError
from cli.requirements import Found
from cli.workspace import Workspace

OPTIONS = "option('cuda', type: 'feature')\noption('tests', type: 'boolean', value: true)\n"
ROOT_BUILD = """\
project('tree', 'cpp', meson_version: '>=1.7.0')
subdir('common')
if get_option('cuda').enabled()
  executable('chapter', 'chapter.cpp')
endif
"""
EMULATOR_BUILD = """\
gate = custom_target('gate.hpp', output: 'gate.hpp', input: 'gate.sh', command: ['sh', '@INPUT@', '@OUTPUT@'])
shared_library('cudart', 'first.cpp')
shared_library('cuda', 'second.cpp', gate)
"""
CHAPTER, FIRST = "chapter", "common/emulator/cuda/libcudart.so.p/first.cpp.o"
LIBRARY, OTHER = "common/emulator/cuda/libcudart.so", "common/emulator/cuda/libcuda.so"
IN_ANOTHER_PROCESS = """
import sys
from pathlib import Path
from unittest import mock
from cli import build, setup
from cli.requirements import Found
from cli.workspace import Workspace
root = Path(sys.argv[1])
words = (word.split("=") for word in sys.argv[2:])
tools = setup.Tools({key: Found(version, Path(path)) for key, version, path in words})
workspace = Workspace(root, root / "build")
with mock.patch.object(setup, "known", return_value=tools):
    build.build(workspace, build.ready(workspace), build.emulator_targets(workspace))
"""
HOLDER = """
import sys
from pathlib import Path
from cli import lock
with lock.exclusive(Path(sys.argv[1]), "holding it"):
    print("ready", flush=True)
    sys.stdin.read()
"""


@unittest.skipUnless(requirements.MESON.satisfied_by(requirements.MESON.probe(Workspace(Path("/"), Path("/")))), "no Meson")
class Tree(unittest.TestCase):
    def setUp(self) -> None:
        root = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="workbook tree "))).resolve()
        self.workspace = Workspace(root, root / "build")
        for name, text in {
            "meson.build": ROOT_BUILD,
            "meson.options": OPTIONS,
            "chapter.cpp": "int main() { return 0; }\n",
            "common/meson.build": "subdir('emulator')\n",
            "common/emulator/meson.build": "subdir('cuda')\n",
            "common/emulator/cuda/meson.build": EMULATOR_BUILD,
            "common/emulator/cuda/gate.sh": 'echo > "$1"\n',
            "common/emulator/cuda/first.cpp": "int first() { return 1; }\n",
            "common/emulator/cuda/second.cpp": '#include "gate.hpp"\nint second() { return 2; }\n',
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, "utf-8")
        self.nvcc = root / "nvcc"
        self.nvcc.write_text("#!/bin/sh\n", "utf-8")
        self.nvcc.chmod(0o755)
        self.tools = {r.key: r.probe(self.workspace) for r in (requirements.COMPILER, requirements.NINJA, requirements.MESON)}
        # Of these the tree needs only that they are there.
        self.tools |= {"pkg-config": Found("1", self.nvcc), "nvcc": Found("13", self.nvcc)}
        self.enterContext(mock.patch.dict(os.environ, {"WORKBOOK_BUILT": "", "WORKBOOK_INSTALL": "never"}))

    def build(self, *targets: str, extent: Extent = Extent.ALL, without: str = "") -> str:
        """Builds `targets`, or the emulator, as a command does; returns what that says."""
        tools = setup.Tools({key: found for key, found in self.tools.items() if key != without})
        with (
            mock.patch.object(setup, "known", return_value=tools),
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            ready = build.ready(self.workspace, extent)
            build.build(self.workspace, ready, targets or build.emulator_targets(self.workspace))
        return said.getvalue()

    def state(self, *names: str) -> list[int]:
        return [(self.workspace.build / name).stat().st_mtime_ns for name in (names or (FIRST, LIBRARY, OTHER))]

    def mark(self) -> str:
        return (self.workspace.build / configuring.MARK).read_text("utf-8")


class Rebuilding(Tree):
    def test_once_built_nothing_is_done(self) -> None:
        self.assertRegex(self.build(), r"Configuring[\s\S]*Built \d steps")
        before = self.state()
        self.assertEqual(self.build(), "")
        self.assertEqual(self.state(), before)

    def test_a_changed_source_is_compiled_again_and_the_others_are_not(self) -> None:
        self.build()
        (first,) = self.state(FIRST)
        (self.workspace.root / "common/emulator/cuda/second.cpp").write_text("int second() { return 3; }\n", "utf-8")
        self.assertIn("Built 2 steps", self.build())
        self.assertEqual(self.state(FIRST), [first])

    def test_the_emulator_asks_neither_for_nvcc_nor_for_tests(self) -> None:
        self.build(extent=Extent.EMULATOR, without="nvcc")
        self.assertIn('"extent": "emulator"', self.mark())
        self.assertNotIn("nvcc", {r.key for r in Extent.EMULATOR.needed})
        self.assertNotIn("catch2", {r.key for r in Extent.EMULATOR.needed})

    def test_a_shell_without_nvcc_rebuilds_nothing_and_configures_nothing(self) -> None:
        self.build()
        self.build(CHAPTER)
        before, mark = self.state(FIRST, LIBRARY, CHAPTER), self.mark()
        self.assertEqual(self.build(extent=Extent.EMULATOR, without="nvcc"), "")
        self.assertEqual(self.build(CHAPTER), "")
        self.assertEqual((self.state(FIRST, LIBRARY, CHAPTER), self.mark()), (before, mark))

    def test_nvcc_that_goes_and_comes_back_rebuilds_nothing(self) -> None:
        self.build()
        self.build(CHAPTER)
        before = self.state(FIRST, LIBRARY, CHAPTER)
        moved = self.nvcc.rename(self.nvcc.with_name("gone"))
        self.tools["pkg-config"] = Found("1", moved)
        self.assertNotIn("Built", self.build(extent=Extent.EMULATOR, without="nvcc"))
        self.assertIn('"extent": "emulator"', self.mark())
        moved.rename(self.nvcc)
        self.tools["pkg-config"] = Found("1", self.nvcc)
        self.assertNotIn("Built", self.build())
        self.assertNotIn("Built", self.build(CHAPTER))
        self.assertIn('"extent": "all"', self.mark())
        self.assertEqual(self.state(FIRST, LIBRARY, CHAPTER), before)

    def test_neither_does_it_where_ninja_had_configured_anew(self) -> None:
        self.build()
        (self.workspace.root / "meson.build").write_text(ROOT_BUILD + "# changed\n", "utf-8")
        self.build(CHAPTER)
        before = self.state(FIRST, LIBRARY, CHAPTER)
        (self.workspace.build / configuring.MARK).write_text("{}", "utf-8")
        self.assertNotIn("Built", self.build())
        self.assertNotIn("Built", self.build(CHAPTER))
        self.assertEqual(self.state(FIRST, LIBRARY, CHAPTER), before)

    def test_a_clone_that_was_moved_compiles_nothing_again(self) -> None:
        self.workspace.packages.mkdir(parents=True)
        self.build()
        (first,) = self.state(FIRST)
        self.workspace.root.rename(self.workspace.root.with_name("elsewhere of " + self.workspace.root.name))
        root = self.workspace.root.with_name("elsewhere of " + self.workspace.root.name)
        self.addCleanup(lambda: root.rename(self.workspace.root))
        here, self.workspace = self.workspace, Workspace(root, root / "build")
        for key in ("pkg-config", "nvcc"):
            self.tools[key] = Found("1", root / "nvcc")
        self.build()
        self.assertEqual(self.state(FIRST), [first])
        self.assertEqual((root / "build" / Workspace.LINK).readlink(), root / ".workbook/packages/root")
        self.workspace = here

    def test_another_version_of_the_compiler_begins_anew(self) -> None:
        self.build()
        compiler = self.tools["c++"]
        assert compiler is not None
        self.tools["c++"] = Found(compiler.version + ".1", compiler.path)
        before = self.state()
        self.assertIn("Built", self.build())
        self.assertNotEqual(self.state(), before)

    def test_ccache_that_comes_later_changes_nothing(self) -> None:
        found = {"ccache": None}
        which = configuring.shutil.which
        with mock.patch.object(configuring.shutil, "which", lambda name: found.get(name, which(name))):
            self.build()
            found["ccache"] = str(self.nvcc)
            self.nvcc.rename(self.nvcc.with_name("another"))
            self.tools["pkg-config"] = self.tools["nvcc"] = Found("1", self.nvcc.with_name("another"))
            said = self.build()
        self.assertIn("Configuring", said)
        self.assertNotIn("Built", said)


class Interruptions(Tree):
    def test_a_configuration_that_was_interrupted_is_made_anew(self) -> None:
        self.build()
        before = self.state()
        mark = self.mark().replace('"all"', '"unfinished"')
        (self.workspace.build / configuring.MARK).write_text(mark, "utf-8")
        os.replace(self.workspace.build / ".ninja_log", self.workspace.build / ".ninja_log.kept")
        said = self.build()
        self.assertIn("Configuring", said)
        self.assertNotIn("Built", said)
        self.assertEqual(self.state(), before)

    def test_a_configuration_that_fails_loses_nothing(self) -> None:
        self.build()
        before = self.state()
        file = self.workspace.root / "meson.build"
        file.write_text(ROOT_BUILD.replace("subdir('common')", "subdir('common')\nerror('not like this')"), "utf-8")
        (self.workspace.build / configuring.MARK).write_text("{}", "utf-8")
        with self.assertRaisesRegex(UserError, "Meson could not configure the build") as caught:
            self.build()
        self.assertIn("not like this", "".join(caught.exception.detail))
        file.write_text(ROOT_BUILD, "utf-8")
        self.assertNotIn("Built", self.build())
        self.assertEqual(self.state(), before)

    def test_what_meson_cannot_go_on_with_is_emptied(self) -> None:
        self.build()
        (self.workspace.build / configuring.MARK).write_text("{}", "utf-8")
        place = self.workspace.build / "common/emulator/cuda/libcudart.so.p"
        for file in place.iterdir():
            file.unlink()
        place.rmdir()
        (self.workspace.build / "common/emulator/cuda/gate.hpp").unlink()
        (self.workspace.build / "meson-private").rename(self.workspace.build / "common" / "x")
        (self.workspace.build / "common/emulator/cuda").rename(self.workspace.build / "common/emulator/old")
        (self.workspace.build / "common/emulator/cuda").write_text("in the way", "utf-8")
        self.assertIn("Built", self.build())
        self.assertFalse((self.workspace.build / "common/x").exists())

    def test_a_directory_of_somebody_else_s_is_left_alone(self) -> None:
        self.workspace.build.mkdir()
        (self.workspace.build / "thesis.tex").write_text("mine", "utf-8")
        with self.assertRaisesRegex(UserError, "is no build directory of Meson's"):
            self.build()
        self.assertEqual(os.listdir(self.workspace.build), ["thesis.tex"])

    @contextlib.contextmanager
    def elsewhere(self) -> Iterator["subprocess.Popen[str]"]:
        """The same build in another process, which comes to its end only when `gate` is opened."""
        (self.workspace.root / "common/emulator/cuda/gate.sh").write_text(
            f"while [ ! -e '{self.gate}' ]; do sleep 0.02; done\necho > \"$1\"\n", "utf-8"
        )
        words = [f"{key}={found.version}={found.path}" for key, found in self.tools.items() if found]
        command = [sys.executable, "-B", "-c", IN_ANOTHER_PROCESS, str(self.workspace.root), *words]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
            try:
                yield process
            finally:
                self.gate.touch()
                process.wait(60)

    @property
    def gate(self) -> Path:
        return self.workspace.root / "open"

    def wait_for(self, path: Path) -> None:
        for _ in range(1000):
            if path.exists():
                return
            time.sleep(0.02)
        self.fail(f"{path} did not come")

    def test_of_two_commands_one_builds_and_the_other_says_that_it_waits(self) -> None:
        self.build()
        before = self.state(FIRST, LIBRARY)
        said = io.StringIO()
        with self.elsewhere() as other:
            assert other.stderr is not None
            log = self.workspace.logs / "build.log"
            log.unlink()
            self.wait_for(log)
            # What we say while waiting is what lets the other go on.
            with mock.patch.object(said, "flush", side_effect=self.gate.touch), contextlib.redirect_stderr(said):
                tools = setup.Tools({key: found for key, found in self.tools.items() if found})
                build.build(self.workspace, tools, build.emulator_targets(self.workspace))
            theirs = other.stderr.read()
        self.assertEqual(other.returncode, 0, theirs)
        self.assertIn("Built", theirs)
        self.assertEqual(said.getvalue(), f"workbook: waiting for process {other.pid}, which is building\n")
        self.assertEqual(self.state(FIRST, LIBRARY), before)

    def test_an_interrupted_build_goes_on(self) -> None:
        with self.elsewhere() as other:
            self.wait_for(self.workspace.build / FIRST)
            time.sleep(0.2)
            other.send_signal(signal.SIGINT)
            other.wait(60)
        self.assertNotEqual(other.returncode, 0)
        self.assertFalse((self.workspace.build / OTHER).exists())
        (first,) = self.state(FIRST)
        self.assertIn("Built", self.build())
        self.assertEqual(self.state(FIRST), [first])


class Locks(Tree):
    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Another process has the lock all the time."""
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", HOLDER, str(self.workspace.state / "lock")]
        with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdin is not None and holder.stdout is not None
            self.assertEqual(holder.stdout.readline(), b"ready\n")
            try:
                yield
                self.assertIsNone(holder.poll())
            finally:
                holder.stdin.close()
                holder.wait(30)

    def test_nobody_waits_where_nothing_is_to_be_built(self) -> None:
        self.build()
        self.build(CHAPTER)
        with self.held():
            self.assertEqual(self.build(), "")
            self.assertEqual(self.build(CHAPTER, LIBRARY), "")

    def test_what_is_to_be_built_waits(self) -> None:
        self.build()
        (self.workspace.root / "common/emulator/cuda/second.cpp").write_text("int second() { return 3; }\n", "utf-8")

        class Waits(Exception):
            pass

        with self.held(), mock.patch("sys.stderr", mock.Mock(flush=mock.Mock(side_effect=Waits), isatty=lambda: False)):
            tools = setup.Tools({key: found for key, found in self.tools.items() if found})
            with self.assertRaises(Waits):
                build.build(self.workspace, tools, build.emulator_targets(self.workspace))


class Ahead(Tree):
    """nvcc is fetched while the emulator is compiled."""

    def test_the_emulator_is_compiled_before_nvcc_is_there(self) -> None:
        order: list[str] = []

        def ensure(_: Workspace, needed: object) -> setup.Tools:
            fetched = needed == requirements.CHAPTERS and "nvcc" not in order
            if fetched:
                for _ in range(1000):
                    if (self.workspace.build / OTHER).exists():
                        break
                    time.sleep(0.02)
                order.append("library" if (self.workspace.build / OTHER).exists() else "no library")
                order.append("nvcc")
            left_out = "" if needed == requirements.CHAPTERS else "nvcc"
            return setup.Tools({key: found for key, found in self.tools.items() if key != left_out and found})

        with (
            mock.patch.object(setup, "known", return_value=None),
            mock.patch.object(setup, "ensure", ensure),
            mock.patch.object(setup, "may_install", return_value=True),
            mock.patch.object(build, "_is_missing", return_value=True),
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            tools = build.ready(self.workspace, emulator=True)
            before = self.state()
            build.build(self.workspace, tools, [LIBRARY, OTHER, CHAPTER])
        self.assertEqual(order, ["library", "nvcc"])
        self.assertEqual(self.state(), before)
        self.assertEqual(len(re.findall("Built", said.getvalue())), 2, said.getvalue())

    def test_a_set_up_that_fails_ends_the_compilation(self) -> None:
        (self.workspace.root / "common/emulator/cuda/gate.sh").write_text("sleep 100\n", "utf-8")

        def ensure(_: Workspace, needed: object) -> setup.Tools:
            if needed == requirements.CHAPTERS:
                raise UserError("no network")
            return setup.Tools({key: found for key, found in self.tools.items() if key != "nvcc" and found})

        with (
            mock.patch.object(setup, "known", return_value=None),
            mock.patch.object(setup, "ensure", ensure),
            mock.patch.object(setup, "may_install", return_value=True),
            mock.patch.object(build, "_is_missing", return_value=True),
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaisesRegex(UserError, "no network"),
        ):
            began = time.monotonic()
            build.ready(self.workspace, emulator=True)
        self.assertLess(time.monotonic() - began, 60)


if __name__ == "__main__":
    unittest.main()
