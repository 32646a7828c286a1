"""A room: what learners write to it, what never stops a check, and what the teacher sees."""

import contextlib
import io
import json
import os
import pty
import select
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from support import TreeTest
from test_learner import MANIFEST, SOLUTION

from cli import room, roomview
from cli.chapters import Chapter
from cli.exercises import Exercise
from cli.records import Record
from cli.room import Membership, Message
from cli.roomview import View
from cli.workspace import Workspace

MINUTES = {"one": 5, "two": 10}
ONE = Exercise("one", "One", "fill", "", 5, ("a", "b", "c"), "", "", Chapter("01_sync_copy"))


class RoomTest(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder = self.home / "folder"
        self.folder.mkdir()
        self.workspace = Workspace(self.home / "clone", self.home / "clone" / "build")
        self.enterContext(mock.patch.dict(os.environ))
        for name in ("WORKBOOK_ROOM", "WORKBOOK_ROOM_NAME"):
            os.environ.pop(name, None)

    def tell(self, **record: object) -> str:
        """Tells the room of a wrong answer, and returns what was said on the way."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            room.tell(self.workspace, ONE, Record(**record), "wrong", "race-shared", 3, 32)  # type: ignore[arg-type]
        return said.getvalue()

    def put(self, key: str, **more: object) -> Path:
        path = self.folder / f"{key}{room.SUFFIX}"
        message = {"schema": 1, "name": key, "exercise": "one", "state": "wrong", "tries": 2, "number": 1, **more}
        path.write_text(json.dumps(message), "utf-8")
        return path

    def table(self, view: View, width: int = 100, later: float = 0) -> str:
        return "\n".join(roomview.table(view, MINUTES, width, time.monotonic() + later))


class Learners(RoomTest):
    def test_nothing_is_shared_before_one_joins(self) -> None:
        self.tell(checks=1)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_who_joined_has_one_file_with_what_was_said_to_be_shared(self) -> None:
        member = room.join(self.workspace, self.folder, "Ada")
        for checks in (1, 2):
            self.assertEqual(self.tell(checks=checks, hints=1), "")
        self.assertEqual([file.name for file in self.folder.iterdir()], [member.file.name])
        data = json.loads(member.file.read_text("utf-8"))
        self.assertEqual((data["name"], data["exercise"], data["tries"], data["hints"]), ("Ada", "one", 2, 1))
        self.assertEqual(
            set(data), {"schema", "name", "exercise", "state", "finding", "tries", "hints", "seconds", "solved", "of", "number"}
        )

    def test_two_of_the_same_name_do_not_overwrite_each_other(self) -> None:
        other = Workspace(self.home / "other", self.home / "other" / "build")
        self.assertNotEqual(room.join(self.workspace, self.folder, "Ada").file, room.join(other, self.folder, "Ada").file)

    def test_who_left_shares_nothing(self) -> None:
        room.join(self.workspace, self.folder, "Ada")
        room.leave(self.workspace)
        self.tell(checks=1)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_variable_joins_and_says_once_what_is_shared(self) -> None:
        os.environ |= {"WORKBOOK_ROOM": str(self.folder), "WORKBOOK_ROOM_NAME": "Bob"}
        self.assertIn("never your code", self.tell(checks=1))
        self.assertEqual(self.tell(checks=2), "")
        self.assertEqual(json.loads(next(self.folder.iterdir()).read_text("utf-8"))["name"], "Bob")

    def test_a_folder_that_is_gone_is_one_line(self) -> None:
        room.join(self.workspace, self.folder, "Ada")
        for file in self.folder.iterdir():
            file.unlink()
        self.folder.rmdir()
        self.folder.write_text("", "utf-8")
        self.assertRegex(self.tell(checks=1), r"^workbook: the room at \S+ was not told \(.*\)\n$")

    def test_a_folder_that_does_not_answer_holds_nobody_up(self) -> None:
        room.join(self.workspace, self.folder, "Ada")
        begin = time.monotonic()
        with mock.patch.object(room, "_PATIENCE_SECONDS", 0.2), mock.patch.object(room, "write", lambda *_: time.sleep(3)):
            self.assertIn("it does not answer", self.tell(checks=1))
        self.assertLess(time.monotonic() - begin, 2.5)

    def test_a_clock_that_was_set_back_makes_no_negative_time(self) -> None:
        self.assertEqual(room.since("2999-01-01 00:00:00+00:00"), 0)
        self.assertEqual((room.since(""), room.since("nonsense")), (0, 0))
        self.assertGreater(room.since("2020-01-01 00:00:00+00:00"), 10**7)

    def test_a_name_is_one_line_of_printable_words(self) -> None:
        member = room.join(self.workspace, self.folder, "  Eve\x1b[2J\n of the\u202e room ")
        self.assertEqual(member.name, "Eve [2J of the room")
        self.assertTrue(member.file.name.startswith("Eve-2J-of-the-room-"))


class Teacher(RoomTest):
    def test_the_table_has_everybody(self) -> None:
        self.put("ada", tries=4, hints=2, seconds=720, finding="race-shared", solved=3, of=32)
        self.put("bob", exercise="two", state="solved", solved=5, of=32)
        view = View(self.folder)
        view.look()
        lines = self.table(view).splitlines()
        self.assertIn("2 learners, 8 exercises solved", lines[0])
        self.assertEqual(lines[3].split(), ["!", "ada", "3/32", "one", "4", "2", "12", "min", "now", "race-shared"])
        self.assertEqual(lines[4].split(), ["bob", "5/32", "two", "2", "0", "now", "solved"])
        self.assertIn("two: 1 here, 1 of them solved it", lines)

    def test_time_goes_on_without_news(self) -> None:
        self.put("ada", seconds=60)
        view = View(self.folder)
        view.look()
        self.assertIn(" 1 min now", self.table(view))
        self.assertRegex(self.table(view, later=360), r"(?m)^! ada +one +2 +0 +7 min 6 min$")

    def test_half_a_file_leaves_what_was_there(self) -> None:
        path = self.put("ada")
        view = View(self.folder)
        view.look()
        for text in ('{"schema": 1, "na', "", "[]", '{"schema": 2}', '{"schema": 1, "name": 5}', "\0" * 99, "[" * 9999):
            path.write_text(text, "utf-8")
            view.look()
            self.assertIn("ada", self.table(view), text[:20])
        path.unlink()
        view.look()
        self.assertNotIn("ada", self.table(view))

    def test_clocks_that_differ_change_nothing(self) -> None:
        for hours in (-30, 30):
            path = self.put("ada", number=hours)
            moment = time.time() + 3600 * hours
            os.utime(path, (moment, moment))
            view = View(self.folder)
            view.look()
            self.put("ada", number=hours + 1, seconds=60)
            os.utime(path, (moment, moment))
            view.look()
            self.assertIn(" 1 min now", self.table(view), hours)

    def test_what_strangers_write_cannot_harm(self) -> None:
        self.put("eve", name="\x1b[31mE\nv" + "e" * 5000, finding="\x07" * 9, tries=10**30, seconds=-5)
        os.mkfifo(self.folder / f"pipe{room.SUFFIX}")
        (self.folder / f"link{room.SUFFIX}").symlink_to("/etc/passwd")
        (self.folder / f"large{room.SUFFIX}").write_bytes(b" " * 10**6)
        view = View(self.folder)
        view.look()
        self.assertEqual(len(view.entries), 1)
        text = self.table(view, 80)
        self.assertTrue(all(line.isprintable() for line in text.splitlines()))
        self.assertLessEqual(max(map(roomview.columns, text.splitlines())), 80)

    def test_it_fits_narrow_terminals_and_wide_letters(self) -> None:
        for n in range(30):
            self.put(f"k{n}", name=f"漢字 somebody with a long name {n}", finding="read-before-completion", of=32, seconds=99999)
        view = View(self.folder)
        view.look()
        for width in (40, 80, 200):
            self.assertLessEqual(max(map(roomview.columns, self.table(view, width).splitlines())), width)

    def test_news_are_lines_once(self) -> None:
        self.put("ada", finding="race-shared")
        view = View(self.folder)
        view.look()
        self.assertEqual(roomview.changes(view), ["ada: one: not yet (race-shared), 2 tries"])
        view.look()
        self.assertEqual(roomview.changes(view), [])
        self.put("ada", state="solved", number=2)
        view.look()
        self.assertEqual(roomview.changes(view), ["ada: one: solved, 2 tries"])


class Command(TreeTest):
    def setUp(self) -> None:
        super().setUp()
        place = self.tree / "chapters" / "01_sync_copy"
        for name, file, text in (("exercises", "exercises.toml", MANIFEST), ("solutions", "add_one.cu", SOLUTION)):
            (place / name).mkdir()
            (place / name / file).write_text(text, "utf-8")
        self.folder = self.tree.parent / "the room"
        self.folder.mkdir()

    def test_join_hint_show_leave(self) -> None:
        self.assertIn("share nothing", self.workbook("room").stdout)
        done = self.workbook("room", "--join", str(self.folder), "--name", "Ada")
        self.assertIn("never your code", done.stdout, done.stderr)
        self.assertIn("You are Ada", self.workbook("room").stdout)
        self.workbook("hint", "add_one")
        shown = self.workbook("room", str(self.folder), "--once").stdout
        self.assertRegex(shown, r"Ada +0/1 +add_one +0 +1 +now +now +hint")
        self.assertIn("You have left", self.workbook("room", "--leave").stdout)
        self.assertIn("Nobody has joined", self.workbook("room", str(self.folder), "--once").stdout)

    def test_what_the_user_does_wrong_is_one_line(self) -> None:
        self.assert_one_line(self.workbook("room", "nowhere"), 2, "nowhere is no directory")
        self.assert_one_line(self.workbook("room", "--join", "nowhere"), 2, "nowhere is no directory")
        self.assert_one_line(self.workbook("room", ".", "--leave"), 2, "one of")

    def start(self, **streams: int) -> "subprocess.Popen[bytes]":
        env = {**os.environ, "TERM": "xterm", "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.Popen([str(self.tree / "workbook"), "room", str(self.folder)], env=env, **streams)  # type: ignore[call-overload]
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process  # type: ignore[no-any-return]

    def join(self) -> None:
        room.write(Membership(self.folder, "Ada", "ada"), Message("Ada", "add_one", "solved"))

    def test_without_a_terminal_news_are_lines(self) -> None:
        process = self.start(stdout=subprocess.PIPE)
        assert process.stdout is not None
        self.join()
        self.assertRegex(process.stdout.readline().decode(), r"^\d\d:\d\d:\d\d Ada: add_one: solved\n$")
        process.stdout.close()

    def test_on_a_terminal_the_table_is_drawn_again(self) -> None:
        ours, theirs = pty.openpty()
        process = self.start(stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.addCleanup(os.close, ours)
        seen = self.read_until(ours, "Nobody has joined")
        self.join()
        seen = self.read_until(ours, "Ctrl-C", after="Ada")
        self.assertIn("\x1b[2J", seen)
        os.write(ours, b"\x03")
        process.send_signal(2)
        self.assertEqual(process.wait(timeout=20), 0)

    def read_until(self, terminal: int, word: str, after: str = "") -> str:
        seen, deadline = "", time.monotonic() + 30
        while word not in seen.partition(after)[2] if after else word not in seen:
            if not select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"'{word}' did not come: {seen!r}")
            seen += os.read(terminal, 65536).decode(errors="replace")
        return seen
