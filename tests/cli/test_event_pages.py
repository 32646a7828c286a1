"""Pages that show a launch event by event: what is in them, and which launch is chosen."""

import base64
import gzip
import json
import re
import tempfile
import unittest
from pathlib import Path

from cli import event_pages, viewer
from cli.commands import replay
from cli.errors import UserError
from cli.main import build_parser
from cli.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
RECORDING = {"kernel": "void (anonymous namespace)::copy<4>(int*)", "clusters": [], "findings": ["</script>"]}
PROGRAM = """#!/bin/sh
case " $* " in *--list*) seq 1 3; exit 0;; esac
echo "$*" >> {log}
case " $* " in *--launch={wrong}*) status=1;; *) status=0;; esac
for word; do case $word in --moments=*) cp {recording} "${{word#--moments=}}";; esac; done
exit $status
"""
"""Stands for the emulator: three launches, of which one is wrong."""


class EventPages(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.place = Path(kept.name)
        self.workspace = Workspace(ROOT, self.place)
        self.page = self.place / "page.html"
        self.log = self.place / "log"

    def fake(self, wrong: int) -> None:
        """Puts a program in the emulator's place."""
        recording = self.place / "recording.json"
        recording.write_text(json.dumps(RECORDING, separators=(",", ":")), "utf-8")
        program = self.place / event_pages.PROGRAM
        program.parent.mkdir(parents=True)
        program.write_text(PROGRAM.format(log=self.log, recording=recording, wrong=wrong), "utf-8")
        program.chmod(0o755)

    def test_a_page_has_all_that_it_needs(self) -> None:
        self.fake(wrong=0)
        self.assertEqual(event_pages.write(self.workspace, ["file", "--launch=1"], self.page), (0, True))
        text = self.page.read_text("utf-8")
        self.assertEqual(re.findall(r"""<(?:script|img|link)[^>]*\s(?:src|href)=|@import|url\(""", text), [])
        self.assertIn("<title>copy, event by event</title>", text)
        for name in viewer.SCRIPTS:
            self.assertIn((ROOT / viewer.PLACE / f"{name}.js").read_text("utf-8"), text)
        self.assertEqual(text.count("</script>"), 2)
        packed = re.search(r'openPacked\(.*"([A-Za-z0-9+/=]+)"\)', text)
        self.assertIsNotNone(packed)
        assert packed
        self.assertEqual(json.loads(gzip.decompress(base64.b64decode(packed[1]))), RECORDING)

    def test_one_host_thread_if_nothing_else_is_chosen(self) -> None:
        self.fake(wrong=0)
        event_pages.write(self.workspace, ["file"], self.page)
        event_pages.write(self.workspace, ["file", "--threads=3"], self.page)
        first, second = self.log.read_text("utf-8").splitlines()
        self.assertIn("--threads=1", first)
        self.assertNotIn("--threads=1", second)

    def test_the_first_wrong_launch_is_shown_or_the_last_one(self) -> None:
        self.fake(wrong=2)
        event_pages.write_failing(self.workspace, self.place / "file", self.page)
        self.assertRegex(self.log.read_text("utf-8").splitlines()[-1], "--launch=2 .*--moments=")
        program = self.place / event_pages.PROGRAM
        program.write_text(program.read_text("utf-8").replace("--launch=2", "--launch=none"), "utf-8")
        event_pages.write_failing(self.workspace, self.place / "file", self.page)
        self.assertRegex(self.log.read_text("utf-8").splitlines()[-1], "--launch=3 .*--moments=")

    def test_a_page_that_cannot_be_written_is_one_line(self) -> None:
        self.fake(wrong=0)
        with self.assertRaisesRegex(UserError, "no/page.html cannot be written"):
            event_pages.write(self.workspace, ["file"], self.place / "no/page.html")

    def test_nothing_is_shown_where_launches_are_listed(self) -> None:
        options = build_parser().parse_args(["replay", "file", "--list", "--html", "page.html"])
        with self.assertRaisesRegex(UserError, "--list shows none"):
            replay.arguments(options)
