"""What a bundle brings built counts only where it fits; and the recipes of containers are sound."""

import contextlib
import io
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from support import ROOT

from cli import build, prebuilt
from cli.workspace import Workspace

LIBRARY = "common/emulator/cuda/libcudart.so.13"
JUDGE = "tests/exercises/libjudge_one.a"


def shared_library() -> Path:
    """Some small library of this system."""
    return next(Path("/").glob("lib*/**/libm.so.6"))


class Brought(unittest.TestCase):
    def setUp(self) -> None:
        home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.here, self.there = (Workspace(home / name, home / name / "build") for name in ("here", "there"))
        for workspace in (self.here, self.there):
            for name in ("meson.build", "common/emulator/a.cpp", "chapters/01_a/a.cuh", "chapters/01_a/exercises/one.cu"):
                (workspace.root / name).parent.mkdir(parents=True, exist_ok=True)
                (workspace.root / name).write_text(name, "utf-8")
        for name in (LIBRARY, JUDGE, f"{JUDGE}.p/one.o", "chapters/01_a/a"):
            (self.here.build / name).parent.mkdir(parents=True, exist_ok=True)
            (self.here.build / name).write_bytes(b"!")
        shutil.copyfile(shared_library(), self.here.build / LIBRARY)
        self.there.build.mkdir()
        prebuilt.pack(self.here, self.there, [JUDGE, "chapters/01_a/a"], [LIBRARY])
        prebuilt.digest.cache_clear()

    def change(self, name: str) -> None:
        (self.there.root / name).write_text("changed", "utf-8")
        prebuilt.digest.cache_clear()

    def test_what_was_brought_counts_as_built(self) -> None:
        self.assertEqual(build.emulator_targets(self.there), [LIBRARY])
        self.assertTrue(prebuilt.covers(self.there, [LIBRARY, JUDGE, "chapters/01_a/a"]))
        self.assertTrue((self.there.build / f"{JUDGE}.p/one.o").exists())

    def test_what_was_not_brought_is_not_covered(self) -> None:
        self.assertFalse(prebuilt.covers(self.there, [JUDGE, "tests/other"]))
        self.assertFalse(prebuilt.covers(self.there, []))

    def test_a_changed_source_is_built_anew(self) -> None:
        self.change("chapters/01_a/exercises/one.cu")
        self.assertIsNotNone(prebuilt.mark(self.there))
        self.change("common/emulator/a.cpp")
        self.assertIsNone(prebuilt.mark(self.there))

    def test_a_build_of_the_machine_itself_comes_first(self) -> None:
        (self.there.build / "build.ninja").touch()
        self.assertIsNone(prebuilt.mark(self.there))

    def test_another_machine_builds_for_itself(self) -> None:
        mark = self.there.build / prebuilt.MARK
        mark.write_text(json.dumps(json.loads(mark.read_text("utf-8")) | {"machine": "riscv64"}), "utf-8")
        self.assertIsNone(prebuilt.mark(self.there))

    def test_a_library_that_does_not_load_is_said_once(self) -> None:
        (self.there.build / LIBRARY).write_bytes(b"no library")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertIsNone(prebuilt.mark(self.there))
            self.assertIsNone(prebuilt.mark(self.there))
        self.assertEqual(len(said.getvalue().splitlines()), 1, said.getvalue())
        self.assertIn("does not run here", said.getvalue())
        self.assertIn("it is built anew", said.getvalue())

    def test_damage_is_no_mark(self) -> None:
        for text in ("", "{", "[]", "{}"):
            (self.there.build / prebuilt.MARK).write_text(text, "utf-8")
            self.assertIsNone(prebuilt.mark(self.there))


class Recipes(unittest.TestCase):
    def setUp(self) -> None:
        text = (ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8")
        self.recipe = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))

    def test_the_devcontainer_is_built_by_the_workshop_s_recipe(self) -> None:
        recipe = (ROOT / ".devcontainer" / self.recipe["build"]["dockerfile"]).resolve()
        self.assertEqual(recipe, ROOT / "docs" / "workshop" / "Containerfile")
        text = recipe.read_text("utf-8")
        self.assertIn(f"useradd --create-home {self.recipe['remoteUser']}", text)
        self.assertIn(f"WORKDIR {self.recipe['workspaceFolder']}", text)
        self.assertIn(f"target={self.recipe['workspaceFolder']}/workspace,", self.recipe["workspaceMount"])

    def test_nobody_s_answers_get_into_an_image(self) -> None:
        ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
        for name in ("workspace", "build*", ".workbook"):
            self.assertIn(name, ignored)
