"""The lists that pages take from the sources: the emulator's findings, and the exercises with their minutes."""

import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from cli import requirements
from cli.workspace import Workspace
from weaving.errors import WeaveError
from weaving.programs import Runner

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/listings"))

import chapter_exercises  # noqa: E402
import chapter_table  # noqa: E402
import emulator_tables  # noqa: E402
import error_catalogue  # noqa: E402
import exercise_minutes  # noqa: E402
import gemm_step  # noqa: E402
import requirement_table  # noqa: E402
import syllabus  # noqa: E402

CATALOGUE = """#!/bin/sh
cat <<'END'
{"name":"late","title":"Too late","explanation":"Call add_one() and st.async, not this.","cause":"A wait.",\
"remedy":"Wait with .acquire at cuda::thread_scope_device (bar.sync n): see 'Which barrier?' and not-seen.","unseen":"Some."}
{"name":"not-seen","title":"Not seen","explanation":"Nobody.","cause":"Nothing.","remedy":"Nothing.","unseen":""}
END
"""

MISTAKES = """#!/bin/sh
[ "$1" = --list ] && { echo no_wait; echo refused; exit 0; }
[ "$1" = no_wait ] && echo 'error[late] in kernel k' >&2
echo 'kernel failed at somewhere' >&2
exit 1
"""

README = """# Chapter
## Mistakes
### The `wait` is missing
<!-- mistake: no_wait -->
<!-- end -->
### Refused
<!-- mistake: refused -->
<!-- end -->
"""


class ErrorCatalogue(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name).resolve()
        self.put("chapters/01_demo/README.md", README)
        self.put("tests/emulator/seen.cpp", 'finding("not-seen");')
        self.put(f"build/{error_catalogue.PROGRAM}", CATALOGUE)
        self.put("build/chapters/01_demo/demo_mistakes", MISTAKES)
        self.runner = Runner(self.root, self.root / "build")

    def put(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755)

    def test_a_finding_has_its_mistake_and_its_message(self) -> None:
        page = error_catalogue.page(self.runner)
        self.assertIn("### late\n**Too late.** Call `add_one()` and `st.async`, not this.\n", page)
        link = "[chapter 1, `no_wait`](../../chapters/01_demo/README.md#the-wait-is-missing)"
        self.assertIn(f"*Shown in* {link}.\n\n```\n$ ./workbook run demo", page)
        self.assertIn("error[late] in kernel k\n```\n", page)
        self.assertNotIn("kernel failed", page)

    def test_a_finding_without_a_mistake_has_a_test(self) -> None:
        self.assertIn("(../../tests/emulator/seen.cpp)", error_catalogue.page(self.runner))

    def test_causes_remedy_and_limits_stand_apart(self) -> None:
        page = error_catalogue.page(self.runner)
        self.assertIn("\n*Causes:* A wait.\n\n*What to do:* Wait with `.acquire` at `cuda::thread_scope_device`", page)
        self.assertIn("\n*Not seen:* Some.\n", page)
        self.assertEqual(page.count("*Not seen:*"), 1)

    def test_shared_rules_and_other_findings_are_linked(self) -> None:
        page = error_catalogue.page(self.runner)
        self.assertIn("(`bar.sync n`): see [Which barrier?](#which-barrier) and [`not-seen`](#not-seen).", page.replace("\n", " "))

    def test_a_message_that_the_catalogue_does_not_know_is_an_error(self) -> None:
        self.put("build/chapters/01_demo/demo_mistakes", MISTAKES.replace("[late]", "[new]"))
        with self.assertRaisesRegex(WeaveError, "not in the catalogue: new"):
            error_catalogue.page(self.runner)


class EmulatorTables(unittest.TestCase):
    def test_opcodes_stand_in_their_chapters(self) -> None:
        lines = ["9.7.13.15 mbarrier.init", "9.7.1.2 sub", "9.7.1.1 add", "9.7.1.9 add"]
        self.assertEqual(
            list(emulator_tables.instructions(lines)),
            ["9.7.1   integer arithmetic            add  sub", "9.7.13  synchronisation               mbarrier.init"],
        )

    def test_an_opcode_of_no_chapter_is_an_error(self) -> None:
        with self.assertRaisesRegex(emulator_tables.TableError, "no chapter for .*tcgen05"):
            list(emulator_tables.instructions(["9.7.16.7 tcgen05.alloc"]))

    def test_functions_are_grouped_by_their_first_word(self) -> None:
        names = ["cuMemAlloc", "cuMemFree", "cuMemMap", "cuInit", "cudaMalloc", "cuGetExportTable"]
        self.assertEqual(
            list(emulator_tables.functions(names, "cu")),
            ["Mem             cuMemAlloc  cuMemFree  cuMemMap", "others          cuInit"],
        )

    def test_long_lists_are_wrapped_below_their_head(self) -> None:
        lines = list(emulator_tables.wrapped("head", ["word"] * 40, 10))
        self.assertGreater(len(lines), 1)
        self.assertTrue(all(line.startswith(" " * 10 + "word") and len(line) <= emulator_tables.WIDTH for line in lines[1:]))

    def test_a_tool_that_is_not_built_or_fails_is_an_error(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            build = Path(directory)
            with self.assertRaisesRegex(emulator_tables.TableError, "is not built"):
                emulator_tables.table("messages", build)
            tool = build / emulator_tables.TOOLS / "tables"
            tool.parent.mkdir(parents=True)
            tool.write_text("#!/bin/sh\necho no library >&2\nexit 2\n", "utf-8")
            tool.chmod(0o755)
            with self.assertRaisesRegex(emulator_tables.TableError, "tables ended with 2: no library"):
                emulator_tables.table("driver", build)


class ChapterTable(unittest.TestCase):
    def test_chapters_in_their_order_with_their_titles(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            for name, title in (("02_two", "# Chapter 2: later"), ("01_one", "# Chapter 1: first")):
                (root / "chapters" / name).mkdir(parents=True)
                (root / "chapters" / name / "README.md").write_text(title + "\n\n# Not this\n", "utf-8")
            (root / "chapters/meson.build").write_text("chapter_names = ['01_one', '02_two']\n", "utf-8")
            rows = chapter_table.table(Workspace(root, root / "build"))
        self.assertEqual(rows[2:], ["| 1 | [one](chapters/01_one/README.md) | first |", "| 2 | [two](chapters/02_two/README.md) | later |"])


class ChapterExercises(unittest.TestCase):
    def test_names_and_what_one_does(self) -> None:
        task = mock.Mock(task="fill in: one line")
        task.name = "e"
        self.assertEqual(chapter_exercises.table([task])[2:], ["| `e` | fill in: one line |"])

    def test_a_chapter_that_is_none_is_an_error(self) -> None:
        self.assertEqual(chapter_exercises.main(["no_chapter"]), 1)


class ExerciseMinutes(unittest.TestCase):
    def test_chapters_and_sums(self) -> None:
        first, second = (mock.Mock(number=n, directory=f"0{n}_c{n}") for n in (1, 2))
        first.name, second.name = "c1", "c2"
        tasks = [mock.Mock(chapter=c, title="t", kind="fill", minutes=m) for c, m in ((first, 5), (first, 7), (second, 9))]
        for number, task in enumerate(tasks):
            task.name = f"e{number}"
        rows = exercise_minutes.table(tasks)[2:]
        self.assertEqual(rows[0], "| [1 c1](../../chapters/01_c1/README.md#exercises) | `e0` | t | fill in | 5 | 12 |")
        self.assertEqual(rows[1], "|  | `e1` | t | fill in | 7 |  |")
        self.assertEqual(rows[-1], "| all | 3 exercises |  |  |  | 21 |")


class RequirementTable(unittest.TestCase):
    def test_every_requirement_has_one_row(self) -> None:
        rows = requirement_table.table()[2:]
        self.assertEqual(len(rows), len(requirements.ALL))
        for requirement in requirements.ALL:
            title = requirement.title.removeprefix("a ").removeprefix("the ")
            self.assertEqual(sum(f"| {title} |" in row for row in rows), 1, title)

    def test_who_gets_what(self) -> None:
        compiler, meson = (next(r for r in requirement_table.table() if f"| {t} |" in r) for t in ("C++ compiler", "Meson"))
        self.assertIn("| package `g++` | cannot: ask root |", compiler)
        self.assertRegex(meson, r"\| package `meson` \| Python wheel `meson==[\d.]+` \|$")


class Syllabus(unittest.TestCase):
    def setUp(self) -> None:
        self.task = mock.Mock(title="t", minutes=50)
        self.task.name = "e"
        self.plan = {"at_most": 90, "slots": [{"talk": "a", "minutes": 20}, {"exercise": "e"}, {"pause": "b", "minutes": 5}]}

    def test_the_clock_and_the_sums(self) -> None:
        lines = syllabus.table("p", self.plan, [self.task])
        self.assertEqual(lines[2:5], ["| 0:00 | a | 20 |", "| 0:20 | Exercise `e`: t | 50 |", "| 1:10 | b | 5 |"])
        self.assertEqual(lines[-1], "75 minutes: 20 of talk, 50 of exercises, 5 of breaks.")

    def test_a_plan_that_does_not_hold_is_an_error(self) -> None:
        for change, words in (({"at_most": 74}, "takes 75 minutes"), ({"slots": [{"exercise": "x"}]}, "no exercise 'x'")):
            with self.subTest(words), self.assertRaisesRegex(syllabus.PlanError, words):
                syllabus.table("p", self.plan | change, [self.task])


class GemmStep(unittest.TestCase):
    NAMES = gemm_step.rungs('inline Rung rungs[] = {\n    {"slow", "shows", f},\n    {"fast", "shows", g<>},\n    {"new", "?", h},\n};')
    ROWS = [
        {"extent": "8 x 8 x 8", "pace": "with pauses", "kernel": "fast", "share": 90.04},
        {"extent": "8 x 8 x 8", "pace": "without pauses", "kernel": "slow", "share": 45.0},
        {"extent": "8 x 8 x 8", "pace": "without pauses", "kernel": "fast", "share": 89.0},
    ]

    def test_the_ladder_s_order_says_which_rung_comes_before(self) -> None:
        self.assertEqual(self.NAMES, ["slow", "fast", "new"])
        text = "\n".join(gemm_step.step(self.NAMES, self.ROWS, "fast"))
        self.assertIn("| `slow` → `fast`, % of cuBLAS | 8 x 8 x 8 |", text)
        self.assertIn("| with pauses | – → 90.0 |", text)
        self.assertIn("| without pauses | 45.0 → 89.0 |", text)

    def test_a_rung_without_measurement_is_said_to_have_none(self) -> None:
        self.assertIn("has not been measured yet", gemm_step.step(self.NAMES, self.ROWS, "new")[0])

    def test_the_chapter_s_ladder_is_found(self) -> None:
        names = gemm_step.rungs((gemm_step.ROOT / gemm_step.LADDER).read_text("utf-8"))
        self.assertEqual((names[0], names[-1], len(names)), ("naive", "tuned", 13))

    def test_the_table_of_rungs_in_the_chapter_has_what_was_measured(self) -> None:
        """Its numbers are written by hand, beside what each rung is for."""
        long_, short_, cool, hot = "8192 x 8192 x 8192", "8192 x 8192 x 1024", "with pauses", "without pauses"
        tables = gemm_step.load(gemm_step.ROOT)
        # The chapter argues from the run with the counters, which has no rungs 1 and 2: those are of the ladder's run, without pauses.
        found = {"counters": gemm_step.rows(tables["gemm_burst_clock"]), "other": gemm_step.rows(tables["gemm_ladder"])}
        rates = {(run, row["extent"], row["pace"], row["kernel"]): float(row["tflops"]) for run, lines in found.items() for row in lines if row["tflops"] is not None}

        def share(extent: str, name: str, run: str = "counters", pace: str = cool) -> float:
            return 100 * rates[run, extent, pace, name] / rates[run, extent, pace, "cuBLAS"]

        ladder = gemm_step.rungs((gemm_step.ROOT / gemm_step.LADDER).read_text("utf-8"))
        text = (gemm_step.ROOT / "chapters/12_gemm/README.md").read_text("utf-8")
        written = re.findall(r"^\| \[\d+ `(\w+)`\].* (\S+) % \| (\S+) % \|$", text, re.MULTILINE)
        run_of = {name: ("other", hot) if name in ladder[:2] else ("counters", cool) for name in ladder}
        self.assertEqual(written, [(name, *(f"{share(extent, name, *run_of[name]):.1f}" for extent in (short_, long_))) for name in ladder])
        bursts = {(row["extent"], row["kernel"]): row for row in found["counters"] if row["pace"] == cool}
        cycles = {key: float(row["cycles"]) for key, row in bursts.items()}
        mhz = {key: float(row["sm_mhz"]) for key, row in bursts.items()}
        extents = (long_, short_)
        words = dict(zip(("long", "short"), extents, strict=True))
        yard = re.findall(r"^\| (long|short) \| (\d+) \| (\d+) \| (\d\.\d{3}) \|$", text, re.MULTILINE)
        self.assertEqual(yard, [(word, f"{cycles[e, 'cuBLAS']:.0f}", f"{mhz[e, 'cuBLAS']:.0f}", f"{cycles[e, 'cuBLAS'] / mhz[e, 'cuBLAS']:.3f}") for word, e in words.items()])
        steps = re.findall(r"^\| rung (\d+) → (\d+) `(\w+)` \|.*\n\|[-:|]+\|\n((?:\| (?:long|short) \|.*\n)+)", text, re.MULTILINE)
        self.assertEqual([(int(before), int(after)) for before, after, *_ in steps], [(after - 1, after) for after in range(4, 14)])
        for before, after, name, lines in steps:
            self.assertEqual(name, ladder[int(after) - 1])
            said = re.findall(r"^\| (long|short) \| (\d+) → (\d+) % \| (\d+) → (\d+) \| (\d+) → (\d+) \|$", lines, re.MULTILINE)
            keys = {word: [(words[word], ladder[int(number) - 1]) for number in (before, after)] for word in words}
            self.assertEqual(said, [(word, *(f"{value:.0f}" for of in (lambda key: share(*key), cycles.get, mhz.get) for value in map(of, keys[word]))) for word in words])
        paces = re.findall(r"^\| rung (\d+) `(\w+)` \| (\d+) % \| (\d+) % \| (\d+) % \| (\d+) % \|$", text, re.MULTILINE)
        self.assertEqual([int(number) for number, *_ in paces], [4, 5, 6, 7, 8, 11, 12, 13])
        for number, name, *said in paces:
            self.assertEqual(name, ladder[int(number) - 1])
            self.assertEqual(said, [f"{share(long_, name, run, pace):.0f}" for run in found for pace in (cool, hot)])
        # The appendix divides the cycles of rungs 8 to 12, and has bounds for rungs 4 to 7, in whole thousands.
        divided = re.findall(r"^\| (\d+) `(\w+)` \|" + r" (\d+) \|" * 6 + "$", text, re.MULTILINE)
        self.assertEqual([int(number) for number, *_ in divided], [8, 9, 10, 11, 12, 4, 5, 6, 7])
        waves = 16 * 128 * 256 * 4 / 1000
        for number, name, *said in divided:
            self.assertEqual(name, ladder[int(number) - 1])
            long, short = (cycles[extent, name] for extent in extents)
            step = (long - short) / 7
            ends = round(short) - round(waves / 8)
            parts = [step, short - step] if int(number) >= 8 else [ends, round(long) - waves - ends]
            clocks = (mhz[extent, name] for extent in extents)
            self.assertEqual(said, [f"{value:.0f}" for value in (long, short, *parts, *clocks)])


if __name__ == "__main__":
    unittest.main()
