"""`workbook bench` where there is no GPU: refusing, showing, claims and files."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from cli import bench_chapters, bench_file, bench_run, bench_tables, chapters
from cli.bench_file import Claim, Measurements, Table
from cli.commands import bench
from cli.errors import UserError
from cli.workspace import Workspace

from support import ROOT, TreeTest

CHAPTERS = [chapter.directory for chapter in chapters.all_chapters(Workspace.locate())]
BENCHES = bench_chapters.load(ROOT, CHAPTERS)
LARGE = "32768 x 32768"
COLUMNS = {"kernel": "rung", "ran": "ran", "extent": "matrix", "type": "type", "median_ms": "time", "gb_per_s": "rate"}


def ladder(last_rate: float) -> Table:
    """A ladder of two rungs between two copies of 4000 GB/s."""
    large = {"extent": LARGE, "type": "float32"}

    def row(name: str, rate: float) -> dict[str, bench_file.Value]:
        return {"kernel": name, "ran": name, **large, "median_ms": 8000 / rate, "gb_per_s": rate}

    rows = [row("copy before", 4000.0), row("padded_tile", 3000.0), row("micro_tiles", last_rate), row("copy after", 4000.0)]
    return Table("The rungs", COLUMNS, rows)


class Command(TreeTest):
    def show(self, claims: list[Claim], failures: list[str] | None = None) -> tuple[int, str]:
        found = Measurements({"gpu": "G"}, [], {"ladder": ladder(3900)}, claims, failures or [])
        path = self.tree / "file.json"
        found.write(path)
        done = self.workbook("bench", "--show", str(path))
        return done.returncode, done.stdout

    def test_without_a_gpu_it_refuses_and_says_why(self) -> None:
        done = self.workbook("bench", "--backend", "emulator")
        self.assert_one_line(done, 1, "measures time", "emulator", "--show")

    def test_show_prints_tables_and_claims(self) -> None:
        status, text = self.show([Claim("a", "A is fast", 97.5, ">=", 97, "%"), Claim("b", "B is slow", 2, "<=", 3)])
        self.assertEqual(status, 0)
        self.assertIn("padded_tile", text)
        self.assertIn("PASS  a: A is fast (97.5, wanted >= 97 %)", text)
        self.assertIn("2 claims, 0 failed", text)

    def test_a_claim_that_fails_is_the_exit_status(self) -> None:
        status, text = self.show([Claim("a", "A is fast", 96.9, ">=", 97, "%")])
        self.assertEqual(status, 1)
        self.assertIn("FAIL  a", text)

    def test_a_claim_without_a_figure_fails(self) -> None:
        status, text = self.show([Claim("a", "A is fast", None, ">=", 97, "%")])
        self.assertEqual(status, 1)
        self.assertIn("not measured", text)

    def test_a_wrong_result_fails_too(self) -> None:
        status, text = self.show([], ["k: 3 wrong words"])
        self.assertEqual(status, 1)
        self.assertIn("FAIL  k: 3 wrong words", text)

    def test_a_file_that_is_not_there_or_none(self) -> None:
        self.assert_one_line(self.workbook("bench", "--show", "no.json"), 1, "no.json", "No such file")
        (self.tree / "bad.json").write_text('{"claims": [{}]}', "utf-8")
        self.assert_one_line(self.workbook("bench", "--show", "bad.json"), 1, "bad.json is no measurement file")
        self.assert_one_line(self.workbook("bench", "1", "--show", "bad.json"), 2, "")


class Files(unittest.TestCase):
    def test_a_file_comes_back_as_it_was_written(self) -> None:
        claims = [Claim("a", "A", 1.0, ">=", 1, "%")]
        found = Measurements({"gpu": "G", "date": "today"}, [{"when": "before"}], {"ladder": ladder(3900)}, claims, ["x"])
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "new" / "g.json"
            found.write(path)
            again = bench_file.read(path)
        self.assertEqual(again.text(), found.text())
        self.assertEqual(again.tables["ladder"].rows[1]["gb_per_s"], 3000.0)

    def test_lines_of_a_program_that_was_cut_short(self) -> None:
        tables: bench_file.Tables = {}
        lines = [
            '{"table": "t", "title": "T", "columns": [{"id": "a", "heading": "A", "unit": "ms"}]}',
            '{"row": "t", "cells": {"a": 1}}',
            '{"failure": "k: wrong"}',
            '{"row": "t", "cells": {"a"',
        ]
        self.assertEqual(bench_file.collect(lines, tables), ["k: wrong"])
        self.assertEqual(tables["t"].headings, {"a": "A (ms)"})
        self.assertEqual(tables["t"].rows, [{"a": 1}])

    def test_names_of_files(self) -> None:
        self.assertEqual(bench.file_name("NVIDIA H200"), "h200")
        self.assertEqual(bench.file_name("NVIDIA H100 80GB HBM3"), "h100_80gb_hbm3")

    def test_counters_of_nsight_compute(self) -> None:
        text = (
            "==PROF== Connected\n"
            '"ID","Kernel Name","l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"\n'
            '"","",""\n'
            '"0","void transpose::shared_tile<float>(const T1 *)","1,155"\n'
            '"1","tma_plain(CUtensorMap_st)","7"\n'
        )
        counters = {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": ("wavefronts", "wavefronts of shared memory")}
        table = Table("counted", {"kernel": "rung"})
        bench_run.add_counters(table, text, counters)
        self.assertEqual(table.rows, [{"kernel": "shared_tile", "wavefronts": 1155}, {"kernel": "tma_plain", "wavefronts": 7}])
        self.assertEqual(list(table.headings), ["kernel", "wavefronts"])
        nothing = Table("counted", {"kernel": "rung"})
        bench_run.add_counters(nothing, "==ERROR== no permission\n", counters)
        self.assertEqual(nothing.rows, [])


class Claims(unittest.TestCase):
    def claims(self, last_rate: float) -> dict[str, Claim]:
        tables = {"ladder": ladder(last_rate)}
        tables |= bench_chapters.derive(BENCHES.values(), tables)
        return {claim.id: claim for claim in bench_chapters.check(BENCHES.values(), tables)}

    def test_a_share_is_of_the_faster_copy(self) -> None:
        claims = self.claims(3940)
        self.assertAlmostEqual(claims["ladder-last"].figure or 0, 98.5)
        self.assertTrue(claims["ladder-last"].passed)
        self.assertTrue(claims["ladder-micro_tiles"].passed)
        self.assertTrue(claims["copies-ladder"].passed)

    def test_claims_can_fail(self) -> None:
        claims = self.claims(2900)
        self.assertFalse(claims["ladder-last"].passed)
        self.assertFalse(claims["ladder-micro_tiles"].passed)

    def test_tables_that_are_not_there_claim_nothing(self) -> None:
        self.assertEqual(bench_chapters.check(BENCHES.values(), {}), [])

    def test_two_runs_are_compared_row_by_row(self) -> None:
        first, second = ladder(3900), ladder(3900)
        second.rows[1]["median_ms"] = 1.03 * float(second.rows[1]["median_ms"] or 0)
        second.rows[2]["kernel"] = "another"
        table = bench_tables.agreement({"ladder": first}, {"ladder": second}, ())
        self.assertEqual([(row["times"], row["within"]) for row in table.rows], [(3, 2)])
        self.assertAlmostEqual(float(table.rows[0]["worst"] or 0), 3, places=6)
        claims = bench_chapters.check(BENCHES.values(), {"agreement": table})
        self.assertEqual([(claim.id, claim.passed) for claim in claims], [("runs-agree", False)])

    def test_the_figures_are_drawn_from_the_committed_file(self) -> None:
        if not (ROOT / "docs" / "measurements" / "h200.json").exists():
            self.skipTest("no measurements are committed")
        for script in sorted((ROOT / "docs" / "figures").glob("measured_*.py")):
            done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_committed_file_says_what_its_tables_say(self) -> None:
        path = ROOT / "docs" / "measurements" / "h200.json"
        if not path.exists():
            self.skipTest("no measurements are committed")
        found = bench_file.read(path)
        self.assertEqual(found.failures, [])
        again = {claim.id: claim.as_json() for claim in bench_chapters.check(BENCHES.values(), found.tables)}
        self.assertEqual({claim.id: claim.as_json() for claim in found.claims}, again)
        stored = json.loads(path.read_text("utf-8"))["claims"]
        self.assertEqual([claim["passed"] for claim in stored], [claim.passed for claim in found.claims])


class Chapters(unittest.TestCase):
    """What chapters say of their measurements, and that nobody else says it."""

    def load(self, text: str) -> bench_chapters.Bench:
        with tempfile.TemporaryDirectory() as directory:
            chapter = Path(directory) / "chapters" / "01_one"
            (chapter / "more").mkdir(parents=True)
            (chapter / "more" / "words.py").write_text("RAW = ('one',)\n", "utf-8")
            (chapter / "measured.py").write_text(text, "utf-8")
            return bench_chapters.load(Path(directory), ["01_one"])["01_one"]

    def test_a_chapter_may_take_files_of_its_own(self) -> None:
        bench = self.load("from cli.bench_chapters import Bench\nfrom .more import words\nBENCH = Bench(raw=words.RAW)\n")
        self.assertEqual(bench_chapters.raw([bench]), {"one"})

    def test_a_file_without_what_is_wanted_is_an_error(self) -> None:
        with self.assertRaisesRegex(UserError, "measured.py has no `BENCH = Bench"):
            self.load("")

    def test_a_chapter_may_say_nothing(self) -> None:
        self.assertEqual(bench_chapters.load(ROOT, ["00_none"]), {"00_none": bench_chapters.NOTHING})

    def test_what_can_be_counted_is_no_condition(self) -> None:
        then = BENCHES["08_transpose"].then
        assert then is not None
        tables: bench_file.Tables = {}
        self.assertRegex(" ".join(then(Path("/nowhere/bench"), {"PATH": "/nowhere"}, tables)), "^ncu: ")
        self.assertEqual(tables, {})

    def test_no_table_is_made_twice(self) -> None:
        names = [name for bench in BENCHES.values() for name in bench.tables]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(names)

    def test_the_command_knows_no_table_of_a_chapter(self) -> None:
        names = {*bench_chapters.raw(BENCHES.values()), *bench_chapters.derived(BENCHES.values())}
        for path in sorted((ROOT / "common" / "cli").rglob("*.py")):
            text = path.read_text("utf-8")
            self.assertEqual([name for name in names if f'"{name}"' in text], [], path)


class Samples(unittest.TestCase):
    """Where warps were found: what Nsight Compute prints, and the four places of chapter 12."""

    TEXT = """==PROF== Connected
"Kernel Name","void gemm::ring::ring_gemm<(int)3>(gemm::Extent, CUtensorMap_st)",
"Address","Source","# Samples","Instructions Executed"
"1","      BAR.SYNC.DEFER_BLOCKING 0x0 ","7","12"
"2","      USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8 ","0","12"
"3","      SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR12+0x38000], R2 ","1","1600"
"4","@!P0  BRA 0x10 ","19","1600"
"5","      HGMMA.64x256x16.F32.BF16 R24, gdesc[UR12], R24, gsb0 ","30","1600"
"6","      WARPGROUP.DEPBAR.LE gsb0, 0x1 ","30","1600"
"7","      BAR.SYNC.DEFER_BLOCKING 0x0 ","4","1600"
"8","@P0   BRA 0x20 ","1","1600"
"9","      UMOV UR7, UR13 ","5","400"
"10","      STSM.16.M88.4 [R4], R12 ","10","16"
"11","      USETMAXREG.DEALLOC.CTAPOOL 0x28 ","50","4"
"12","      SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+URZ+0x38020], R2 ","60","400"
"13","@!P0  BRA 0x30 ","70","400"
"14","      EXIT ","0","4"
"15","      SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR12+0x38000], R2 ","","9"
"16","@!P0  BRA 0x40 ","0","9"
"Kernel Name","plain::copy(float *)",
"Address","Source","# Samples","Instructions Executed"
"1","      EXIT ","3","4"
"""

    def test_launches_are_told_apart_by_the_kernels_name(self) -> None:
        found = bench_run.read_samples(self.TEXT)
        self.assertEqual(list(found), ["ring_gemm", "copy"])
        self.assertEqual(found["copy"], [bench_run.Sampled("EXIT", 3, 4)])
        self.assertEqual(found["ring_gemm"][14].samples, 0)

    def test_the_warps_that_multiply_are_in_four_places(self) -> None:
        bench_chapters.load(ROOT, ["12_gemm"])
        places = sys.modules["measured_12_gemm.places"].places
        found = bench_run.read_samples(self.TEXT)
        # Of 100 samples 20 wait for the stage, 5 for the block, 65 are in the loop of the products, 10 behind it.
        self.assertEqual(places(found["ring_gemm"]), {"stage": 20, "block": 5, "products": 65, "end": 10})
        self.assertIsNone(places(found["copy"]))
        self.assertIsNone(places(()))

    def test_no_profiler_is_said(self) -> None:
        found, problems = bench_run.sample(["/nowhere/bench"], {"PATH": "/nowhere"})
        self.assertEqual(found, {})
        self.assertRegex(" ".join(problems), "^ncu: ")


class Tuner(unittest.TestCase):
    """Two kernels, two orders, and the copy."""

    def setUp(self) -> None:
        setting = {"blocks_per_sm": 4, "cluster": 1, "load_policy": "normal", "store_policy": "normal"}
        base = {"phase": "coarse", "family": "registers", "tile": "64 x 64", "access": 16, **setting}
        trials = [
            {**base, "kernel": "k1", "order": "down columns", "median_ms": 2.0, "gb_per_s": 4000.0, "share": 95.0},
            {**base, "kernel": "k1", "order": "along rows", "median_ms": 2.5, "gb_per_s": 3200.0, "share": 75.0},
            {**base, "kernel": "k2", "order": "down columns", "median_ms": 1.9, "gb_per_s": 4200.0, "share": 99.0, "load_policy": "evict_last"},
            {"phase": "coarse", "kernel": "device-to-device copy", "family": "copy", "median_ms": 1.8, "gb_per_s": 4300.0, "share": 100.0},
        ]
        headings = {name: name for name in trials[0]}
        probe = {"kernel": "reads only", "order": "along rows", "gb_per_s": 9000.0}
        tuner = BENCHES["08_transpose"].tuner
        assert tuner is not None
        self.tuner = tuner
        self.tables = {"tuner": Table("Trials", headings, trials), "limits_1_1": Table("Parts (rates)", headings, [probe])}

    def test_trials_keep_their_kernels_by_number(self) -> None:
        found = self.tuner.compact(self.tables)
        self.assertEqual([row["name"] for row in found["kernels"].rows], ["k1", "k2", "device-to-device copy", "reads only"])
        self.assertEqual([row["kernel"] for row in found["tuner"].rows], [0, 0, 1, 2])
        self.assertEqual([row.get("order") for row in found["tuner"].rows], [0, 1, 0, None])
        self.assertTrue(found["tuner"].raw)

    def test_readers_get_the_best_of_each(self) -> None:
        made = self.tuner.derive(self.tables)
        self.assertEqual([row["kernel"] for row in made["tuner_kernels"].rows], ["k2"])
        self.assertEqual([row["order"] for row in made["tuner_orders"].rows], ["down columns", "along rows"])
        self.assertEqual(made["tuner_blocks"].rows, [{"blocks_per_sm": 4, "plain": 95.0, "kept": 99.0}])
        limits = made["transpose_limits_1_1"].rows
        self.assertEqual(limits, [{"order": "along rows", "reads only": 4500.0}])  # only half of the bytes moved


if __name__ == "__main__":
    unittest.main()
