"""Which recorded mistake shows which message, and what a page loads of them; the programs are not run here."""

import base64
import subprocess
import unittest
from pathlib import Path
from unittest import mock

from cli import live_mistakes
from cli.errors import UserError
from cli.live_mistakes import Mistake
from cli.workspace import Workspace

WORKSPACE = Workspace(Path("/r"), Path("/b"))


def mistake(name: str, *findings: str, launch: int | None = 0, capsule: bytes = b"") -> Mistake:
    return Mistake(name, capsule, list(findings), launch, name, "" if launch is not None else "why")


class Catalogue(unittest.TestCase):
    def catalogue(self, *messages: str) -> dict[str, dict[str, str]]:
        lines = "".join(f'{{"name":"{name}"}}\n' for name in messages)
        done = subprocess.CompletedProcess([], 0, lines, "")
        known = [mistake("a", "late", "early"), mistake("b", "late"), mistake("c", "refused", launch=None)]
        with mock.patch.object(live_mistakes, "_run", return_value=done):
            return live_mistakes.catalogue(WORKSPACE, {"one": live_mistakes.shown(known)})

    def test_a_message_has_the_first_mistake_that_tells_it_first(self) -> None:
        self.assertEqual(self.catalogue("late"), {"late": {"set": "one", "mistake": "a"}})

    def test_what_no_page_can_show_has_a_reason(self) -> None:
        self.assertEqual(self.catalogue("leak"), {"leak": {"why": live_mistakes.NOT_SHOWN["leak"]}})

    def test_a_message_with_neither_is_an_error(self) -> None:
        for name in ("early", "refused", "new"):
            with self.subTest(name), self.assertRaisesRegex(UserError, f"no mistake shows the message {name}"):
                self.catalogue(name)


class Data(unittest.TestCase):
    def test_what_capsules_have_in_common_is_there_once(self) -> None:
        known = [mistake("a", "x", capsule=b"HEAD1"), mistake("b", "x", capsule=b"HEAD22", launch=3), mistake("c", launch=None)]
        data = live_mistakes.as_data(WORKSPACE, known, [])
        head = base64.b64decode(data["common"])
        self.assertEqual(head, b"HEAD")
        for each in known[:2]:
            self.assertEqual(head + base64.b64decode(data["mistakes"][each.name]["rest"]), each.capsule)
        self.assertEqual(data["mistakes"]["b"]["launch"], 3)
        self.assertEqual(data["mistakes"]["c"], {"findings": [], "why": "why"})

    def test_a_kernel_is_named_without_what_surrounds_its_name(self) -> None:
        for listed, name in (
            ("1  launch 1: (anonymous namespace)::wait_missing(int const*, int*), grid (1,1,1)", "wait_missing"),
            ("1  launch 2: void (anonymous namespace)::twice<3>(int*), grid (1,1,1)", "twice"),
            ("12  launch 12: tma_1d::axpy(float), grid (1,1,1)", "axpy"),
        ):
            self.assertEqual(live_mistakes._kernel(listed), name)


if __name__ == "__main__":
    unittest.main()
