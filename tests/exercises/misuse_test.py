"""Everything that a learner can do wrong ends in a clear verdict, in time, and leaves the next check working."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
from pathlib import Path
from typing import Any

from support import ANSWER, HOLE, NAME, ROOT, CloneTest, fresh_home, main, running, wait_until

sys.path.insert(0, str(ROOT / "common"))
from cli import confine, holes  # noqa: E402
from cli.errors import UserError  # noqa: E402

SECONDS = 30


def confinement() -> str | None:
    """What confines programs on this machine, if anything does."""
    try:
        return confine.cage().method.value
    except UserError:
        return None


class Programs(CloneTest):
    """What the learner's program may do. All of it happens in one clone, as with a learner who tries and tries, and the
    check that comes after the last one works."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.shared_home = cls.enterClassContext(fresh_home())

    def setUp(self) -> None:
        self.use_home(self.shared_home)

    @classmethod
    def tearDownClass(cls) -> None:
        last = cls()
        last.setUp()
        last.assert_solved()

    def assert_verdict(self, *words: str, name: str = NAME) -> str:
        begin = time.monotonic()
        done = self.check(name=name)
        self.assertLess(time.monotonic() - begin, SECONDS)
        self.assertEqual(done.returncode, 1, done.stdout)
        text = " ".join(done.stdout.split())
        for word in words:
            self.assertIn(word, text)
        self.assertLessEqual(len(done.stdout.splitlines()), 24, done.stdout)
        return text

    def test_it_does_not_compile(self) -> None:
        self.write("tile[t] = nosuch;")
        text = self.assert_verdict("does not compile", f"workspace/{NAME}.cu(", 'identifier "nosuch" is undefined')
        self.assertNotIn("/tmp/", text)

    def test_the_kernel_is_missing(self) -> None:
        self.write(ANSWER)
        self.file.write_text(self.file.read_text("utf-8").replace("reverse_tile(", "reversed(", 1), "utf-8")
        self.assert_verdict("has no kernel `reverse_tile` (kernels in it: reversed)")

    def test_the_kernel_has_other_parameters(self) -> None:
        self.write(ANSWER)
        self.file.write_text(self.file.read_text("utf-8").replace("std::size_t size)", "int size)", 1), "utf-8")
        self.assert_verdict(
            "It must be reverse_tile(float const*, float*, unsigned long), and is reverse_tile(float const*, float*, int)."
        )

    def test_a_file_that_was_begun_when_the_exercise_had_a_launch_function(self) -> None:
        self.write(ANSWER)
        text = '#include "workbook/launch.hpp"\n#include <span>\n' + self.file.read_text("utf-8")
        text += "\nvoid launch_reverse_tile(std::span<const float> in, std::span<float> out) {}\n"
        self.file.write_text(text, "utf-8")
        self.assert_verdict("workspace/reverse_tile.cu has a launch function", "the judge launches the kernel")
        self.assertEqual(self.file.read_text("utf-8"), text)

    def test_the_solution_cannot_be_included(self) -> None:
        """Of one exercise as a learner checks it; the test of each exercise looks at what the compiler made of it."""
        self.workbook("next")
        solution = next(self.clone.glob(f"chapters/*/solutions/{NAME}.cu"))
        self.file.write_text(f'#define ANSWER "{os.path.relpath(solution, self.file.parent)}"\n#include ANSWER\n', "utf-8")
        self.assert_verdict(f"/solutions/{NAME}.cu: that is the solution.")

    def test_headers_of_the_host_do_no_harm(self) -> None:
        self.write(ANSWER)
        self.file.write_text("#include <vector>\n#include <cstdio>\n" + self.file.read_text("utf-8"), "utf-8")
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_code_of_the_host_never_runs(self) -> None:
        self.write(ANSWER)
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(
                f"#include <cstdlib>\nstatic int ran = std::system(\"touch '{self.clone}/ran'\");\n"
                "__attribute__((constructor)) void first() { std::exit(0); }\nint main() { return ran; }\n"
            )
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertFalse((self.clone / "ran").exists())

    def test_an_endless_loop_in_the_kernel(self) -> None:
        self.write("for (volatile int i = 0; i < 1;) {\n        }")
        self.assert_verdict("watchdog", f"workspace/{NAME}.cu:", "condition never becomes false")

    def test_an_endless_loop_beside_copies_in_flight(self) -> None:
        name = "wait_for_copies"
        text = next(self.clone.glob(f"chapters/*/exercises/{name}.cu")).read_text("utf-8")
        self.desk.mkdir(exist_ok=True)
        loop = "for (volatile int i = 0; i < 1;) {\n    }\n    workbook::store_reversed"
        (self.desk / f"{name}.cu").write_text(text.replace("workbook::store_reversed", loop), "utf-8")
        done = self.workbook("check", name)
        self.assertIn("watchdog", done.stdout, done.stderr)
        self.assertIn(f"workspace/{name}.cu:", done.stdout)

    def test_endless_output(self) -> None:
        self.write('for (int i = 0; i < 8000; ++i) printf("on and on and on and on and on\\n");')
        self.assert_verdict("printed more than")

    def test_a_deadlock(self) -> None:
        self.write("if (t < 7) __syncthreads();")
        self.assert_verdict("workspace/reverse_tile.cu:")

    def test_an_illegal_access(self) -> None:
        self.write("tile[t] = in[start + t + 1000000];")
        self.assert_verdict("out-of-bounds", f"workspace/{NAME}.cu:", "in[start + t + 1000000]")

    def test_what_it_printed_is_shown(self) -> None:
        self.write(f'{ANSWER}\n        if (t == 3) printf("three\\n");\n        tile[t] += 1;')
        self.assert_verdict("out[0] should be", "It printed:", "three")

    def test_what_it_printed_is_shown_when_the_emulator_stops_it(self) -> None:
        self.write(f'{ANSWER}\n        if (t == 3) printf("three\\n");\n        tile[t + 1000000] = 0;')
        text = self.assert_verdict("out-of-bounds", "It printed: three")
        self.assertEqual(text.count("out-of-bounds"), 1)

    def test_what_it_printed_is_shown_when_it_is_right(self) -> None:
        self.write(f'{ANSWER}\n        if (t == 3) printf("three\\n");')
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("It printed:\n    three\n", done.stdout)


class Places(CloneTest):
    """What may be wrong with the workspace."""

    def progress(self) -> dict[str, dict[str, object]]:
        return tomllib.loads((self.desk / "progress.toml").read_text("utf-8"))

    def start(self, *arguments: str, **more: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(self.clone / "workbook"), *arguments],
            cwd=self.clone,
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def test_two_terminals_at_once(self) -> None:
        self.write(ANSWER)
        both = [self.start("check", NAME), self.start("check", NAME)]
        for process in both:
            out, err = process.communicate(timeout=SECONDS)
            self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.progress()[NAME]["checks"], 2)

    def test_many_hints_at_once_are_all_counted(self) -> None:
        several = [self.start("hint", NAME) for _ in range(3)]
        said = [process.communicate(timeout=SECONDS)[0] for process in several]
        for stage in (1, 2, 3):
            self.assertEqual(sum(f"Hint {stage} of 3" in text for text in said), 1, said)

    def test_ctrl_c_during_the_compilation(self) -> None:
        self.write(ANSWER)
        slow = "#include <cuda/pipeline>\n#include <cooperative_groups.h>\n"
        self.file.write_text(slow + self.file.read_text("utf-8"), "utf-8")
        with tempfile.TemporaryDirectory(prefix="workbook-interrupted-") as place:
            process = self.start("check", NAME, TMPDIR=place)
            self.assertTrue(wait_until(lambda: any(Path(place).glob("workbook-check-*")), SECONDS))
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=SECONDS)
            self.assertEqual(os.listdir(place), [])
        self.assertEqual(process.returncode, 130, out + err)
        self.assertEqual([line for line in err.splitlines() if line], ["workbook: interrupted"])
        self.assert_solved()

    def test_a_check_that_is_ended_ends_what_it_started(self) -> None:
        self.write("for (volatile int i = 0; i < 1;) {\n        }")
        with tempfile.TemporaryDirectory(prefix="workbook-ended-") as place:
            process = self.start("check", NAME, TMPDIR=place)
            self.addCleanup(process.communicate)
            self.assertTrue(wait_until(lambda: running("", f"/judge_{NAME}", f"{place}/workbook-check-"), 30))
            process.terminate()
            self.assertEqual(process.wait(timeout=SECONDS), 128 + signal.SIGTERM)
            self.assertTrue(wait_until(lambda: not running("", place), 5))
            self.assertEqual(os.listdir(place), [])

    def test_a_full_disk_leaves_the_progress_as_it_was(self) -> None:
        self.assert_solved()
        before = (self.desk / "progress.toml").read_text("utf-8")
        self.write("tile[t] = 0;")
        done = self.on_a_full_disk("hint", NAME)
        self.assertIn("progress could not be saved", done.stderr)
        self.assertIn("Hint 1 of 3", done.stdout)
        self.assertEqual((self.desk / "progress.toml").read_text("utf-8"), before)
        self.assertEqual([f.name for f in self.desk.iterdir() if f.name.startswith(".progress")], [])
        self.assert_solved()

    def test_a_full_disk_makes_no_half_copy(self) -> None:
        done = self.on_a_full_disk("next")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("cannot write workspace/", done.stderr)
        self.assertEqual(list(self.desk.glob("*.cu")), [])
        self.assert_solved()

    def on_a_full_disk(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """No file may become longer than nothing: writing fails as on a full disk, with another error."""
        code = (
            "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
            "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
            f"sys.path.insert(0, {str(self.clone / 'common')!r}); "
            "from cli.main import main; sys.exit(main(sys.argv[1:]))"
        )
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=self.clone,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    @unittest.skipIf(os.geteuid() == 0 and not hasattr(os, "setresuid"), "needs another user")
    def test_a_read_only_workspace(self) -> None:
        self.assert_solved()
        before = (self.desk / "progress.toml").read_text("utf-8")
        self.desk.chmod(0o555)
        self.addCleanup(self.desk.chmod, 0o755)
        for place in (self.home, self.clone):
            place.chmod(0o755)
        done = subprocess.run(
            [sys.executable if os.geteuid() else "/usr/bin/python3", str(self.clone / "workbook"), "hint", NAME],
            cwd="/",
            env=self.environment(PATH="/usr/local/bin:/usr/bin:/bin", HOME="/nonexistent"),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            user=65534 if os.geteuid() == 0 else None,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Hint 1 of 3", done.stdout)
        self.assertIn("progress could not be saved (Permission denied)", done.stderr)
        self.assertEqual((self.desk / "progress.toml").read_text("utf-8"), before)

    def test_an_unknown_exercise(self) -> None:
        for command in ("check", "watch", "hint", "solution", "reset"):
            done = self.workbook(command, "reverse_tle")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(
                done.stderr, "workbook: there is no exercise 'reverse_tle'; did you mean reverse_tile?\n"
            )

    def test_a_chapter_in_place_of_an_exercise(self) -> None:
        done = self.workbook("check", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is a chapter; its exercises are: reverse_tile", done.stderr)

    def test_a_damaged_progress_is_not_overwritten(self) -> None:
        self.desk.mkdir()
        (self.desk / "progress.toml").write_text("[oops", "utf-8")
        done = self.workbook("progress")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("progress.toml cannot be read", done.stderr)
        self.assertEqual((self.desk / "progress.toml").read_text("utf-8"), "[oops")

    def test_a_chapter_that_moved(self) -> None:
        self.assert_solved()
        chapters = self.clone / "chapters"
        (chapters / "01_sync_copy").rename(chapters / "17_sync_copy")
        text = (chapters / "meson.build").read_text("utf-8").replace("01_sync_copy", "17_sync_copy")
        (chapters / "meson.build").write_text(text, "utf-8")
        done = self.workbook("progress")
        self.assertIn("[x] reverse_tile", done.stdout, done.stderr)
        self.assertIn("17  sync_copy", done.stdout)

    def test_a_workspace_that_is_a_file(self) -> None:
        self.desk.write_text("", "utf-8")
        done = self.workbook("next")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("workspace", done.stderr)


class Files(CloneTest):
    """What happens to the learner's files."""

    def test_an_edited_file_is_never_overwritten(self) -> None:
        self.write(ANSWER)
        mine = self.file.read_text("utf-8")
        for command in (("next",), ("check", NAME), ("hint", NAME), ("list",)):
            self.workbook(*command)
            self.assertEqual(self.file.read_text("utf-8"), mine)

    def test_reset_keeps_numbered_backups(self) -> None:
        skeleton = next(self.clone.glob(f"chapters/*/exercises/{NAME}.cu")).read_text("utf-8")
        for number in (1, 2):
            self.write(f"{ANSWER} // attempt {number}")
            done = self.workbook("reset", NAME)
            self.assertIn(f"workspace/backups/{NAME}.{number}.cu", done.stdout, done.stderr)
        for number in (1, 2):
            text = (self.desk / "backups" / f"{NAME}.{number}.cu").read_text("utf-8")
            self.assertIn(f"attempt {number}", text)
        self.assertEqual(self.file.read_text("utf-8"), skeleton)

    def test_reset_forgets_the_success(self) -> None:
        self.assert_solved()
        self.workbook("reset", NAME)
        self.assertIn("[ ] reverse_tile", self.workbook("progress").stdout)

    def test_a_changed_exercise_renews_an_untouched_copy_only(self) -> None:
        self.workbook("next")
        skeleton = next(self.clone.glob(f"chapters/*/exercises/{NAME}.cu"))
        skeleton.write_text(skeleton.read_text("utf-8") + "// new\n", "utf-8")
        self.assertIn("is new", self.workbook("next").stderr)
        self.assertTrue(self.file.read_text("utf-8").endswith("// new\n"))
        self.file.write_text(self.file.read_text("utf-8") + "// mine\n", "utf-8")
        skeleton.write_text(skeleton.read_text("utf-8") + "// newer\n", "utf-8")
        self.assertIn("the exercise changed since you began", self.workbook("next").stderr)
        self.assertTrue(self.file.read_text("utf-8").endswith("// mine\n"))

    def test_git_ignores_the_workspace(self) -> None:
        if not (self.clone / ".git").exists():
            self.skipTest("this tree is no git repository")
        self.workbook("next")
        self.assertTrue(self.file.exists())
        done = subprocess.run(
            ["git", "status", "--porcelain"], cwd=self.clone, capture_output=True, text=True, check=True
        )
        self.assertEqual(done.stdout, "")


class Rooms(CloneTest):
    """What a teacher uses."""

    def test_prepare_says_that_every_exercise_can_be_checked(self) -> None:
        done = self.workbook("check", "--prepare")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^Ready to check all \d+ exercises\.$")

    def grade(self, *arguments: str) -> dict[str, dict[str, Any]]:
        """Grades the class and returns the learners by name."""
        done = self.workbook("grade", str(self.home / "class"), "--json", *arguments)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return {learner["name"]: learner for learner in json.loads(done.stdout)["learners"]}

    def hand_in(self, learner: str, text: str, name: str = NAME) -> Path:
        place = self.home / "class" / learner
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.cu").write_text(text, "utf-8")
        return place

    def test_grades_of_a_class(self) -> None:
        skeleton = next(self.clone.glob(f"chapters/*/exercises/{NAME}.cu")).read_text("utf-8")
        self.hand_in("ada", skeleton.replace(HOLE, ANSWER))
        place = self.hand_in("bob", skeleton.replace(HOLE, "tile[t] = in[t];"))
        (place / "progress.toml").write_text(f"[{NAME}]\nchecks = 7\nhints = 2\n", "utf-8")
        self.hand_in("gus", skeleton)
        (self.home / "class" / "ida").mkdir()
        files = [str(self.home / name) for name in ("grades.csv", "grades.html")]
        unconfined = [] if confinement() else ["--unconfined"]
        done = self.workbook("grade", str(self.home / "class"), "--csv", files[0], "--html", files[1], *unconfined)
        self.assertEqual(done.returncode, 1, done.stderr)
        for line in ("ada      +    1/1      0      0", "bob      x    0/1      7      2", "Handed in nothing (2): gus, ida"):
            self.assertIn(line, done.stdout.splitlines())
        self.assertIn("1 × out[256] should be", done.stdout)
        for file in files:
            self.assertIn("out[256] should be", Path(file).read_text("utf-8"))
        self.assertFalse((self.desk / "progress.toml").exists())

    def test_a_class_of_strangers_is_confined(self) -> None:
        """What a file does to the machine: it fails when it is graded, and does work where nothing confines it."""
        if confinement() is None:
            self.skipTest("this machine has neither namespaces nor bubblewrap")
        text = holes.solution(next(self.clone.glob(f"chapters/*/solutions/{NAME}.cu")).read_text("utf-8"))
        ada = self.hand_in("ada", text) / f"{NAME}.cu"
        self.hand_in("zoe", f'#include "{ada}"\n')
        marks = {who: learner["results"][NAME] for who, learner in self.grade().items()}
        self.assertEqual({who: mark["passed"] for who, mark in marks.items()}, {"ada": True, "zoe": False}, marks)
        self.assertRegex(marks["zoe"]["reason"], r"^does not compile: .*: No ")
        self.assertTrue(self.grade("--unconfined")["zoe"]["results"][NAME]["passed"])

    def test_a_directory_without_solutions_is_one_line(self) -> None:
        (self.home / "empty").mkdir()
        done = self.workbook("grade", str(self.home / "empty"))
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)


class Help(CloneTest):
    """Hints and solutions."""

    def test_hints_come_one_stage_at_a_time(self) -> None:
        for stage in (1, 2, 3, 3):
            self.assertIn(f"Hint {stage} of 3: ", self.workbook("hint", NAME).stdout)

    def test_the_solution_comes_when_asked_twice(self) -> None:
        first = self.workbook("solution", NAME)
        self.assertEqual(first.returncode, 1)
        self.assertIn("hints left (3)", first.stdout)
        self.assertNotIn(ANSWER, first.stdout)
        second = self.workbook("solution", NAME)
        self.assertEqual(second.returncode, 0)
        self.assertIn(ANSWER, second.stdout)
        for mark in ("//@", "//?", HOLE):
            self.assertNotIn(mark, second.stdout)

    def test_the_solution_comes_at_once_after_success(self) -> None:
        self.assert_solved()
        self.assertIn(ANSWER, self.workbook("solution", NAME).stdout)


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
