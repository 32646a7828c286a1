"""What happens on full disks, in read-only clones, without UTF-8, and to whoever was interrupted or killed."""

import argparse
import errno
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from support import ROOT, TreeTest

from cli import build, exercises, judging, temporary, verdict
from cli.chapters import Chapter
from cli.commands import emulate
from cli.commands import test as test_command
from cli.errors import UserError
from cli.judging import Outcome
from cli.learner import Learner
from cli.workspace import Workspace

MANIFEST = """\
[[exercise]]
name = "add_one"
title = "Add one: 3×3 … “now”"
kind = "fill"
task = "fill in: one more"
minutes = 5
hints = ["a", "b", "c"]
learned = "how to add"
fails_with = "wrong"
"""
NOBODY = 65534


class RobustTest(TreeTest):
    def setUp(self) -> None:
        super().setUp()
        self.place = self.tree / "chapters" / "01_sync_copy" / "exercises"
        self.place.mkdir()
        (self.place / "exercises.toml").write_text(MANIFEST, "utf-8")
        (self.place / "add_one.cu").write_text("// untouched\n", "utf-8")
        self.file = self.tree / "workspace" / "add_one.cu"

    def learner(self) -> Learner:
        return Learner(Workspace(self.tree, self.tree / "build"))

    def begin(self) -> None:
        self.assertEqual(self.workbook("next").returncode, 0)
        self.file.write_text("// mine\n", "utf-8")

    def backups(self) -> list[str]:
        directory = self.tree / "workspace" / "backups"
        return sorted(os.listdir(directory)) if directory.is_dir() else []


class Interrupts(RobustTest):
    def test_ctrl_c_before_the_command_has_begun(self) -> None:
        main = self.tree / "common" / "cli" / "main.py"
        early = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n"
        main.write_text(early + main.read_text("utf-8"), "utf-8")
        done = self.workbook("list")
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGINT, ""))

    def test_ctrl_c_when_it_has_begun(self) -> None:
        command = self.tree / "common" / "cli" / "commands" / "next_exercise.py"
        text = command.read_text("utf-8")
        late = "    import os, signal\n    os.kill(os.getpid(), signal.SIGINT)\n    learner = Learner(workspace)\n"
        command.write_text(text.replace("    learner = Learner(workspace)\n", late), "utf-8")
        done = self.workbook("next")
        self.assertEqual((done.returncode, done.stderr), (130, "\nworkbook: interrupted\n"))

    def test_who_ignores_ctrl_c_goes_on_to(self) -> None:
        command = self.tree / "common" / "cli" / "commands" / "list_chapters.py"
        begin = "    known = chapters.all_chapters(workspace)\n"
        late = "    import os, signal\n    os.kill(os.getpid(), signal.SIGINT)\n"
        command.write_text(command.read_text("utf-8").replace(begin, late + begin, 1), "utf-8")
        ignoring = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run(
            [sys.executable, "-c", ignoring, str(self.tree / "workbook"), "list"], capture_output=True, timeout=60
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Ends(RobustTest):
    """A command that is ended from outside leaves nothing behind that it started."""

    def ended(self, number: signal.Signals, *, nohup: bool = False) -> tuple[int, bool]:
        """Our status, and whether the child was gone then."""
        program = (
            "import signal, sys\nfrom pathlib import Path\nfrom cli import process\n"
            f"signal.signal(signal.SIGHUP, signal.{'SIG_IGN' if nohup else 'SIG_DFL'})\n"
            "process.end_as_on_ctrl_c()\n"
            "child = [sys.executable, '-uc', 'import os, time; print(os.getpid()); time.sleep(4)']\n"
            "with process.streaming(child, Path(sys.argv[1])) as (_, lines):\n"
            "    for line in lines: print(line, flush=True)\n"
        )
        env = {**os.environ, "PYTHONPATH": str(ROOT / "common"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", program, str(self.tree / "log")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as ours:
            assert ours.stdout is not None
            child = int(ours.stdout.readline())
            ours.send_signal(number)
            status = ours.wait(timeout=60)
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return status, True
        return status, False

    def test_what_a_command_started_ends_with_it(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                self.assertEqual(self.ended(number), (128 + number, True))

    def test_who_ignores_the_end_of_the_terminal_goes_on_to(self) -> None:
        self.assertEqual(self.ended(signal.SIGHUP, nohup=True), (0, True))

    def test_the_command_for_tests_does_so(self) -> None:
        before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            with mock.patch.object(test_command.backend, "select", side_effect=UserError("far enough")):
                with self.assertRaises(UserError):
                    test_command.execute(argparse.Namespace(backend=None), Workspace(self.tree, self.tree / "build"))
            for number in before:
                self.assertIsNot(signal.getsignal(number), signal.SIG_DFL)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Encodings(RobustTest):
    def test_what_the_output_lacks_is_written_in_other_letters(self) -> None:
        for encoding, words in (("ascii", 'Add one: 3x3 ... "now"'), ("latin-1", "Add one: 3\xd73 ..."), ("utf-8", "3×3 …")):
            with self.subTest(encoding=encoding):
                env = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONDONTWRITEBYTECODE": "1"}
                command = [str(self.tree / "workbook"), "list"]
                done = subprocess.run(command, capture_output=True, timeout=60, env=env)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertIn(words, done.stdout.decode(encoding))


class Disks(RobustTest):
    def on_a_full_disk(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """No file may become longer than nothing: writing fails as on a full disk, with another error."""
        code = (
            "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
            "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
            f"sys.path.insert(0, {str(self.tree / 'common')!r}); "
            "from cli.main import main; sys.exit(main(sys.argv[1:]))"
        )
        return subprocess.run(
            [sys.executable, "-B", "-c", code, *arguments], cwd=self.tree, capture_output=True, text=True, timeout=60
        )

    def test_reset_on_a_full_disk_changes_nothing(self) -> None:
        self.begin()
        done = self.on_a_full_disk("reset", "add_one")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^workbook: cannot write workspace/add_one\.cu: .*; your file is as it was\n$")
        self.assertEqual(self.file.read_text("utf-8"), "// mine\n")
        self.assertEqual((self.backups(), len(os.listdir(self.file.parent))), ([], 3))  # file, progress, lock

    def test_reset_says_where_the_file_went_whatever_fails_then(self) -> None:
        self.begin()
        learner = self.learner()
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with mock.patch("os.replace", side_effect=full), self.assertRaises(UserError) as caught:
            learner.desk.reset(learner.known[0])
        self.assertIn("No space left on device; your file is workspace/backups/add_one.1.cu", str(caught.exception))
        self.assertEqual((self.tree / "workspace" / "backups" / "add_one.1.cu").read_text("utf-8"), "// mine\n")

    def test_reset_that_cannot_note_it_says_both(self) -> None:
        self.begin()
        learner = self.learner()
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with mock.patch.object(learner.desk.book, "update", side_effect=full), mock.patch("sys.stderr", io.StringIO()) as said:
            backup = learner.desk.reset(learner.known[0])
        self.assertEqual(backup, self.tree / "workspace" / "backups" / "add_one.1.cu")
        self.assertIn("progress could not be saved (No space left on device)", said.getvalue())
        self.assertEqual(self.file.read_text("utf-8"), "// untouched\n")

    def test_reset_where_no_copy_can_be_kept_changes_nothing(self) -> None:
        self.begin()
        (self.tree / "workspace" / "backups").write_text("in the way", "utf-8")
        done = self.workbook("reset", "add_one")
        self.assert_one_line(done, 1, "cannot keep a copy in workspace/backups", "workspace/add_one.cu is as it was")
        self.assertEqual(self.file.read_text("utf-8"), "// mine\n")

    def test_a_full_output_is_one_line(self) -> None:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([str(self.tree / "workbook"), "list"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "workbook: No space left on device\n"))


class TemporaryDirectories(RobustTest):
    def setUp(self) -> None:
        super().setUp()
        self.room = self.tree / "tmp"
        self.room.mkdir()
        self.enterContext(mock.patch.object(tempfile, "tempdir", str(self.room)))

    def test_it_is_gone_afterwards(self) -> None:
        with temporary.directory("check") as place:
            (place / "a").write_text("b", "utf-8")
            self.assertEqual([place.parent], [self.room])
        self.assertEqual(os.listdir(self.room), [])

    def test_what_a_killed_process_left_goes_at_the_next_start(self) -> None:
        code = (
            f"import sys, time; sys.path.insert(0, {str(ROOT / 'common')!r}); from cli import temporary\n"
            "with temporary.directory('check') as place: (place / 'a').touch(); print(place, flush=True); time.sleep(99)"
        )
        env = {**os.environ, "TMPDIR": str(self.room), "PYTHONDONTWRITEBYTECODE": "1"}
        both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env) for _ in "ab"]
        places = []
        for process in both:
            assert process.stdout is not None
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            places.append(Path(process.stdout.readline().strip()))
        both[0].kill()
        both[0].wait()
        temporary.sweep(self.room)
        self.assertTrue(all(place.exists() for place in places))  # too young to tell from one that has no lock yet
        other = self.room / "workbook-of-somebody"
        other.mkdir()
        for place in (*places, other):
            os.utime(place, (time.time() - 1000, time.time() - 1000))
        temporary.sweep(self.room)
        self.assertEqual([place.exists() for place in (*places, other)], [False, True, True])

    def test_a_check_without_room_says_so(self) -> None:
        workspace = Workspace(self.tree, self.tree / "build")
        exercise = exercises.all_exercises(workspace)[0]
        lines = ["The compiler stopped without naming an error:", "fatal error: when writing output to x: No space left on device"]
        full, small = mock.Mock(free=1000), mock.Mock(free=1_000_000)
        for outcome, usage in (
            (Outcome("compile", lines), None),
            (Outcome("compile", ["nvcc fatal", "why"]), full),
            (Outcome("compile", lines[:1]), small),
            (Outcome("run", ["x"]), full),
        ):
            with (
                self.subTest(outcome=outcome),
                mock.patch.object(judging, "_compile", return_value=([], outcome)),
                mock.patch("shutil.disk_usage", **({"return_value": usage} if usage else {"wraps": __import__("shutil").disk_usage})),
                self.assertRaises(UserError) as caught,
            ):
                judging.check(workspace, mock.Mock(), exercise, self.file, mock.Mock())
            self.assertIn(f"no room for temporary files in {self.room} (no space left on device)", str(caught.exception))
            self.assertIn("set TMPDIR", str(caught.exception))

    def test_a_wrong_file_with_room_is_a_wrong_file(self) -> None:
        workspace = Workspace(self.tree, self.tree / "build")
        exercise = exercises.all_exercises(workspace)[0]
        small = mock.Mock(free=1_000_000)
        for said in (
            Outcome("run", ["It threw an exception: No space left on device"]),
            Outcome("compile", ["workspace/add_one.cu(7): error: expected a ;", "      x"]),
        ):
            with mock.patch.object(judging, "_compile", return_value=([], said)), mock.patch("shutil.disk_usage", return_value=small):
                self.assertIs(judging.check(workspace, mock.Mock(), exercise, self.file, mock.Mock()), said)

    def test_no_place_at_all_is_one_line(self) -> None:
        gone = FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")
        with mock.patch("tempfile.gettempdir", side_effect=gone), self.assertRaises(UserError) as caught:
            with temporary.directory("check"):
                pass
        self.assertIn("no room for temporary files in", str(caught.exception))


class Names(RobustTest):
    def test_an_exercise_whose_file_was_renamed(self) -> None:
        (self.place / "add_one.cu").rename(self.place / "add_1.cu")
        done = self.workbook("next")
        words = ("add_one has no file chapters/01_sync_copy/exercises/add_one.cu", "renamed?", "exercises --generate")
        self.assert_one_line(done, 1, *words)

    def test_an_exercise_that_was_renamed(self) -> None:
        self.begin()
        (self.place / "exercises.toml").write_text(MANIFEST.replace('"add_one"', '"add_1"'), "utf-8")
        (self.place / "add_one.cu").rename(self.place / "add_1.cu")
        for name in ("add_one", "workspace/add_one.cu"):
            done = self.workbook("check", name)
            self.assert_one_line(done, 2, "no exercise 'add_one'; did you mean add_1?", "your file workspace/add_one.cu stays")
        self.assertEqual(self.file.read_text("utf-8"), "// mine\n")
        done = self.workbook("check", "no_such")
        self.assertNotIn("your file", done.stderr)


class ReadOnly(RobustTest):
    def read_only(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        self.tree.parent.chmod(0o755)
        for place in (self.tree, *self.tree.rglob("*")):
            if place.is_dir():
                place.chmod(0o555)
                self.addCleanup(place.chmod, 0o755)
        return self.workbook(
            *arguments,
            user=NOBODY if os.geteuid() == 0 else None,
            cwd=Path("/"),
            PATH="/usr/local/bin:/usr/bin:/bin",
            **environment,
        )

    def test_emulate_says_what_to_do_where_nothing_is_built(self) -> None:
        self.assert_one_line(
            self.read_only("emulate", "/bin/true"), 1, "cannot write to", str(self.tree), "of your own"
        )

    def test_emulate_works_where_all_is_built(self) -> None:
        with (
            mock.patch.object(build, "is_emulator_current", return_value=True),
            mock.patch.object(Workspace, "prepare", side_effect=AssertionError("wrote")),
            mock.patch.object(emulate, "foreground", return_value=0) as ran,
        ):
            from cli import main

            self.assertEqual(main.main(["emulate", "/bin/true"]), 0)
            self.assertEqual(ran.call_args.args[0], [Path("/bin/true")])

    def test_list_and_progress_need_not_write(self) -> None:
        for command in ("list", "progress"):
            done = self.read_only(command)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("add_one", done.stdout)


class Advice(RobustTest):
    OWN = '[[exercise.advice]]\nfinding = "race-shared"\nsays = """\nrelease the stage\nlater"""\n'

    def shown(self, manifest: str, **finding: object) -> str:
        (self.place / "exercises.toml").write_text(MANIFEST + manifest, "utf-8")
        found = {"name": "race-shared", "message": "m", "locations": [], "advice": "call __syncthreads()"} | finding
        workspace = Workspace(self.tree, self.tree / "build")
        return verdict.render(self.learner().known[0], Outcome("run", ["stopped"], found), "advice", workspace)

    def test_the_exercise_knows_better_than_the_emulator(self) -> None:
        text = self.shown(self.OWN)
        self.assertIn("What to do: release the stage later\n", text)
        self.assertNotIn("__syncthreads", text)
        self.assertIn("What to do: call __syncthreads()\n", self.shown(self.OWN, name="race-global"))

    def test_but_perhaps_only_better_than_one_advice(self) -> None:
        only = self.OWN + 'instead_of = "__syncthreads"\n'
        self.assertIn("What to do: release the stage later\n", self.shown(only))
        self.assertIn("What to do: count bytes\n", self.shown(only, advice="count bytes"))

    def test_a_long_report_leaves_the_advice_whole(self) -> None:
        long = " ".join(f"do{n:03}" for n in range(80))
        for message in ("m", "\n".join(f"line {n}" for n in range(30))):
            text = self.shown("", message=message, advice=long)
            self.assertIn(f"What to do: {long}", " ".join(text.split()))
            self.assertLessEqual(len(text.splitlines()), 24)
        self.assertIn("    ...", text)

    def test_what_is_wrong_is_said(self) -> None:
        path = self.place / "exercises.toml"
        for wrong in ("[[exercise.advice]]\nfinding = 'race-shared'", self.OWN + "because = 'x'", "advice = ['text']"):
            path.write_text(MANIFEST + wrong + "\n", "utf-8")
            with self.assertRaisesRegex(UserError, "add_one.*an advice needs finding and says"):
                exercises.read_manifest(path, Chapter("01_sync_copy"))

    def test_advice_is_for_findings_and_words_that_there_are(self) -> None:
        known = (ROOT / "docs" / "pages" / "errors.md").read_text("utf-8")
        words = ""
        for file in (*(ROOT / "common/emulator/rules").rglob("*.cpp"), *(ROOT / "common/emulator/findings").rglob("*.*pp")):
            words += re.sub(r'"\s*"', "", file.read_text("utf-8"))
        own = [a for e in exercises.all_exercises(Workspace(ROOT, ROOT / "build")) for a in e.advice]
        self.assertTrue(own)
        for advice in own:
            self.assertIn(f"### {advice.finding}\n", known)
            self.assertTrue(advice.instead_of in words, advice.instead_of)  # words is long


if __name__ == "__main__":
    unittest.main()
