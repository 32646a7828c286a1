"""The weaving tool on a small tree of its own, with programs that are shell scripts."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from weaving import machine_code, marks, tables, weaver
from weaving.errors import Unavailable, WeaveError
from weaving.programs import Runner

CODE = "/// Adds.\nint add(int a) {\n    // [inner]\n    return a + 1;\n    // [/inner]\n}\n"

PROGRAM = """#!/bin/sh
case "$1" in
--list) echo one; echo two;;
--kernel) echo '{"kernel":"k","total":{"loads":1200,"stores":3}}
{"kernel":"j","total":{"loads":34,"stores":0}}' > "$EMULATOR_COUNTERS";;
esac
"""

QUESTION = """[[prediction]]
name = "loads"
question = "How many?"
kernel = "k"
number = {counter = "loads", unit = "loads"}
choices = [{number = 1200}, {number = 0, says = "none"}]
why = "One for each."
"""

MISTAKES = """#!/bin/sh
[ "$1" = --list ] && { echo late; echo silent; echo elsewhere; exit 0; }
[ "$1" = silent ] && exit 0
[ "$1" = elsewhere ] && { echo '  --> /tmp/other/demo.cuh:4: read' >&2; exit 1; }
printf '%s\\n' 'error[late] in kernel k' \\
  '  --> ../../chapters/01_demo/demo.cuh:4: read at 0x7f00deadbee4  ' \\
  '      | return a + 1; // expect: late' >&2
exit 1
"""


class Tree(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name).resolve()
        self.build = self.root / "some/build"
        self.put("chapters/01_demo/demo.cuh", CODE)
        for suffix, text in (("", PROGRAM), ("_mistakes", MISTAKES)):
            self.put(f"some/build/chapters/01_demo/demo{suffix}", text).chmod(0o755)
        self.readme = self.root / "chapters/01_demo/README.md"

    def put(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def weave(self, text: str, *, check: bool = False, everything: bool = False) -> tuple[int, str]:
        """Writes the chapter's README and weaves it; the exit status and what was said."""
        self.readme.write_text(text, "utf-8")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            status = weaver.run(self.root, self.build, [] if everything else [self.readme], check=check)
        return status, said.getvalue()

    def woven(self, text: str) -> str:
        status, said = self.weave(text)
        self.assertEqual((status, said), (0, ""))
        return self.readme.read_text("utf-8")

    def test_a_question_is_filled_and_its_answer_is_not_in_it(self) -> None:
        self.put("chapters/01_demo/predictions.toml", QUESTION)
        text = self.woven("# T\n<!-- predict: loads -->\n<!-- end -->\nrest\n")
        first, last = "<!-- predict: loads -->\n\n> **Predict.** How many?\n>\n> - 1,200 loads\n> - none\n>\n", "\n\n<!-- end -->\nrest\n"
        self.assertIn(first, text)
        self.assertTrue(text.endswith("> One for each.\n>\n> </details>" + last))
        self.assertEqual(self.weave("<!-- predict: stores -->\n<!-- end -->\n")[0], 1)

    def test_code_block_is_filled_and_stays(self) -> None:
        text = self.woven("# T\n<!-- code: demo.cuh [inner] -->\nold\n<!-- end -->\nrest\n")
        self.assertEqual(
            text, "# T\n<!-- code: demo.cuh [inner] -->\n```cuda\nreturn a + 1;\n```\n<!-- end -->\nrest\n"
        )
        self.assertEqual(self.weave(text, check=True), (0, ""))

    def test_a_listing_that_is_asked_about_does_not_say_which_line_a_finding_names(self) -> None:
        self.put("chapters/01_demo/wrong.cu", "void f() {\n    g(); // expect early: deadlock\n    h();  // expect: misaligned\n}\n")
        text = self.woven("<!-- code: wrong.cu f unmarked -->\n<!-- end -->\n")
        self.assertIn("\nvoid f() {\n    g();\n    h();\n}\n", text)
        self.assertIn("h();  // expect: misaligned", self.woven("<!-- code: wrong.cu f -->\n<!-- end -->\n"))

    def test_check_finds_a_stale_block_and_writes_nothing(self) -> None:
        text = self.woven("a\n<!-- code: demo.cuh add -->\n<!-- end -->\n")
        self.put("chapters/01_demo/demo.cuh", CODE.replace("+ 1", "+ 2"))
        status, said = self.weave(text, check=True)
        self.assertEqual(status, 1)
        self.assertIn("chapters/01_demo/README.md:2: not up to date", said)
        self.assertEqual(self.readme.read_text("utf-8"), text)

    def test_every_error_has_file_and_line(self) -> None:
        status, said = self.weave(
            "x\n<!-- code: demo.cuh nothing -->\n<!-- end -->\n<!-- code: no.cuh x -->\n<!-- end -->\n"
            "<!-- code: demo.cuh [tag] -->\n<!-- end -->\n<!-- mistake: unknown -->\n<!-- end -->\n"
            "<!-- counters: three loads -->\n<!-- end -->\n<!-- counters: one jumps -->\n<!-- end -->\n"
            "<!-- measured: t -->\n<!-- end -->\n<!-- output: false -->\n<!-- end -->\n"
        )
        self.assertEqual(status, 1)
        for line, words in (
            (2, "no definition of 'nothing'"),
            (4, "no.cuh: no such file"),
            (6, r"no region '// [tag]'"),
            (8, "no mistake 'unknown'; it has late, silent, elsewhere"),
            (10, "no kernel 'three'"),
            (12, "counts no 'jumps'; it counts loads, stores"),
            (14, "h200.json is not there"),
            (16, "'false' ended with 1"),
        ):
            self.assertRegex(said, rf"(?m)^weave: chapters/01_demo/README\.md:{line}: .*")
            self.assertIn(words, said)

    def test_broken_marks(self) -> None:
        for text, line in (
            ("<!-- code: demo.cuh add -->\n", 1),
            ("<!-- code: a b -->\n<!-- code: a b -->\n<!-- end -->\n", 1),
            ("x\n<!-- end -->\n", 2),
        ):
            with self.subTest(text):
                status, said = self.weave(text)
                self.assertEqual(status, 1)
                self.assertIn(f"README.md:{line}: ", said)

    def test_marks_inside_a_fence_are_text(self) -> None:
        text = "````\n```\n<!-- code: a b -->\n```\n````\n"
        self.assertEqual(list(marks.blocks(text)), [])

    def test_mistake_is_the_same_everywhere(self) -> None:
        text = self.woven("<!-- mistake: late -->\n<!-- end -->\n")
        self.assertIn("$ ./workbook run demo --mistakes -- late\nerror[late] in kernel k\n", text)
        self.assertIn("  --> chapters/01_demo/demo.cuh:4: read at 0x…4\n      | return a + 1;\n", text)

    def test_a_program_that_names_files_of_another_directory_is_refused(self) -> None:
        status, said = self.weave("<!-- mistake: elsewhere -->\n<!-- end -->\n")
        self.assertEqual(status, 1)
        self.assertIn("was compiled in another directory", said)

    def test_a_mistake_that_is_not_found_is_an_error(self) -> None:
        status, said = self.weave("<!-- mistake: silent -->\n<!-- end -->\n")
        self.assertEqual(status, 1)
        self.assertIn("was not found by the emulator", said)

    def test_counters_are_summed_over_launches(self) -> None:
        text = self.woven("<!-- counters: one,two loads,stores -->\n<!-- end -->\n")
        self.assertIn("| kernel | loads | stores |\n| --- | ---: | ---: |\n| `one` | 1,234 | 3 |\n", text)

    def test_output_runs_in_the_root_and_once(self) -> None:
        mark = "<!-- output: echo x >> log; pwd; wc -l < log -->\n<!-- end -->\n"
        with mock.patch.dict("os.environ", {"EMULATOR_CHECKS": "none"}):
            text = self.woven(mark + mark)
        self.assertEqual(text.count(f"```\n$ echo x >> log; pwd; wc -l < log\n{self.root}\n1\n```"), 2)

    def test_markdown_is_not_fenced(self) -> None:
        text = self.woven("<!-- markdown: echo '**x** y' -->\n<!-- end -->\n")
        self.assertEqual(text, "<!-- markdown: echo '**x** y' -->\n\n**x** y\n\n<!-- end -->\n")

    def test_a_page_names_the_chapter(self) -> None:
        self.readme = self.put("docs/pages/page.md", "")
        self.assertIn("error[late] in kernel k", self.woven("<!-- mistake: demo/late -->\n<!-- end -->\n"))
        for name, words in (("late", "takes CHAPTER/NAME"), ("other/late", "there is no chapter 'other'")):
            status, said = self.weave(f"<!-- mistake: {name} -->\n<!-- end -->\n")
            self.assertEqual(status, 1)
            self.assertIn(words, said)

    def test_output_cannot_run_the_tests(self) -> None:
        status, said = self.weave("<!-- output: ./workbook test -->\n<!-- end -->\n")
        self.assertEqual(status, 1)
        self.assertIn("cannot be woven", said)

    def test_measured_table(self) -> None:
        rows = [["a", 3.25], ["b", 4096.4], ["c", None], ["d", 0.00432]]
        table = {"title": "On X", "columns": ["rung", "speed (GB/s)"], "ids": ["rung", "speed"], "rows": rows}
        self.put("docs/measurements/h200.json", json.dumps({"tables": {"ladder": table}}))
        text = self.woven("<!-- measured: ladder -->\n<!-- end -->\n")
        self.assertIn(
            "| rung | speed (GB/s) |\n| --- | ---: |\n| a | 3.25 |\n| b | 4,096 |\n| c | – |\n| d | 0.0043 |\n\nOn X.\n", text
        )
        _, said = self.weave("<!-- measured: other -->\n<!-- end -->\n")
        self.assertIn("no table 'other'; it has ladder", said)

    def test_a_region_that_nobody_shows_is_an_error(self) -> None:
        status, said = self.weave("nothing\n", check=True, everything=True)
        self.assertEqual(status, 1)
        self.assertIn("chapters/01_demo/demo.cuh:3: no page shows the region [inner]", said)
        shown = self.woven("<!-- code: demo.cuh [inner] -->\n<!-- end -->\n")
        self.assertEqual(self.weave(shown, check=True, everything=True), (0, ""))

    def test_a_program_that_is_not_built_is_an_error(self) -> None:
        (self.build / "chapters/01_demo/demo").unlink()
        status, said = self.weave("<!-- counters: one loads -->\n<!-- end -->\n")
        self.assertEqual(status, 1)
        self.assertIn("is not built", said)

    def test_a_long_fence_holds_a_short_one(self) -> None:
        self.assertEqual(marks.fenced(["```", "x"]), "````\n```\nx\n````")

    def test_a_table_with_a_short_row_is_an_error(self) -> None:
        with self.assertRaises(WeaveError):
            tables.markdown(["a", "b"], [["1"]], [True, True])


PTX = """
.visible .entry _Z3onePi(
.param .u64 _Z3onePi_param_0
)
{
.reg .b32 %r<3>;
.loc 1 2 3
ld.param.u64 %rd1, [_Z3onePi_param_0];
{
mov.u32 %r1, _ZZ3onePiE4tile; // where
}
st.shared.u32 [%r1], 0;
ret;
}
.visible .entry _Z3twoILi1EEvv(
)
{
ret;
}
"""

SASS = """\
\t\tFunction : _Z3onePi
        /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */
                                                             /* 0x000fe20000000800 */
        /*0010*/              @!P0 STS [R2],   R3 ;          /* 0x0000000000027919 */
"""


class Toolkit(unittest.TestCase):
    """Another toolkit makes other code: what the pages show of it cannot be compared then."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = Path(directory.name)
        header = root / "include/cccl/cuda/std/__cccl/version.h"
        header.parent.mkdir(parents=True)
        header.write_text("#define CCCL_VERSION 3001002\n", "utf-8")
        nvcc = root / "bin/nvcc"
        nvcc.parent.mkdir()
        nvcc.write_text("#!/bin/sh\n", "utf-8")
        nvcc.chmod(0o755)
        self.environment = {"WORKBOOK_NVCC": str(nvcc)}
        self.program = root / "program"

    def test_version_of_the_library_stands_beside_nvcc(self) -> None:
        self.assertEqual(machine_code.library_version(self.environment), "3.1.2")

    def test_another_library_or_compiler_is_said(self) -> None:
        self.program.write_bytes(b"Cuda compilation tools, release 13.0, V13.0.88")
        with mock.patch.dict("os.environ", self.environment), self.assertRaisesRegex(Unavailable, "CCCL 3.1.2$"):
            machine_code.require_compiler(self.program)
        self.program.write_bytes(b"Cuda compilation tools, release 13.1, V13.1.10")
        with (
            mock.patch.object(machine_code, "library_version", lambda _: machine_code.LIBRARY),
            self.assertRaisesRegex(Unavailable, "nvcc 13.1 "),
        ):
            machine_code.require_compiler(self.program)

    def test_the_same_ones_are_fine(self) -> None:
        self.program.write_bytes(b"Cuda compilation tools, release 13.0, V13.0.88")
        with mock.patch.object(machine_code, "library_version", lambda _: machine_code.LIBRARY):
            machine_code.require_compiler(self.program)


class MachineCode(unittest.TestCase):
    def setUp(self) -> None:
        names = {
            "_Z3onePi": "n::one(int*)",
            "_ZZ3onePiE4tile": "one(int*)::tile",
            "_Z3twoILi1EEvv": "void two<1>()",
        }
        patch = mock.patch.object(
            machine_code, "demangled", lambda symbols: {s: names.get(s, s) for s in symbols}
        )
        patch.start()
        self.addCleanup(patch.stop)

    def test_ptx_has_source_names_and_no_places(self) -> None:
        one, two = machine_code.ptx(PTX)
        self.assertEqual((one.short, two.short), ("one", "two"))
        self.assertEqual(
            one.lines,
            (
                ".reg .b32 %r<3>;",
                "ld.param.u64 %rd1, [one_param_0];",
                "mov.u32 %r1, tile;",
                "st.shared.u32 [%r1], 0;",
                "ret;",
            ),
        )
        self.assertEqual(two.lines, ("ret;",))

    def test_sass_has_no_addresses(self) -> None:
        (one,) = machine_code.sass(SASS)
        self.assertEqual(one.lines, ("LDC R1, c[0x0][0x28]", "@!P0 STS [R2], R3"))

    def test_excerpt(self) -> None:
        root = Path("/nowhere")
        runner = Runner(root, root)
        disassembler = machine_code.Disassembler(runner)
        chapter = mock.Mock()
        chapter.name = "demo"
        with mock.patch.object(disassembler, "_read", lambda program, language: machine_code.ptx(PTX)):
            self.assertEqual(
                disassembler.excerpt(chapter, "ptx", "one", ["ld\\.", "ret", "st\\."]),
                ["ld.param.u64 %rd1, [one_param_0];", "…", "st.shared.u32 [%r1], 0;", "ret;"],
            )
            for kernel, pattern, message in (
                ("three", "x", "no kernel 'three'; its kernels are one, two"),
                ("one", "nope", "no line of one in PTX has 'nope'"),
                ("one", "(", "no regular expression"),
            ):
                with self.subTest(kernel), self.assertRaisesRegex(WeaveError, message):
                    disassembler.excerpt(chapter, "ptx", kernel, [pattern])


if __name__ == "__main__":
    unittest.main()
