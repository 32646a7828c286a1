"""`workbook mutate`: the lists of mutants, and what becomes of a mutant, with a compiler that only copies."""

import dataclasses
import json
import unittest
from pathlib import Path

from cli import chapters, mutants
from cli.errors import UserError
from cli.mutants import Mutant, MutantError
from cli.workspace import Workspace
from support import ROOT, TreeTest

CHAPTER = chapters.Chapter("01_sync_copy")
OTHER = chapters.Chapter("05_tma_1d")
TEXT = "__global__ void first(int n) {\n    if (n) {\n        wait();\n    }\n}\nvoid second() { wait(); }\n"


def mutant(**keys: str) -> Mutant:
    return Mutant(**{"chapter": CHAPTER, "name": "m", "why": "w", "find": "wait();", "replace": "", "file": "f"} | keys)


class Application(unittest.TestCase):
    def test_the_text_is_replaced_and_its_line_known(self) -> None:
        text, line = mutants.mutated(TEXT, mutant(find="if (n)", replace="if (!n)"))
        self.assertEqual((text, line), (TEXT.replace("if (n)", "if (!n)"), 2))

    def test_a_text_that_is_not_there_is_an_error(self) -> None:
        with self.assertRaisesRegex(MutantError, "not found in f"):
            mutants.mutated(TEXT, mutant(find="nothing"))

    def test_a_text_that_is_there_twice_is_an_error(self) -> None:
        with self.assertRaisesRegex(MutantError, "found 2 times in f"):
            mutants.mutated(TEXT, mutant())

    def test_in_a_function_the_text_need_be_unique_there_only(self) -> None:
        first, line = mutants.mutated(TEXT, mutant(inside="first"))
        self.assertEqual((first.index("wait();") > first.index("second"), line), (True, 3))
        second, line = mutants.mutated(TEXT, mutant(inside="second"))
        self.assertEqual((second.count("wait();"), line), (1, 6))
        self.assertIn("        wait();", second)

    def test_a_function_that_is_not_there_once_is_an_error(self) -> None:
        for name, text in (("third", TEXT), ("first", TEXT + TEXT)):
            with self.assertRaisesRegex(MutantError, f"definitions of {name}"):
                mutants.mutated(text, mutant(inside=name))


class Sample(unittest.TestCase):
    all = [mutant(name=str(i)) for i in range(6)] + [mutant(name=str(i), chapter=OTHER) for i in range(3)]

    def test_it_is_spread_over_the_chapters_and_keeps_their_order(self) -> None:
        chosen = mutants.sample(self.all, 4, 1)
        self.assertEqual([m.chapter for m in chosen], [CHAPTER] * 2 + [OTHER] * 2)
        self.assertEqual(chosen, [m for m in self.all if m in chosen])

    def test_the_seed_decides(self) -> None:
        draws = [mutants.sample(self.all, 2, seed) for seed in range(20)]
        self.assertEqual(draws, [mutants.sample(self.all, 2, seed) for seed in range(20)])
        self.assertGreater(len({tuple(m.name for m in draw) for draw in draws}), 3)

    def test_there_are_no_more_than_all(self) -> None:
        self.assertEqual(mutants.sample(self.all, 100, 1), self.all)


class Lists(unittest.TestCase):
    """The lists of this repository."""

    workspace = Workspace(ROOT, ROOT / "build")

    def test_every_chapter_has_at_least_five_and_each_applies(self) -> None:
        for chapter in chapters.all_chapters(self.workspace):
            found = mutants.load(self.workspace, chapter)
            with self.subTest(chapter=chapter.name):
                self.assertGreaterEqual(len(found), 5)
            for each in found:
                with self.subTest(chapter=chapter.name, mutant=each.name):
                    text = (ROOT / each.file).read_text("utf-8")
                    self.assertNotEqual(mutants.mutated(text, each)[0], text)

    def test_several_at_once_are_all_of_them(self) -> None:
        found = [each for chapter in chapters.all_chapters(self.workspace) for each in mutants.load_together(self.workspace, chapter)]
        self.assertGreaterEqual(len(found), 3)
        for each in found:
            with self.subTest(each.name):
                text = (ROOT / each.file).read_text("utf-8")
                changed, line = mutants.mutated(text, each)
                self.assertEqual(line, mutants.mutated(text, dataclasses.replace(each, also=()))[1])
                for other in (dataclasses.replace(each, also=()), *each.also):
                    self.assertRaises(mutants.MutantError, mutants.mutated, changed, other)
                self.assertTrue(each.expect)

    def test_every_list_belongs_to_a_chapter(self) -> None:
        names = {path.name.split("_", 1)[1] for path in (ROOT / "chapters").glob("[0-9]*_*")}
        self.assertLessEqual({path.stem for path in (ROOT / "tests" / "mutants").glob("*.toml")}, names)


PROGRAM = '''#!/bin/sh
# What a chapter's program does, as far as its caller can see: --json FILE.
{lines}
'''
GOOD = '''echo '{"kernels": [{"name": "k", "ok": true, "detail": ""}]}' > "$2"'''
WRONG = '''echo '{"kernels": [{"name": "k", "ok": false, "detail": "3 wrong"}]}' > "$2"; exit 1'''
DIAGNOSED = '''echo '{"name": "race-shared"}' > "$EMULATOR_REPORT"; ''' + WRONG
NINJA = '''#!/bin/sh
[ "$1" = --version ] && echo 1.12.1 && exit
echo "nvcc -O2 -I$ROOT/chapters/01_sync_copy -MD -MF x.d -o chapters/01_sync_copy/sync_copy.p/main.o -c $ROOT/chapters/01_sync_copy/main.cu"
echo "nvcc -o chapters/01_sync_copy/sync_copy chapters/01_sync_copy/sync_copy.p/main.o"
'''
NVCC = '''#!/bin/sh
# Compiles and links by copying: the program is the text of the .cuh file beside the source.
[ "$1" = --version ] && echo V13.0.88 && exit
while [ $# -gt 0 ]; do case $1 in -o) out=$2; shift;; -c) in=$(dirname "$2")/sync_copy.cuh; shift;; *.o) in=$1;; esac; shift; done
if grep -q SYNTAX "$in"; then echo "sync_copy.cuh(1): error: no such word" >&2; exit 1; fi
cp "$in" "$out" && chmod +x "$out"
'''


class Runs(TreeTest):
    def setUp(self) -> None:
        super().setUp()
        (self.tree / "chapters" / "meson.build").write_text("chapter_names = ['01_sync_copy']\n", "utf-8")
        (self.tree / "common" / "include").mkdir()
        (self.tree / "tests" / "mutants").mkdir(parents=True)
        self.program = self.tree / "build" / "chapters" / "01_sync_copy" / "sync_copy"
        self.program.parent.mkdir(parents=True)
        self.kernels = self.tree / "chapters" / "01_sync_copy" / "sync_copy.cuh"
        self.script(self.tree / "bin" / "ninja", NINJA)
        self.script(self.tree / "bin" / "nvcc", NVCC)
        self.script(self.program, PROGRAM.format(lines=GOOD))
        self.kernels.write_text(PROGRAM.format(lines=GOOD), "utf-8")

    @staticmethod
    def script(path: Path, text: str) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755)

    def list(self, *entries: dict[str, str]) -> None:
        tables = ["[[mutant]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in e.items()) for e in entries]
        (self.tree / "tests" / "mutants" / "sync_copy.toml").write_text("\n".join(tables), "utf-8")

    def change(self, replace: str, find: str = GOOD, **keys: str) -> dict[str, str]:
        return {"name": "a change", "why": "a reason", "find": find, "replace": replace, **keys}

    def mutate(self, *arguments: str):
        return self.workbook(
            "mutate",
            "--built",
            *arguments,
            PATH=f"{self.tree / 'bin'}:/usr/bin:/bin",
            WORKBOOK_NVCC=str(self.tree / "bin" / "nvcc"),
            ROOT=str(self.tree).replace(" ", "\\ "),
        )

    def test_caught_by_a_comparison_and_by_a_diagnosis(self) -> None:
        self.list(self.change(WRONG, name="one"), self.change(DIAGNOSED, name="two", expect="race-shared"))
        file = self.tree / "out.json"
        done = self.mutate("--json", str(file))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"one +caught +wrong result of k: 3 wrong")
        self.assertRegex(done.stdout, r"two +caught +race-shared")
        self.assertIn("2 caught, 0 missed, 0 errors", done.stdout)
        data = json.loads(file.read_text("utf-8"))
        self.assertEqual([m["result"] for m in data["mutants"]], ["caught", "caught"])
        self.assertEqual(self.kernels.read_text("utf-8"), PROGRAM.format(lines=GOOD), "the reader's file")

    def test_a_missed_mutant_ends_with_1(self) -> None:
        self.list(self.change(WRONG, name="seen"), self.change(GOOD + " # unseen", name="unseen"))
        done = self.mutate()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"unseen +missed")
        self.assertIn("1 caught, 1 missed, 0 errors", done.stdout)

    def test_another_diagnosis_than_the_expected_one_is_a_miss(self) -> None:
        self.list(self.change(DIAGNOSED, expect="deadlock"))
        done = self.mutate()
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected deadlock, got race-shared", done.stdout)

    def test_what_cannot_be_tried_is_an_error_and_not_caught(self) -> None:
        for replace, find, message in (
            (WRONG, "no such text", "not found in"),
            ("x", "e", "times in"),
            ("SYNTAX", GOOD, "does not compile: sync_copy.cuh(1): error: no such word"),
            ("kill -SEGV $$", GOOD, "ended by SIGSEGV"),
            (': > "$2"; exit 77', GOOD, "ended with 77"),
            ("exit 1", GOOD, "ended with 1"),
        ):
            with self.subTest(message):
                self.list(self.change(replace, find))
                done = self.mutate()
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stdout)
                self.assertIn("0 caught, 0 missed, 1 errors", done.stdout)

    def test_a_failing_baseline_is_one_line_and_no_mutant_is_tried(self) -> None:
        self.list(self.change(WRONG))
        self.script(self.program, PROGRAM.format(lines=WRONG))
        self.assert_one_line(self.mutate(), 1, "sync_copy fails without any change", "3 wrong")
        self.program.unlink()
        self.assert_one_line(self.mutate(), 1, "sync_copy fails without any change")

    def test_a_wrong_list_is_one_line(self) -> None:
        self.assert_one_line(self.mutate(), 1, "no list of mutants", "tests/mutants/sync_copy.toml")
        for entry, message in (
            ({"name": "n"}, "'find' is missing"),
            (self.change("x", frob="y"), "unknown key 'frob'"),
            (self.change(GOOD), "changes nothing"),
            (self.change("x", file="tests/cli/run.py"), "neither the chapter's nor"),
            (self.change("x", run="walk"), "run is 'walk'"),
            (self.change("x", run="test", kernel="k"), "'kernel' belongs to"),
        ):
            with self.subTest(message):
                self.list(entry)
                self.assert_one_line(self.mutate(), 1, message)
        self.list(self.change("x"), self.change("y"))
        self.assert_one_line(self.mutate(), 1, "two mutants are called")

    def test_wrong_options_are_one_line(self) -> None:
        self.list(self.change(WRONG))
        self.assert_one_line(self.mutate("--sample", "0"), 2, "--sample 0")
        self.assert_one_line(self.mutate("--jobs", "0"), 2, "--jobs 0")
        self.assert_one_line(self.mutate("--only", "nosuch"), 2, "nosuch")
        self.assert_one_line(self.mutate("--json", "/nosuch/file"), 2, "/nosuch/file")
        self.assert_one_line(self.mutate("nosuch"), 2, "nosuch")


if __name__ == "__main__":
    unittest.main()
