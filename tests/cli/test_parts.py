"""The parts of the command that need no process."""

import argparse
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from cli import apt, build, chapters, compiling, exercises, main, progress, requirements, results, setup
from cli.commands import emulate, run, sass
from cli.commands import test as test_command
from cli.errors import UsageError, UserError
from cli.workspace import Workspace


class Compiling(unittest.TestCase):
    def test_a_compiler_that_does_not_end_is_asked_once(self) -> None:
        asked: list[object] = []
        exercise = exercises.Exercise("one", "One", "fill", "t", 5, ("a", "b", "c"), "l", "f", chapters.Chapter("01_sync_copy"))
        with tempfile.TemporaryDirectory() as directory:
            place = Workspace(Path(directory), Path(directory) / "build")
            file = Path(directory) / "one.cu"
            file.write_text("template <int> struct Tree;\n", "utf-8")
            tools = setup.Tools({"nvcc": requirements.Found("", Path("/usr/local/cuda/bin/nvcc"))})
            with (
                mock.patch.object(compiling, "nvrtc_library", lambda _: Path("libnvrtc.so")),
                mock.patch.object(compiling, "_run", lambda *_: asked.append(1) or (None, "", "")),
            ):
                lines = compiling.kernels(place, tools, exercise, file, Path(directory) / "one.ptx")
        self.assertEqual(len(asked), 1)
        self.assertIn("had not finished after", lines[0])
        self.assertIn("calls itself too often", lines[1])

    def test_an_exercise_says_what_it_is_compiled_for(self) -> None:
        tools = setup.Tools({"nvcc": requirements.Found("", Path("/usr/local/cuda/bin/nvcc"))})
        chapter = chapters.Chapter("11_wgmma")
        for architecture in ("90", "90a"):
            exercise = exercises.Exercise(
                "one", "One", "fill", "t", 5, ("a", "b", "c"), "l", "f", chapter, architecture=architecture
            )
            by_nvcc = compiling.nvcc_command(tools, exercise, "one.cu", Path("one.ptx"))
            by_nvrtc = compiling._nvrtc_command(tools, Path("libnvrtc.so"), exercise, ["one.cu", "one.ptx"])
            self.assertIn(f"-arch=compute_{architecture}", by_nvcc)
            self.assertIn(f"--gpu-architecture=compute_{architecture}", by_nvrtc)


class Skips(unittest.TestCase):
    def test_cases_that_share_a_reason_are_told_together(self) -> None:
        totals = results.Totals()
        for name in ("one", "two", "three"):
            totals.add(results.Outcome(name, 1, 0, 1, (f"a case of {name}: no time: see there",)))
        totals.add(results.Outcome("four", 0, 0, 1, ("no reason given",)))
        self.assertEqual(
            test_command.skips(totals),
            {
                "no time: see there": ["one, a case of one", "two, a case of two", "three, a case of three"],
                "no reason given": ["four"],
            },
        )


class Targets(unittest.TestCase):
    def test_only_what_the_chosen_tests_need_is_built(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            place = Workspace(Path("/nowhere"), Path(directory))
            (place.build / "meson-info").mkdir()
            targets = [{"id": name, "filename": [f"{directory}/tests/{name}"]} for name in ("a", "b", "c")]
            (place.build / "meson-info" / "intro-targets.json").write_text(json.dumps(targets), "utf-8")
            tests = [{"name": "one", "depends": ["b"]}, {"name": "two", "depends": ["b", "a"]}]
            self.assertEqual(test_command.needs(tests, place), ["tests/a", "tests/b"])
            self.assertEqual(test_command.needs([{"name": "three", "depends": []}], place), [])


class Chapters(unittest.TestCase):
    known = chapters.parse_list(
        "chapter_names = [\n  '01_sync_copy', # '02_not_this'\n  '05_tma_1d',\n  '12_last',\n]\n"
    )

    def test_the_list_is_read_in_order_and_without_comments(self) -> None:
        self.assertEqual([c.directory for c in self.known], ["01_sync_copy", "05_tma_1d", "12_last"])

    def test_a_chapter_has_four_names(self) -> None:
        for name in ("5", "05", "tma_1d", "05_tma_1d"):
            self.assertEqual(chapters.resolve(name, self.known).directory, "05_tma_1d")
        self.assertEqual(chapters.resolve("12", self.known).directory, "12_last")

    def test_nothing_else_is_a_name(self) -> None:
        for name in ("", "0", "2", "tma", "1_sync_copy", "-1", "01_", "²", "../01_sync_copy"):
            with self.assertRaises(UsageError, msg=name):
                chapters.resolve(name, self.known)

    def test_a_list_that_cannot_be_read_is_an_error(self) -> None:
        for text in ("", "names = ['01_a']", "chapter_names = ['a']"):
            with self.assertRaises(UserError):
                chapters.parse_list(text)


class Options(unittest.TestCase):
    def parse(self, *words: str) -> argparse.Namespace:
        return main.parse(list(words))

    def test_run_passes_arguments_on(self) -> None:
        options = self.parse("run", "5", "--size", "-1", "--", "--help", "x")
        self.assertEqual((options.chapter, options.size, options.passed), ("5", "-1", ["--help", "x"]))

    def test_run_without_a_chapter_passes_arguments_on_too(self) -> None:
        options = self.parse("run", "--size", "7", "--", "--help")
        self.assertEqual((options.chapter, options.size, options.passed), (None, "7", ["--help"]))

    def test_emulate_leaves_the_programs_options_alone(self) -> None:
        options = self.parse("emulate", "--order", "early", "--counters", "prog", "--seed", "3", "--", "x")
        self.assertEqual(
            (options.order, options.counters, options.program, options.seed), ("early", "-", "prog", None)
        )
        self.assertEqual(options.arguments[:2], ["--seed", "3"])
        self.assertEqual(
            emulate.steering(options),
            {"EMULATOR_ORDER": "early", "EMULATOR_COUNTERS": "-", "EMULATOR_EXIT_STATUS": "findings"},
        )

    def test_emulate_steers_by_environment(self) -> None:
        options = self.parse(
            "emulate",
            "--counters=c.json",
            "--trace",
            "t",
            "--threads",
            "2",
            "--checks",
            "none",
            "--order",
            "random",
            "--seed",
            "9",
            "--report",
            "r",
            "--exit-status",
            "program",
            "--leaks",
            "--uninitialised-global",
            "error",
            "--watchdog",
            "0.5",
            "prog",
        )
        self.assertEqual(
            emulate.steering(options),
            {
                "EMULATOR_ORDER": "random",
                "EMULATOR_SEED": "9",
                "EMULATOR_CHECKS": "none",
                "EMULATOR_COUNTERS": "c.json",
                "EMULATOR_TRACE": "t",
                "EMULATOR_REPORT": "r",
                "EMULATOR_THREADS": "2",
                "EMULATOR_EXIT_STATUS": "program",
                "EMULATOR_LEAKS": "1",
                "EMULATOR_UNINITIALISED_GLOBAL": "error",
                "EMULATOR_WATCHDOG": "0.5",
            },
        )
        for wrong in ("-1", "nan", "2e9"):
            with self.assertRaises(UsageError, msg=wrong):
                emulate.steering(self.parse("emulate", f"--watchdog={wrong}", "prog"))

    def test_every_command_has_a_name_and_help(self) -> None:
        self.assertEqual(len({module.NAME for module in main.COMMANDS}), len(main.COMMANDS))
        self.assertTrue(all(module.HELP and module.__doc__ for module in main.COMMANDS))
        self.assertIn(run, main.COMMANDS)


class Progress(unittest.TestCase):
    def test_ninjas_lines_are_read(self) -> None:
        self.assertEqual(
            progress.parse("[ 37/120] Linking target a/b"), progress.Step(37, 120, "Linking target a/b")
        )
        self.assertEqual(progress.parse("[1/1] x"), progress.Step(1, 1, "x"))
        for line in ("", "ninja: no work to do.", "error [1/2]", "[a/b] x"):
            self.assertIsNone(progress.parse(line))

    def test_steps_are_shortened(self) -> None:
        self.assertEqual(
            progress.shorten("Compiling Cuda object chapters/01_a/a.p/main.cu.o"),
            "compiling chapters/01_a/main.cu",
        )
        self.assertEqual(progress.shorten("Compiling C++ object x.p/y_z.cpp.o"), "compiling y_z.cpp")
        self.assertEqual(progress.shorten("Linking static target a/libb.a"), "linking a/libb.a")
        self.assertEqual(progress.shorten("Generating x"), "Generating x")
        self.assertEqual(progress.shorten("embed EXPECTEDFAIL"), "embed OK")
        self.assertEqual(progress.shorten("embed UNEXPECTEDPASS"), "embed UNEXPECTEDPASS")

    def test_without_a_terminal_the_lines_are_few(self) -> None:
        stream = io.StringIO()
        line = progress.Line(stream)
        for done in range(1, 1001):
            line.step(progress.Step(done, 1000, "x"))
        self.assertLessEqual(len(stream.getvalue().splitlines()), 11)
        self.assertIn("[1000/1000] x", stream.getvalue())

    def test_on_a_terminal_one_line_is_rewritten(self) -> None:
        stream = io.StringIO()
        with mock.patch.object(stream, "isatty", return_value=True):
            line = progress.Line(stream)
            line.step(progress.Step(1, 2, "x" * 500))
            line.step(progress.Step(2, 2, "y"))
            line.finish()
        self.assertNotIn("\n", stream.getvalue())
        self.assertTrue(all(len(part) < 200 for part in stream.getvalue().split("\r")))

    def test_a_failed_build_shows_the_compilers_words_and_not_its_command(self) -> None:
        shown = build.failure(
            ["[1/3] a", "FAILED: x.o", "g++ -c x.cpp", "x.cpp:1:2: error: no", "  1 | y", "[2/3] b", "z"]
        )
        self.assertEqual(shown, ["FAILED: x.o", "x.cpp:1:2: error: no", "  1 | y"])
        self.assertEqual(build.failure(["a", "ninja: error: b"]), ["ninja: error: b"])


class Results(unittest.TestCase):
    def outcome(self, **record: str) -> results.Outcome:
        return results.outcome({"name": "n", "result": "OK", "stdout": "", **record})

    def counts(self, **record: str) -> tuple[int, int, int]:
        outcome = self.outcome(**record)
        return outcome.passed, outcome.failed, outcome.skipped

    def test_cases_are_counted_where_a_program_counts_them(self) -> None:
        self.assertEqual(self.counts(stdout="x\n[summary] 3 passed, 0 failed, 1 skipped\n"), (3, 0, 1))
        self.assertEqual(
            self.counts(stdout="[summary] 3 passed, 2 failed, 1 skipped\n", result="FAIL"), (3, 2, 1)
        )

    def test_other_programs_count_as_one(self) -> None:
        self.assertEqual(self.counts(), (1, 0, 0))
        self.assertEqual(self.counts(result="SKIP"), (0, 0, 1))
        self.assertEqual(self.counts(result="EXPECTEDFAIL"), (1, 0, 0))

    def test_a_failure_is_never_lost(self) -> None:
        for result in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"):
            self.assertEqual(self.counts(result=result), (0, 1, 0))
            self.assertEqual(
                self.counts(result=result, stdout="[summary] 3 passed, 0 failed, 0 skipped\n"), (3, 1, 0)
            )

    def test_a_skip_has_its_reason(self) -> None:
        text = "skip  a test: no GPU\n[summary] 1 passed, 0 failed, 1 skipped\n"
        self.assertEqual(self.outcome(stdout=text).reasons, ("a test: no GPU",))
        self.assertEqual(self.outcome(result="SKIP").reasons, ("no reason given",))
        self.assertEqual(self.outcome().reasons, ())

    def test_a_test_goes_by_its_own_name(self) -> None:
        record = {"name": "hopper-async-workbook:cli / a test", "result": "OK", "stdout": ""}
        self.assertEqual(results.outcome(record).name, "a test")

    def test_the_totals_end_with_the_plain_line(self) -> None:
        lines = [
            json.dumps({"name": n, "result": r, "stdout": ""})
            for n, r in (("a", "OK"), ("b", "FAIL"), ("c", "SKIP"))
        ]
        self.assertEqual(str(results.read([*lines, ""])), "1 passed, 1 failed, 1 skipped")


class Packages(unittest.TestCase):
    DEB822 = (
        "# comment\nTypes: deb\n# another\nURIs: file:/mirror/main\nSuites: bookworm bookworm-updates\n"
        "Components: main\nSigned-By: /keys/a.gpg\n\nTypes: deb\nURIs: file:/mirror/security\n"
        "Suites: bookworm-security\nComponents: main\n"
    )

    def test_backports_come_from_the_machines_own_archive(self) -> None:
        entry = apt.backports_source([("debian.sources", self.DEB822)], "bookworm")
        self.assertEqual(
            entry,
            "Types: deb\nURIs: file:/mirror/main\nSuites: bookworm-backports\n"
            "Components: main\nSigned-By: /keys/a.gpg\n",
        )

    def test_the_one_line_format_is_read_too(self) -> None:
        text = "# deb file:/first bookworm main\ndeb [arch=amd64 signed-by=/k.gpg] file:/second bookworm main\n"
        self.assertEqual(
            apt.backports_source([("sources.list", text)], "bookworm"),
            "Types: deb\nURIs: file:/second\nSuites: bookworm-backports\nComponents: main\n"
            "Signed-By: /k.gpg\n",
        )

    def test_nothing_is_added_where_it_is_there_or_unknown(self) -> None:
        there = self.DEB822.replace("bookworm-updates", "bookworm-backports")
        self.assertIsNone(apt.backports_source([("a.sources", there)], "bookworm"))
        self.assertIsNone(apt.backports_source([("a.sources", self.DEB822)], "trixie"))
        disabled = "Enabled: no\n" + self.DEB822.split("\n\n")[0] + "\n"
        self.assertIsNone(apt.backports_source([("a.sources", disabled)], "bookworm"))

    def test_versions_are_compared_by_number(self) -> None:
        self.assertEqual(requirements.parse_version("1:3.7.1-0.4~bpo12+1"), (3, 7, 1))
        self.assertLess(requirements.parse_version("1.10.0"), requirements.parse_version("1.11.0"))
        self.assertFalse(requirements.MESON.satisfied_by(requirements.Found("1.3.2", Path("m"))))
        self.assertTrue(requirements.MESON.satisfied_by(requirements.Found("1.10.0", Path("m"))))
        self.assertFalse(requirements.MESON.satisfied_by(None))

    def test_what_a_simulated_installation_would_install(self) -> None:
        lines = [
            "Inst libxxhash-dev (0.8.3-2 Debian:13.0/stable [amd64])",
            "Inst libzstd1 [1.5.6] (1.5.7+dfsg-1 Debian:13.0/stable [amd64])",
            "Conf libxxhash-dev (0.8.3-2 Debian:13.0/stable [amd64])",
        ]
        self.assertEqual(
            apt.simulated_installations(lines), ["libxxhash-dev=0.8.3-2", "libzstd1=1.5.7+dfsg-1"]
        )

    def test_links_to_installed_libraries_are_made_whole(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            root, system = Path(directory) / "root", Path(directory) / "system"
            for parent in (root / "usr/lib/arch", system / "usr/lib/arch", system / "lib/arch"):
                parent.mkdir(parents=True)
            (system / "usr/lib/arch/liba.so.1").write_text("", "utf-8")
            (system / "lib/arch/libb.so.1").write_text("", "utf-8")
            for name in "abc":
                (root / f"usr/lib/arch/lib{name}.so").symlink_to(f"lib{name}.so.1")
            setup.relink_libraries(root, system)
            links = {name: (root / f"usr/lib/arch/lib{name}.so").readlink() for name in "abc"}
            self.assertEqual(links["a"], system / "usr/lib/arch/liba.so.1")
            self.assertEqual(links["b"], system / "lib/arch/libb.so.1")
            self.assertEqual(links["c"], Path("libc.so.1"))

    def test_unpacked_modules_name_the_place_they_are_in(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            module = Path(directory) / "usr/lib/x86_64-linux-gnu/pkgconfig/z.pc"
            module.parent.mkdir(parents=True)
            module.write_text(
                "prefix=/usr\nlibdir=${prefix}/lib\nincludedir=${prefix}/include\nv=2.5\nVersion: ${v}.1\n",
                "utf-8",
            )
            setup.relocate_modules(Path(directory))
            self.assertEqual(
                module.read_text("utf-8").splitlines()[:3],
                [
                    "prefix=packages/usr",
                    "libdir=packages/usr/lib/x86_64-linux-gnu",
                    "includedir=${prefix}/include",
                ],
            )
            self.assertEqual(requirements.module_version(module), "2.5.1")


class SetUp(unittest.TestCase):
    """Set-up with requirements of our own, so that nothing real is installed."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = Path(directory.name)
        self.workspace = Workspace(root, root / "build")
        self.workspace.prepare()
        self.tool = root / "tool"
        self.probes = 0

    def requirement(self) -> requirements.Requirement:
        def probe(_: Workspace) -> requirements.Found | None:
            self.probes += 1
            return requirements.Found("2.0", self.tool) if self.tool.exists() else None

        return requirements.Requirement("tool", "Tool", (1,), "is a test", probe, wheels=("tool==2.0",))

    def test_what_is_there_is_looked_for_once(self) -> None:
        self.tool.write_text("", "utf-8")
        for _ in range(3):
            self.assertEqual(setup.ensure(self.workspace, [self.requirement()]).path("tool"), self.tool)
        self.assertEqual(self.probes, 1)

    def test_a_tool_that_changed_or_went_is_looked_for_again(self) -> None:
        self.tool.write_text("", "utf-8")
        setup.ensure(self.workspace, [self.requirement()])
        os.utime(self.tool, ns=(1, 1))
        setup.ensure(self.workspace, [self.requirement()])
        self.assertEqual(self.probes, 2)
        self.tool.unlink()
        with (
            mock.patch.dict(os.environ, {"WORKBOOK_INSTALL": "never"}),
            self.assertRaises(UserError) as caught,
        ):
            setup.ensure(self.workspace, [self.requirement()])
        self.assertIn("Tool 1 or newer", str(caught.exception))

    def test_a_damaged_stamp_is_made_again(self) -> None:
        self.tool.write_text("", "utf-8")
        for text in ("", "{", "[]", '{"surroundings": {}}'):
            (self.workspace.state / "setup.json").write_text(text, "utf-8")
            self.assertTrue(setup.ensure(self.workspace, [self.requirement()]).has("tool"))

    def test_what_was_installed_but_does_not_work_is_an_error(self) -> None:
        with mock.patch.dict(os.environ, {"WORKBOOK_INSTALL": ""}), mock.patch.object(setup, "_install"):
            with self.assertRaises(UserError) as caught:
                setup.ensure(self.workspace, [self.requirement()])
        self.assertIn("does not work", str(caught.exception))


class Sass(unittest.TestCase):
    LISTING = """
\t.section\t.text._Z1kPi,"ax",@progbits
.text._Z1kPi:
\t//## File "/src/a.cuh", line 2
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/src/a.cuh", line 3
        /*0010*/                   STG.E desc[UR4][R2.64], R5 ;
\t//## File "/src/b.cuh", line 9 inlined at "/src/a.cuh", line 3
        /*0020*/                   EXIT ;
.L_x_0:
\t.section\t.nv.info,"",@SHT_CUDA_INFO
        /*0000*/ \t.byte\t0x04
"""

    def test_instructions_belong_to_source_lines(self) -> None:
        (kernel,) = sass.parse(self.LISTING)
        self.assertEqual(kernel.symbol, "_Z1kPi")
        self.assertEqual(
            [text for _, text in kernel.lines],
            [
                "/*0000*/ LDC R1, c[0x0][0x28]",
                "/*0010*/ STG.E desc[UR4][R2.64], R5",
                "/*0020*/ EXIT",
                ".L_x_0:",
            ],
        )
        self.assertEqual(kernel.lines[0][0], ("/src/a.cuh", 2))
        self.assertEqual(kernel.lines[1][0], ("/src/a.cuh", 3))


if __name__ == "__main__":
    unittest.main()
