"""The parts of the learner's command that need no compiler."""

import itertools
import json
import os
import signal
import subprocess
import tempfile
import time
import tomllib
import unittest
import unittest.mock
from pathlib import Path

from support import ROOT, TreeTest

from cli import chapters, compiling, counted, evidence, exercises, holes, judging, limited, records, verdict
from cli.commands import hint
from cli.errors import UsageError, UserError
from cli.judging import Outcome
from cli.learner import Learner
from cli.records import Book, Record
from cli.workspace import Workspace

SOLUTION = """\
/// @file add_one.cu
void launch() {
    //@ hole
    right();
    //? // YOUR CODE: call it.
    //?     wrong();
    //@ end
    rest();
}
"""
MANIFEST = """\
[[exercise]]
name = "add_one"
title = "Add one"
kind = "fill"
task = "fill in: one more"
minutes = 5
hints = ["a", "b", "c"]
learned = "how to add"
fails_with = "wrong"
"""
HERE = Workspace(Path("/nowhere"), Path("/nowhere/build"))


class Holes(unittest.TestCase):
    def test_the_skeleton_has_the_other_text_in_the_hole(self) -> None:
        self.assertEqual(
            holes.skeleton(SOLUTION),
            "/// @file add_one.cu\nvoid launch() {\n    // YOUR CODE: call it.\n        wrong();\n    rest();\n}\n",
        )

    def test_the_solution_has_no_marks(self) -> None:
        self.assertEqual(
            holes.solution(SOLUTION), "/// @file add_one.cu\nvoid launch() {\n    right();\n    rest();\n}\n"
        )

    def test_the_skeleton_is_indented_as_the_mark_of_the_hole(self) -> None:
        text = "if (a)\n        //@ hole\n        b();\n    //? c();\n    //?     d();\n    //@ end\n"
        self.assertEqual(holes.skeleton(text), "if (a)\n        c();\n            d();\n")

    def test_marks_that_do_not_fit_are_errors(self) -> None:
        for text, word in (
            ("x\n", "no //@ hole"),
            ("//@ hole\n", "not closed"),
            ("//@ end\n", "line 1"),
            ("//@ hole\n//@ hole\n//@ end\n", "line 2"),
            ("//? x\n", "outside"),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(holes.HoleError, word):
                holes.skeleton(text)


class Manifests(unittest.TestCase):
    def read(self, text: str) -> list[exercises.Exercise]:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "exercises.toml"
            path.write_text(text, "utf-8")
            return exercises.read_manifest(path, chapters.Chapter("01_sync_copy"))

    def test_a_manifest(self) -> None:
        condition = '{ kernel = "k", field = "f", at_most = 4, per = "g", says = "s" }'
        (exercise,) = self.read(MANIFEST + f"counters = [{condition}]\n")
        self.assertEqual((exercise.name, exercise.minutes, exercise.hints), ("add_one", 5, ("a", "b", "c")))
        self.assertEqual(exercise.counters, (exercises.Condition("k", "f", "at_most", 4, "s", "g"),))
        self.assertEqual([e.uses_shared for e in self.read(MANIFEST + 'uses_shared = """\na\nb"""\n')], ["a b"])

    def test_an_architecture_is_one_of_two(self) -> None:
        self.assertEqual([self.read(MANIFEST + t)[0].architecture for t in ("", 'architecture = "90a"\n')], ["90", "90a"])
        with self.assertRaisesRegex(UserError, "architecture must be one of 90, 90a"):
            self.read(MANIFEST + 'architecture = "80"\n')

    def test_what_is_wrong_is_said(self) -> None:
        for old, new, word in (
            ('kind = "fill"', 'kind = "essay"', "kind must be"),
            ('"a", "b", "c"', '"a"', "three hints"),
            ("minutes = 5", "hours = 5", "hours, minutes"),
            ('name = "add_one"', 'name = "7"', "no name for an exercise"),
            ("[[exercise]]", "[[exercises]]", "only"),
            ("[[exercise]]", "[[exercise", "exercises.toml"),
            ('"wrong"', '"wrong"\ncounters = [{ kernel = "k" }]', "a counter needs"),
        ):
            with self.subTest(new=new), self.assertRaisesRegex(UserError, word):
                self.read(MANIFEST.replace(old, new))

    def test_unknown_names_get_advice(self) -> None:
        known = self.read(MANIFEST)
        self.assertEqual(exercises.resolve("add_one", known), known[0])
        for name, word in (("add_on", "did you mean add_one"), ("zebra", "workbook list"), ("1", "its exercises are")):
            with self.subTest(name=name), self.assertRaisesRegex(UsageError, word):
                exercises.resolve(name, known)


class Progress(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "progress.toml"
        self.book = Book(self.path)

    def test_what_is_kept_comes_back(self) -> None:
        def solve(record: Record) -> None:
            record.solved, record.hints, record.solution_asked = records.now(), 2, True

        self.book.update("add_one", solve)
        self.book.update("add_two", lambda record: setattr(record, "checks", 7))
        kept = self.book.read()
        self.assertEqual((kept["add_one"].hints, kept["add_one"].solution_asked), (2, True))
        self.assertTrue(kept["add_one"].solved.startswith("20"))
        self.assertEqual(kept["add_two"], Record(checks=7))

    def test_an_exercise_that_is_gone_is_kept(self) -> None:
        self.path.write_text("[long_gone]\nsolved = \"2024-01-01\"\n", "utf-8")
        self.book.update("add_one", lambda record: setattr(record, "checks", 1))
        self.assertEqual(self.book.read()["long_gone"].solved, "2024-01-01")

    def test_a_failure_on_the_way_leaves_the_old_file(self) -> None:
        self.book.update("add_one", lambda record: setattr(record, "checks", 1))
        before = self.path.read_bytes()

        def interrupted(record: Record) -> None:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.book.update("add_one", interrupted)
        self.assertEqual(self.path.read_bytes(), before)

    def test_damage_is_said_and_left_alone(self) -> None:
        for text in ("[oops", "add_one = 3", '[add_one]\nhints = "two"'):
            with self.subTest(text=text):
                self.path.write_text(text, "utf-8")
                with self.assertRaisesRegex(UserError, "cannot be read"):
                    self.book.update("add_one", lambda record: None)
                self.assertEqual(self.path.read_text("utf-8"), text)


class Verdicts(unittest.TestCase):
    def exercise(self) -> exercises.Exercise:
        return exercises.Exercise(
            "add_one", "Add one", "fill", "fill in: one more", 5, ("a", "b", "c"), "how to add", "wrong", chapters.Chapter("01_sync_copy")
        )

    def test_help_depends_on_the_hints_that_were_given(self) -> None:
        said = [verdict.help_for(self.exercise(), Record(hints=n)) for n in range(4)]
        for text, word in zip(said, ("a hint", "one more hint", "the last hint", "solution"), strict=True):
            self.assertIn(word, text)
        self.assertEqual(verdict.help_for(self.exercise(), Record(), keys=True), "Press h for a hint.")

    def test_a_verdict_never_fills_more_than_a_screen(self) -> None:
        outcome = Outcome("result", [f"line {n}" for n in range(500)])
        lines = verdict.render(self.exercise(), outcome, "advice", HERE).splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertEqual((lines[0], lines[-1]), ("add_one: not yet.", "advice"))

    def test_what_was_printed_is_shown_whatever_came_of_it(self) -> None:
        printed = [f"printed {n}" for n in range(10)]
        finding = {"name": "race-shared", "message": "m", "locations": []}
        for outcome in (
            Outcome("passed", printed=printed),
            Outcome("result", ["wrong"], printed=printed),
            Outcome("counters", ["too many"], printed=printed),
            Outcome("run", ["stopped"], finding, printed=printed),
        ):
            with self.subTest(stage=outcome.stage):
                lines = verdict.render(self.exercise(), outcome, "advice", HERE).splitlines()
                self.assertEqual(lines[-12:-1], ["It printed:", *(f"    {text}" for text in printed)])

    def test_a_finding_in_a_helper_names_who_called_it(self) -> None:
        callers = [{"file": "roles.cu", "line": 30}, {"file": "roles.cu", "line": 90}]
        location = {"file": "helper.cuh", "line": 7, "role": "written by thread 0", "callers": callers}
        finding = {"name": "race-shared", "message": "m", "locations": [location]}
        text = verdict.render(self.exercise(), Outcome("run", ["stopped"], finding), "advice", HERE)
        called = "      called from roles.cu:30\n      called from roles.cu:90\n"
        self.assertIn(f"  helper.cuh:7  written by thread 0\n{called}", text)

    def test_a_finding_in_a_header_of_the_workbook_names_ones_own_line_first(self) -> None:
        callers = [{"file": "mine.cu", "line": 30}, {"file": "mine.cu", "line": 90}]
        header = "common/include/workbook/nowhere.cuh"
        location = {"file": header, "line": 7, "role": "written by thread 0", "callers": callers, "own": 1}
        finding = {"name": "race-shared", "message": "m", "locations": [location]}
        text = verdict.render(self.exercise(), Outcome("run", ["stopped"], finding), "advice", HERE)
        self.assertIn(
            f"  mine.cu:30  written by thread 0\n      in {header}:7\n      called from mine.cu:90\n", text
        )

    def test_a_long_verdict_leaves_room_for_the_last_lines_printed(self) -> None:
        outcome = Outcome("result", [f"line {n}" for n in range(15)], printed=[f"printed {n}" for n in range(10)])
        lines = verdict.render(self.exercise(), outcome, "advice", HERE).splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertEqual(lines[-6:], ["It printed:", *(f"    printed {n}" for n in (6, 7, 8, 9)), "advice"])
        self.assertIn("line 14", lines)

    def test_the_time_limit_names_the_case(self) -> None:
        lines = judging._judged(["trying", "with 7 elements", ""], None, 20).lines
        self.assertEqual(lines[:2], ["Tried with 7 elements.", "It had not ended after 20 s, and was stopped."])
        self.assertTrue(judging._judged([], None, 20).lines[0].startswith("It had not ended"))
        self.assertTrue(lines[2].endswith("in the kernel."))

    def test_a_command_on_a_busy_machine_has_longer(self) -> None:
        for script, had, status in (
            ("sleep 0.6", 0.1, 0),  # computes, and others have the processors
            ("sleep 60", 0.4, None),  # has had its time
            ("sleep 60", 0.0, None),  # sleeps
            ("sleep 60", 0.1, None),  # no longer than four times
        ):
            measured = unittest.mock.patch.object(limited, "_processor_seconds", return_value=had)
            with self.subTest(script=script, had=had), measured:
                self.assertEqual(limited.finish(["/bin/sh", "-c", script], ROOT, dict(os.environ), 0.4)[0], status)

    def test_what_descendants_had_of_the_processors_counts(self) -> None:
        script = "sh -c 'while :; do :; done' >&2 & echo $!; wait"
        with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            child = int(process.stdout.readline())
            try:
                end = time.monotonic() + 30
                while limited._processor_seconds(process.pid) < 0.1 and time.monotonic() < end:
                    time.sleep(0.05)
                self.assertGreaterEqual(limited._processor_seconds(process.pid), 0.1)
            finally:
                os.kill(child, signal.SIGKILL)

    def test_the_first_error_of_a_compiler(self) -> None:
        source = "workspace/add_one.cu"
        for output, first in (
            (f'{source}(7): error: identifier "x" is undefined\n      x;\n      ^\n\n1 error detected', f"{source}(7): error"),
            ("ptxas /tmp/tmpxft_1.ptx, line 20; error   : Argument 2", "assembler: error   : Argument 2"),
            ("nothing that anybody knows", "The compiler stopped"),
        ):
            with self.subTest(output=output):
                lines = compiling.compiler_problem(output.splitlines(), source)
                self.assertTrue(lines[0].startswith(first), lines)
                self.assertLess(len(lines), 12)

    def test_a_function_that_libcu_has_for_another_target(self) -> None:
        exercise = exercises.Exercise("one", "One", "fill", "t", 5, ("a", "b", "c"), "l", "f", chapters.Chapter("01_sync_copy"))
        with tempfile.TemporaryDirectory() as directory:
            ptx = Path(directory) / "a.ptx"
            for function, said in (
                ("__cuda_ptx_cp_async_bulk_is_not_supported_before_SM_90a_SM_100a__", "_bulk that libcu++ has for sm_90a"),
                ("__my_cp_async_bulk", ""),
            ):
                ptx.write_text(f".extern .func {function}\n()\n;\n", "utf-8")
                lines = " ".join(compiling._of_another_target(exercise, Path("a.cu"), ptx))
                self.assertIn(said, lines)
                self.assertEqual(bool(said), bool(lines))

    def test_an_error_in_a_header_names_the_learners_line(self) -> None:
        output = (
            "common/include/workbook/launch.hpp(55): error: static assertion failed\n          static_assert(x);\n\n"
            '          detected during instantiation of "f" at line 40 of workspace/add_one.cu\n'
        )
        lines = compiling.compiler_problem(output.splitlines(), "workspace/add_one.cu")
        self.assertIn("line 40 of workspace/add_one.cu", lines[-1])


class Counters(unittest.TestCase):
    LAUNCH = {
        "kernel": "f(int)",
        "total": {"global_load_sectors": 12, "global_load_requests": 2},
        "lines": [
            {"file": "a.cu", "line": 1, "counts": {"global_load_sectors": 2}},
            {"file": "a.cu", "line": 9, "counts": {"global_load_sectors": 10}},
        ],
    }

    def missed(self, bound: str, limit: float, per: str | None, kernel: str = "f") -> list[str]:
        condition = exercises.Condition(kernel, "global_load_sectors", bound, limit, "because", per)
        return evidence.missed((condition,), [self.LAUNCH] * 2, HERE)

    def test_sums_over_all_launches_are_compared(self) -> None:
        for bound, limit, per, met in (
            ("at_most", 24, None, True),
            ("at_most", 23, None, False),
            ("at_most", 6, "global_load_requests", True),
            ("at_most", 5.9, "global_load_requests", False),
            ("at_least", 6, "global_load_requests", True),
            ("at_least", 6.1, "global_load_requests", False),
            ("equals", 24, None, True),
            ("equals", 0, None, False),
        ):
            with self.subTest(bound=bound, limit=limit, per=per):
                self.assertEqual(self.missed(bound, limit, per) == [], met)

    def test_only_code_is_quoted(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            for name, quoted in (("a.cu", True), ("secret", False), ("include/pipeline", True)):
                file = Path(directory) / name
                file.parent.mkdir(exist_ok=True)
                file.write_text("words\n", "utf-8")
                self.assertEqual(evidence.quoted(str(file), 1, HERE).endswith(":1: words"), quoted)

    def test_atomics_in_global_memory_pass_no_judge_of_bytes(self) -> None:
        def missed(atomics: int, *more: str) -> list[str]:
            launch = {"kernel": "f", "lines": [], "total": {"bytes_cp_async": 4, "global_atomic_requests": atomics}}
            fields = ("bytes_cp_async", *more)
            conditions = tuple(exercises.Condition("f", field, "at_most", 4, "because") for field in fields)
            return evidence.missed(conditions, [launch], HERE)

        self.assertEqual(missed(0), [])
        self.assertIn("this exercise needs none", missed(1)[1])
        self.assertEqual(missed(1, "global_atomic_requests"), [])  # the exercise has its own word

    def test_one_launch_and_what_is_taken_off(self) -> None:
        totals = [{"bytes_tensor_load": n, "bytes_multicast": 2, "global_atomic_requests": 0} for n in (9, 5)]
        launches = [{"kernel": "f", "lines": [], "total": total} for total in totals]

        def missed(at_most: int, launch: int | None) -> list[str]:
            condition = exercises.Condition(
                "f", "bytes_tensor_load", "at_most", at_most, "because", less="bytes_multicast", launch=launch
            )
            return evidence.missed((condition,), launches, HERE)

        for launch, count in ((1, 7), (2, 3), (None, 10)):
            with self.subTest(launch=launch):
                self.assertEqual(missed(count, launch), [])
                which = f" (launch {launch})" if launch else ""
                self.assertIn(f"counts {count} bytes loaded by tensor copies (without ", missed(count - 1, launch)[0])
                self.assertIn(f"further blocks){which}; asked for: at most {count - 1}.", missed(count - 1, launch)[0])
        self.assertIn("was launched (launch 3)", missed(1, 3)[0])

    def test_what_is_missed_is_explained(self) -> None:
        lines = self.missed("at_most", 4, "global_load_requests")
        self.assertIn("counts 6 sectors of 32 bytes loaded per load of a warp from global memory; asked for: at most 4.", lines[0])
        self.assertEqual(lines[1], "because")
        self.assertIn("a.cu:9", lines[2])

    def test_a_kernel_that_was_not_launched(self) -> None:
        lines = self.missed("at_most", 100, None, kernel="g")
        self.assertIn("No kernel whose name contains `g`", lines[0])

    def test_every_field_that_an_exercise_bounds_has_words(self) -> None:
        for manifest in (ROOT / "chapters").glob("*/exercises/exercises.toml"):
            for entry in tomllib.loads(manifest.read_text("utf-8"))["exercise"]:
                for field in {c[key] for c in entry.get("counters", []) for key in ("field", "per", "less") if key in c}:
                    with self.subTest(exercise=entry["name"], field=field):
                        self.assertNotEqual(counted.many(field), field.replace("_", " "))

    def test_no_word_of_a_hint_is_broken(self) -> None:
        for manifest in (ROOT / "chapters").glob("*/exercises/exercises.toml"):
            for entry in tomllib.loads(manifest.read_text("utf-8"))["exercise"]:
                for text, columns in itertools.product(entry["hints"], (40, 80)):
                    lines = hint.wrapped(text, columns).splitlines()
                    self.assertEqual(" ".join(lines), text)
                    self.assertTrue(all(len(line) <= columns or " " not in line for line in lines))

    def test_what_was_counted_has_words_of_its_own_for_one_and_none(self) -> None:
        launch = {"kernel": "f", "lines": [], "total": {"async_operations": 1, "mbarrier_phases": 0}}
        for per, words in (
            (None, "counts 1 asynchronous copy; asked for: exactly 2."),
            ("mbarrier_phases", "counts 1 asynchronous copy and no completed phase of an mbarrier; "),
        ):
            condition = exercises.Condition("f", "async_operations", "equals", 2, "because", per)
            lines = evidence.missed((condition,), [launch], HERE)
            self.assertIn(words, lines[0])


class Lists(TreeTest):
    def setUp(self) -> None:
        super().setUp()
        place = self.tree / "chapters" / "01_sync_copy"
        for name in ("exercises", "solutions"):
            (place / name).mkdir()
        (place / "exercises" / "exercises.toml").write_text(MANIFEST, "utf-8")
        (place / "solutions" / "add_one.cu").write_text(SOLUTION, "utf-8")

    def test_skeletons_are_made_and_checked(self) -> None:
        done = self.workbook("exercises", "--check")
        self.assertEqual((done.returncode, done.stdout), (1, "0 of 1 skeletons are current\n"), done.stderr)
        self.assertEqual(self.workbook("exercises", "--generate").returncode, 0)
        skeleton = self.tree / "chapters" / "01_sync_copy" / "exercises" / "add_one.cu"
        self.assertIn("YOUR CODE", skeleton.read_text("utf-8"))
        self.assertEqual(self.workbook("exercises", "--check").returncode, 0)
        skeleton.write_text("drifted", "utf-8")
        self.assertEqual(self.workbook("exercises", "--check").returncode, 1)

    def test_list_as_json(self) -> None:
        report = json.loads(self.workbook("list", "--json").stdout)
        first, second = report["chapters"]
        self.assertEqual((first["name"], first["title"]), ("sync_copy", "through the registers"))
        self.assertEqual(second["exercises"], [])
        (exercise,) = first["exercises"]
        self.assertEqual(
            {key: exercise[key] for key in ("name", "title", "kind", "minutes", "solved", "hints_shown")},
            {"name": "add_one", "title": "Add one", "kind": "fill", "minutes": 5, "solved": False, "hints_shown": 0},
        )
        self.assertEqual(exercise["file"], str(self.tree / "workspace" / "add_one.cu"))

    def test_progress_as_json(self) -> None:
        self.workbook("hint", "add_one")
        report = json.loads(self.workbook("progress", "--json").stdout)
        self.assertEqual((report["solved"], report["next"]), (0, "add_one"))
        self.assertEqual(report["exercises"]["add_one"]["hints"], 1)

    def test_next_with_a_name_says_what_to_call(self) -> None:
        said = "`next` takes no name; ./workbook check add_one begins that exercise"
        self.assert_one_line(self.workbook("next", "add_one"), 2, said)
        self.assert_one_line(self.workbook("next", "add_on"), 2, "did you mean add_one?")
        for help_text in (self.workbook("next", "--help").stdout, self.workbook("--help").stdout):
            self.assertRegex(help_text, "check\\s+NAME")

    def test_what_comes_next_is_behind_what_was_solved_last(self) -> None:
        place = self.tree / "chapters" / "01_sync_copy" / "exercises" / "exercises.toml"
        names = ("first", "second", "third")
        place.write_text("\n".join(MANIFEST.replace("add_one", name) for name in names), "utf-8")
        (self.tree / "workspace").mkdir()
        days = {"first": "2024-01-02", "second": "2024-01-03", "third": "2024-01-01"}
        for solved, following, behind_second in (
            ((), "first", "third"),
            (("second",), "third", "third"),
            (("third",), "first", "first"),
            (("first", "third"), "second", None),
            (("second", "third"), "first", "first"),
            (names, None, None),
        ):
            with self.subTest(solved=solved):
                text = "".join(f'[{name}]\nsolved = "{days[name]} 10:00:00+00:00"\n' for name in solved)
                (self.tree / "workspace" / "progress.toml").write_text(text, "utf-8")
                self.assertEqual(json.loads(self.workbook("progress", "--json").stdout)["next"], following)
                learner = Learner(Workspace(self.tree, self.tree / "build"))
                after = learner.following(learner.chosen("second"))
                self.assertEqual(after.name if after else None, behind_second)

    def test_a_path_must_be_the_file_in_the_workspace(self) -> None:
        self.assertEqual(self.workbook("exercises", "--generate").returncode, 0)
        for good in ("workspace/add_one.cu", str(self.tree / "workspace" / "add_one.cu")):
            self.assertIn("Hint", self.workbook("hint", good).stdout)
        self.workbook("next")
        inside = self.tree / "workspace"
        for name in ("add_one.cu", "../my clone/workspace/add_one.cu"):
            self.assertIn("Hint", self.workbook("hint", name, cwd=inside).stdout)
        for bad in ("/other/place/add_one.cu", "add_one.cu", "chapters/01_sync_copy/exercises/add_one.cu"):
            with self.subTest(bad=bad):
                done = self.workbook("check", bad)
                self.assert_one_line(done, 2, f"{bad} is not your file of add_one; that is workspace/add_one.cu")
        self.assert_one_line(self.workbook("check", "workspace/add_on.cu"), 2, "did you mean add_one?")

    def test_a_tree_without_exercises_says_so(self) -> None:
        (self.tree / "chapters" / "01_sync_copy" / "exercises" / "exercises.toml").unlink()
        self.assert_one_line(self.workbook("check"), 1, "no exercises")

    def test_two_exercises_of_one_name_are_an_error(self) -> None:
        place = self.tree / "chapters" / "05_tma_1d" / "exercises"
        place.mkdir()
        (place / "exercises.toml").write_text(MANIFEST, "utf-8")
        self.assert_one_line(self.workbook("list"), 1, "'add_one' exists already")
