"""`watch` at a terminal: keys, Ctrl-Z and fg, resizing, narrow, without colour. The judge is a stand-in that needs no compiler."""

import os
import re
import signal
import sys
import termios
import time
from pathlib import Path

from pseudo_terminal import PseudoTerminal, without_style
from support import TreeTest

NAMES = ("add_one", "add_two", "turn_round")
STAND_IN = """
import os, sys, time
sys.path.insert(0, {common!r})
from cli import judging
from cli.errors import UserError
from cli.judging import Outcome

def prepare(workspace, exercises, where):
    if os.path.exists("unready"):
        raise UserError("the build failed (log: x)", detail=["a.cpp:1: error"])
    if os.path.exists("slow"):
        print("workbook: waiting for another command", file=sys.stderr)
        sys.stderr.write("\\r[3/9] compiling judge.cpp\\x1b[K")
        time.sleep(60)

def check(workspace, tools, exercise, file, where, seconds=20):
    text = file.read_text("utf-8")
    if "slowly" in text:
        time.sleep(60)
    if "right" in text:
        return Outcome("passed")
    if "long" in text:
        return Outcome("result", [f"line {{n}} of many" for n in range(60)])
    return Outcome("result", ["out[0] should be 1 and is 0, as nobody wrote to it: look at the index of the element."])

judging.prepare, judging.check = prepare, check
from cli.main import main
sys.exit(main(sys.argv[1:]))
"""


class WatchTest(TreeTest):
    def setUp(self) -> None:
        super().setUp()
        place = self.tree / "chapters" / "01_sync_copy" / "exercises"
        place.mkdir()
        (place / "exercises.toml").write_text("\n".join(self.entry(name) for name in NAMES), "utf-8")
        for name in NAMES:
            (place / f"{name}.cu").write_text("// YOUR CODE\n", "utf-8")
        self.script = self.tree / "stand_in.py"
        self.script.write_text(STAND_IN.format(common=str(self.tree / "common")), "utf-8")

    def entry(self, name: str) -> str:
        return (
            f'[[exercise]]\nname = "{name}"\ntitle = "Title of {name}"\nkind = "fill"\ntask = "do {name}"\nminutes = 5\n'
            'hints = ["first", "second", "third"]\nlearned = "something new"\nfails_with = "wrong"\n'
        )

    def save(self, name: str, text: str) -> None:
        file = self.tree / "workspace" / f"{name}.cu"
        temporary = file.with_suffix(".cu~")
        temporary.write_text(text, "utf-8")
        temporary.replace(file)

    def start(
        self, command: list[str] | None = None, *, rows: int = 24, columns: int = 80, **environment: str
    ) -> PseudoTerminal:
        env = {"PYTHONDONTWRITEBYTECODE": "1", "WORKBOOK_BACKEND": "emulator", **environment}
        command = command or [sys.executable, str(self.script), "watch"]
        result = PseudoTerminal(command, self.tree, env, rows=rows, columns=columns)
        self.addCleanup(result.close)
        return result

    def assert_left_as_it_was(self, watch: PseudoTerminal, before: list[object]) -> None:
        self.assertEqual(watch.modes, before)
        for on, off in (("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?25l", "\x1b[?25h"), ("\x1b[?7l", "\x1b[?7h")):
            self.assertGreater(watch.seen.rfind(off), watch.seen.rfind(on), repr(on))


class Keys(WatchTest):
    def test_a_verdict_and_then_another(self) -> None:
        watch = self.start()
        frame = watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        self.assertIn("add_one: Title of add_one (fill, 5 min)", frame[0])
        self.assertIn("Edit and save workspace/add_one.cu", frame[1])
        self.assertIn("0 of 3 solved", "\n".join(frame))
        self.assertEqual(len(frame), 24)
        self.assertNotIn("Hint", "\n".join(frame))
        self.save("add_one", "right\n")
        frame = watch.until_frame("add_one: solved.", "something new", "press n", "1 of 3 solved")
        self.assertNotIn("not yet", "\n".join(frame))

    def test_hint_next_and_quit(self) -> None:
        watch = self.start()
        before = watch.modes
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        watch.type("h")
        watch.until_frame("Hint 1 of 3: first", "add_one: not yet.")
        watch.type("h")
        watch.until_frame("Hint 1 of 3: first", "Hint 2 of 3: second")
        watch.type("n")
        watch.until_frame("add_two: not yet.", without="Hint")
        watch.type("q")
        self.assertEqual(watch.end(), 0)
        self.assert_left_as_it_was(watch, before)

    def test_the_last_verdict_stays_in_the_terminal(self) -> None:
        for key, status in (("q", 0), ("\x03", 130)):
            with self.subTest(key=key):
                watch = self.start()
                before = watch.modes
                watch.until_frame("add_one: not yet.", "q quit", without="Checking")
                watch.type("h" + key)
                self.assertEqual(watch.end(), status)
                self.assert_left_as_it_was(watch, before)
                left = watch.seen[watch.seen.rindex("\x1b[?1049l") :]
                for word in ("add_one: not yet.", "out[0] should be 1", "0 of 3 solved"):
                    self.assertIn(word, left)

    def test_run_again_counts_a_check(self) -> None:
        watch = self.start()
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        watch.type("r")
        deadline = time.monotonic() + 20
        while "checks = 2" not in (self.tree / "workspace" / "progress.toml").read_text("utf-8"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_check_all_checks_what_was_begun(self) -> None:
        (self.tree / "workspace").mkdir()
        self.save("turn_round", "right\n")
        watch = self.start()
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        watch.type("c")
        watch.until_frame("1 of 2 is right", "[ ] add_one: not right", "[x] turn_round: right", "1 of 3 solved")

    def test_reset_asks_first_and_keeps_a_copy(self) -> None:
        watch = self.start()
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        self.save("add_one", "right\n")
        watch.until_frame("add_one: solved.", "q quit", without="Checking")
        watch.type("x")
        watch.until_frame("Begin add_one anew?", "(y/n)")
        watch.type("n")
        watch.until_frame("add_one is as it was.", without="(y/n)")
        self.assertEqual((self.tree / "workspace" / "add_one.cu").read_text("utf-8"), "right\n")
        watch.type("xy")
        watch.until_frame("Your file is now workspace/backups/add_one.1.cu.", "add_one: not yet.", "0 of 3 solved")
        self.assertEqual((self.tree / "workspace" / "backups" / "add_one.1.cu").read_text("utf-8"), "right\n")
        self.assertEqual((self.tree / "workspace" / "add_one.cu").read_text("utf-8"), "// YOUR CODE\n")

    def test_the_list_searches_filters_and_chooses(self) -> None:
        (self.tree / "workspace").mkdir()
        self.save("add_two", "right\n")
        watch = self.start()
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        watch.type("c")
        watch.until_frame("1 of 2 is right")
        watch.type("l")
        watch.until_frame("all exercises", "> [ ] add_one", "  [x] add_two", "turn_round")
        watch.type("o")
        watch.until_frame("showing: open", "add_one", without="add_two")
        watch.type("s")
        watch.until_frame("showing: solved", "> [x] add_two", without="add_one")
        watch.type("s/turnq")
        watch.until_frame("search: turnq_", "No exercise is like that.")
        watch.type("\x7f")
        watch.until_frame("search: turn_", "> [ ] turn_round")
        watch.type("\x1b")
        watch.until_frame("all exercises", "> [ ] turn_round", "add_two")
        watch.type("\x1b[A")
        watch.until_frame("> [x] add_two")
        watch.type("\r")
        watch.until_frame("add_two: solved.", "workspace/add_two.cu")
        watch.type("l\x1b")
        watch.until_frame("add_two: solved.", without="Enter choose")

    def test_a_long_verdict_is_scrolled(self) -> None:
        watch = self.start()
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        self.save("add_one", "long\n")
        watch.until_frame("line 3 of many", "more below", without="line 59 of many")
        watch.type("\x1b[F")
        watch.until_frame("line 59 of many", "Press h", "the end", without="line 3 of many")
        watch.type("\x1b[H")
        watch.until_frame("add_one: not yet.", "line 3 of many")


class Trouble(WatchTest):
    def test_q_ends_what_takes_long(self) -> None:
        watch = self.start()
        before = watch.modes
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        self.save("add_one", "slowly\n")
        watch.until_frame("Checking add_one ...  1 s")
        watch.type("q")
        self.assertEqual(watch.end(), 0)
        self.assertNotIn("interrupted", watch.seen)
        self.assert_left_as_it_was(watch, before)

    def test_it_says_how_far_the_judge_is(self) -> None:
        (self.tree / "slow").touch()
        watch = self.start()
        watch.until_frame("Preparing the judge of add_one ...  1 s  [3/9] compiling judge.cpp")
        self.assertEqual(without_style(watch.seen).count("waiting for another command"), 0)
        watch.type("\x03")
        self.assertEqual(watch.end(), 130)
        self.assertIn("workbook: waiting for another command", watch.seen[watch.seen.rindex("\x1b[?1049l") :])

    def test_an_error_is_no_end(self) -> None:
        (self.tree / "unready").touch()
        watch = self.start()
        watch.until_frame("the build failed", "a.cpp:1: error", "Press r")
        (self.tree / "unready").unlink()
        watch.type("r")
        watch.until_frame("add_one: not yet.", without="the build failed")

    def test_a_file_that_is_gone(self) -> None:
        watch = self.start()
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        (self.tree / "workspace" / "add_one.cu").unlink()
        watch.until_frame("workspace/add_one.cu is gone: save it again")
        self.save("add_one", "right\n")
        watch.until_frame("add_one: solved.", without="is gone")

    def test_a_termination_leaves_the_terminal_as_it_was(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            watch = self.start()
            before = watch.modes
            watch.until_frame("add_one: not yet.", "q quit", without="Checking")
            self.assertNotEqual(watch.modes, before)
            os.kill(watch.process.pid, number)
            self.assertEqual(watch.end(), 128 + number)
            self.assert_left_as_it_was(watch, before)


class Shells(WatchTest):
    """A shell with job control lies between the terminal and the command."""

    def test_ctrl_z_and_fg(self) -> None:
        shell = self.start(["/bin/sh", "-i"], PS1="prompt> ", ENV="")
        shell.until("prompt> ")
        before = shell.modes
        shell.type(f"'{sys.executable}' stand_in.py watch\r")
        shell.until_frame("add_one: not yet.", "q quit", without="Checking")
        for turn in (1, 2):
            end = len(shell.seen)
            shell.type("\x1a")
            end = shell.until(r"\x1b\[\?1049l", after=end)
            end = shell.until("prompt> ", after=end)
            shell.until_modes(termios.ICANON, on=True)
            self.assertEqual(self.known_modes(shell.modes), self.known_modes(before))
            shell.type("fg\r")
            shell.until(r"\x1b\[\?1049h", after=end)
            shell.until_modes(termios.ICANON, on=False)
            shell.type("h")
            shell.until_frame(f"Hint {turn} of 3")
        self.save("add_one", "right\n")
        shell.until_frame("add_one: solved.")
        shell.type("q")
        shell.until("prompt> ", after=len(shell.seen))
        self.assertEqual(self.known_modes(shell.modes), self.known_modes(before))

    def test_a_stop_without_a_warning(self) -> None:
        watch = self.start()
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        before = len(watch.seen)
        os.kill(watch.process.pid, signal.SIGSTOP)
        modes = watch.modes
        modes[3] = int(str(modes[3])) | termios.ICANON | termios.ECHO
        termios.tcsetattr(watch._terminal, termios.TCSANOW, modes)  # as a shell does
        os.kill(watch.process.pid, signal.SIGCONT)
        watch.until(re.escape("\x1b[?1049h"), after=before)
        watch.until_modes(termios.ICANON, on=False)
        watch.type("h")
        watch.until_frame("Hint 1 of 3")
        watch.type("q")
        self.assertEqual(watch.end(), 0)
        self.assertTrue(int(str(watch.modes[3])) & termios.ICANON)

    def known_modes(self, modes: list[object]) -> list[object]:
        """Without PENDIN, which the kernel sets for itself."""
        return [*modes[:3], int(str(modes[3])) & ~termios.PENDIN]


class Sizes(WatchTest):
    def fits(self, frame: list[str], rows: int, columns: int) -> bool:
        return len(frame) <= rows and all(len(row) <= columns for row in frame)

    def assert_fits(self, frame: list[str], rows: int, columns: int) -> None:
        self.assertTrue(self.fits(frame, rows, columns), (rows, columns, frame))

    def test_another_size_is_another_layout(self) -> None:
        watch = self.start()
        frame = watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        self.assert_fits(frame, 24, 80)
        self.assertTrue(any("look at the index" in row for row in frame) or "look at" in " ".join(frame))
        for rows, columns in ((30, 40), (8, 40), (4, 20), (50, 120), (24, 80)):
            with self.subTest(rows=rows, columns=columns):
                seen = len(watch.seen)
                watch.resize(rows, columns)
                # A frame of the old size may be on its way already.
                watch.until_new_frame(lambda new: self.fits(new, rows, columns), f"a frame of {rows} x {columns}", after=seen)
        watch.until_new_frame(lambda new: new == frame, "the first frame again")

    def test_whoever_changes_the_size_gets_a_new_frame(self) -> None:
        """A terminal that was made narrow for a moment has broken the lines."""
        watch = self.start()
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        time.sleep(0.5)
        seen = len(watch.seen)
        watch.resize(24, 80)
        watch.until(re.escape("\x1b[?7h"), after=seen)

    def test_forty_columns_show_all_of_the_verdict_and_all_keys(self) -> None:
        watch = self.start(rows=30, columns=40)
        frame = watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        text = " ".join(" ".join(frame).split())
        self.assertIn("out[0] should be 1 and is 0, as nobody wrote to it: look at the index of the element.", text)
        for key in ("h hint", "n next", "l list", "r run again", "c check all", "x reset", "q quit", "0 of 3 solved"):
            self.assertIn(key, text)
        watch.type("l")
        frame = watch.until_frame("> [ ] add_one", "Esc back")
        self.assertIn("Title of turn_round (5 min)", " ".join(" ".join(frame).split()))
        self.assert_fits(frame, 30, 40)


class Plain(WatchTest):
    def test_colour_only_where_it_is_wanted(self) -> None:
        for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
            watch = self.start(None, **environment)
            watch.until_frame("add_one: not yet.", "q quit", without="Checking")
            self.assertEqual("\x1b[1;31m" in watch.seen, coloured)
            watch.type("l")
            watch.until_frame("> [ ] add_one")  # the cursor is seen without colour

    def test_a_terminal_that_cannot_draw_gets_lines_and_keys(self) -> None:
        watch = self.start(TERM="dumb")
        end = watch.until(r"add_one: not yet\.[^\0]*q quit")
        watch.type("h")
        end = watch.until("Hint 1 of 3: first", after=end)
        watch.type("l")
        end = watch.until(r"\[ \] turn_round", after=end)
        watch.type("x")
        end = watch.until(r"\(y/n\)", after=end)
        watch.type("y")
        end = watch.until(r"Your file is now workspace/backups/add_one\.1\.cu", after=end)
        end = watch.until("q quit", after=end)
        self.save("add_one", "right\n")
        end = watch.until(r"add_one: solved\.", after=end)
        watch.type("q")
        self.assertEqual(watch.end(), 0)
        self.assertNotIn("\x1b", watch.seen)

    def test_a_terminal_that_knows_ascii_alone(self) -> None:
        watch = self.start(PYTHONIOENCODING="ascii")
        watch.until_frame("add_one: not yet.", "q quit", without="Checking")
        watch.type("l")
        watch.until_frame("^v move")

    def test_pipes_get_lines(self) -> None:
        (self.tree / "workspace").mkdir()
        for name in NAMES:
            self.save(name, "right\n")
        done = self.workbook("watch", command=Path(self.stub()))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stdout)
        words = ("Watching workspace/add_one.cu", "Checking add_one ...", "add_one: solved.", "Every exercise is solved.")
        for word in (*words, "turn_round: solved."):
            self.assertIn(word, done.stdout)
        self.assertNotIn("q quit", done.stdout)

    def stub(self) -> str:
        stub = self.tree / "stub"
        stub.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{self.script}' \"$@\"\n", "utf-8")
        stub.chmod(0o755)
        return str(stub)
