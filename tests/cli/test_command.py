"""The command as a user meets it: run as a process in a small tree."""

import argparse
import json
import os
import unittest
from pathlib import Path

from cli.commands import run
from support import TreeTest

NOBODY = 65534


class Usage(TreeTest):
    def test_without_a_command_it_shows_the_help(self) -> None:
        done = self.workbook()
        self.assertEqual(done.returncode, 2)
        for name in ("run", "test", "emulate", "list", "doctor", "sass"):
            self.assertIn(name, done.stderr)

    def test_an_unknown_command_is_one_line(self) -> None:
        self.assert_one_line(self.workbook("frobnicate"), 2, "frobnicate")

    def test_an_unknown_option_is_one_line(self) -> None:
        self.assert_one_line(self.workbook("list", "--frob"), 2, "--frob")

    def test_an_unknown_chapter_is_one_line_that_names_the_known_ones(self) -> None:
        for command in ("run", "sass"):
            with self.subTest(command=command):
                self.assert_one_line(self.workbook(command, "nosuch"), 2, "nosuch", "01_sync_copy, 05_tma_1d")

    def test_an_unknown_backend_is_one_line(self) -> None:
        self.assert_one_line(self.workbook("run", "--backend", "abacus"), 2, "abacus")
        self.assert_one_line(self.workbook("run", WORKBOOK_BACKEND="abacus"), 2, "WORKBOOK_BACKEND", "abacus")

    def test_a_missing_list_of_chapters_is_one_line(self) -> None:
        (self.tree / "chapters" / "meson.build").write_text("# nothing\n", "utf-8")
        self.assert_one_line(self.workbook("list"), 1, "chapter_names")
        (self.tree / "chapters" / "meson.build").unlink()
        self.assert_one_line(self.workbook("list"), 1, "meson.build")

    def test_emulate_says_what_is_wrong_with_a_program(self) -> None:
        plain = self.tree / "data"
        plain.write_text("no program", "utf-8")
        static = self.tree / "static"
        static.write_bytes(b"\x7fELF" + b"\0" * 60 + b"\0.nv_fatbin\0")
        static.chmod(0o755)
        self.assert_one_line(self.workbook("emulate", "./nosuch"), 2, "nosuch")
        self.assert_one_line(self.workbook("emulate", "./data"), 2, "not executable")
        self.assert_one_line(self.workbook("emulate", "."), 2, "directory")
        self.assert_one_line(self.workbook("emulate", "./static"), 1, "-cudart shared")
        self.assert_one_line(self.workbook("emulate", "--threads", "0", "/bin/true"), 2, "--threads 0")
        self.assert_one_line(self.workbook("emulate", "--seed", "x", "/bin/true"), 2, "--seed")


class Run(unittest.TestCase):
    def test_all_kernels_that_are_named_go_to_the_program(self) -> None:
        parser = argparse.ArgumentParser()
        run.add_arguments(parser)
        options = parser.parse_args(["wgmma", "--kernel", "a", "--size", "3", "--kernel", "b"])
        self.assertEqual(run.passed_on(options), ["--size", "3", "--kernel", "a", "--kernel", "b"])


class Places(TreeTest):
    def test_it_may_be_called_from_anywhere_and_through_a_link(self) -> None:
        link = self.tree.parent / "link"
        link.symlink_to(self.tree / "workbook")
        done = self.workbook("list", cwd=Path("/"), command=link)
        self.assertEqual(
            done.stdout.splitlines()[0].split(), ["1", "sync_copy", "through", "the", "registers"]
        )

    def test_an_unwritable_clone_is_one_line(self) -> None:
        self.tree.parent.chmod(0o755)
        self.tree.chmod(0o555)
        self.addCleanup(self.tree.chmod, 0o755)
        # Root may write everywhere, so root becomes somebody else, whose Python is the system's.
        done = self.workbook(
            "run",
            "--backend",
            "emulator",
            user=NOBODY if os.geteuid() == 0 else None,
            cwd=Path("/"),
            PATH="/usr/local/bin:/usr/bin:/bin",
        )
        self.assert_one_line(done, 1, "cannot write to", str(self.tree))

    def test_a_file_in_the_way_of_the_state_is_one_line(self) -> None:
        (self.tree / ".workbook").write_text("", "utf-8")
        self.assert_one_line(self.workbook("run", "--backend", "emulator"), 1, "cannot write to", ".workbook")

    def test_what_is_missing_is_one_line_when_nothing_may_be_installed(self) -> None:
        done = self.workbook("run", "--backend", "emulator", WORKBOOK_NVCC="/nosuch/nvcc")
        self.assert_one_line(done, 1, "missing", "nvcc 13.0 or newer", "doctor")

    def test_a_foreign_build_directory_is_not_emptied(self) -> None:
        foreign = self.tree / "precious"
        foreign.mkdir()
        (foreign / "thesis.txt").write_text("text", "utf-8")
        (self.tree / "meson.build").write_text("project('p')\n", "utf-8")
        done = self.workbook("emulate", "/bin/true", WORKBOOK_BUILD=str(foreign))
        self.assertEqual(done.returncode, 1)
        self.assertTrue((foreign / "thesis.txt").exists())


class Machine(TreeTest):
    def test_list_as_json(self) -> None:
        data = json.loads(self.workbook("list", "--json").stdout)
        self.assertEqual(data["schema"], 1)
        self.assertEqual([c["name"] for c in data["chapters"]], ["sync_copy", "tma_1d"])
        self.assertEqual([c["number"] for c in data["chapters"]], [1, 5])
        self.assertTrue(data["chapters"][1]["program"].endswith("build/chapters/05_tma_1d/tma_1d"))

    def test_doctor_as_json_has_its_form_and_changes_nothing(self) -> None:
        before = sorted(self.tree.rglob("*"))
        done = self.workbook("doctor", "--json", WORKBOOK_NVCC="/nosuch/nvcc")
        self.assertEqual(sorted(self.tree.rglob("*")), before)
        data = json.loads(done.stdout)
        self.assertEqual(set(data), {"schema", "ready", "python", "requirements", "backend"})
        self.assertEqual(set(data["backend"]), {"auto", "gpu_problem", "gpus"})
        entries = {entry["key"]: entry for entry in data["requirements"]}
        self.assertEqual(
            list(entries),
            ["c++", "pkg-config", "ninja", "meson", "catch2", "zstd", "lz4", "nvcc", "disassembler"]
            + ["doxygen", "doxygen-theme", "markdown", "browser", "firefox", "axe", "speller", "dictionary", "emscripten"],
        )
        for entry in entries.values():
            self.assertEqual(
                set(entry),
                {"key", "title", "purpose", "minimum", "status", "optional", "version", "path", "install"},
            )
            self.assertIn(entry["status"], ("ok", "old", "missing"))
            self.assertEqual(entry["install"] is None, entry["status"] == "ok")
        self.assertEqual(entries["nvcc"]["status"], "missing")
        self.assertIn("nvidia-cuda-nvcc==13.0", entries["nvcc"]["install"])
        self.assertFalse(data["ready"])
        self.assertEqual(done.returncode, 1)

    def test_doctor_calls_an_old_nvcc_old(self) -> None:
        nvcc = self.tree / "nvcc"
        nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n", "utf-8")
        nvcc.chmod(0o755)
        data = json.loads(self.workbook("doctor", "--json", WORKBOOK_NVCC=str(nvcc)).stdout)
        entry = next(e for e in data["requirements"] if e["key"] == "nvcc")
        self.assertEqual((entry["status"], entry["version"]), ("old", "12.4.131"))

    def test_doctor_for_people_has_a_line_for_each_thing(self) -> None:
        done = self.workbook("doctor", WORKBOOK_NVCC="/nosuch/nvcc")
        self.assertRegex(done.stdout, r"(?m)^missing +nvcc .*install: python3 -m pip install ")
        self.assertRegex(done.stdout, r"(?m)^ok +Python ")
