"""From a fresh clone to the first exercise solved, typed at a terminal as a new user would."""

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time

from support import ANSWER, HOLE, CloneTest, main

LIMIT = 60
VERDICT_SECONDS = 8


class Terminal:
    """A shell-like user at a pseudo-terminal: starts a command, types keys, reads what appears."""

    def __init__(self, command: list[str], directory: str, environment: dict[str, str]) -> None:
        self._seen = ""
        self.screen = ""
        controller, terminal = pty.openpty()
        self._controller = controller
        self._process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment | {"TERM": "dumb", "COLUMNS": "100", "LINES": "30"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl-C shall reach it
        )
        os.close(terminal)

    def type(self, keys: str) -> None:
        os.write(self._controller, keys.encode())

    def wait_for(self, pattern: str) -> str:
        """What appeared until `pattern` did; it is not looked for there again."""
        deadline = time.monotonic() + LIMIT
        while not (match := re.search(pattern, self._seen)):
            if time.monotonic() > deadline or not self._read():
                raise AssertionError(f"'{pattern}' did not appear; the screen has:\n{self.screen}")
        text, self._seen = self._seen[: match.end()], self._seen[match.end() :]
        return text

    def _read(self) -> bool:
        ready, _, _ = select.select([self._controller], [], [], 0.5)
        try:
            data = os.read(self._controller, 4096).decode(errors="replace").replace("\r", "") if ready else ""
        except OSError:  # the program has ended
            return False
        self._seen += data
        self.screen += data
        return True

    def end(self) -> int:
        """The exit status, when the program ends by itself."""
        while self._read() and self._process.poll() is None:
            pass
        return self._process.wait(timeout=LIMIT)

    def close(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._controller)


class Journey(CloneTest):
    def terminal(self, *arguments: str) -> Terminal:
        result = Terminal(["./workbook", *arguments], str(self.clone), self.environment())
        self.addCleanup(result.close)
        return result

    def save(self, text: str) -> None:
        """As an editor does: a new file takes the place of the old one."""
        temporary = self.file.with_suffix(".cu~")
        temporary.write_text(text, "utf-8")
        temporary.replace(self.file)

    def test_from_a_fresh_clone_to_the_first_success(self) -> None:
        listed = self.terminal("list")
        listed.wait_for(r"1  sync_copy +\S.*\n +\[ \] reverse_tile")
        self.assertEqual(listed.end(), 0)

        first = self.terminal("next")
        said = first.wait_for(r"\./workbook check reverse_tile\n")
        self.assertIn("Edit workspace/reverse_tile.cu", said)
        self.assertEqual(first.end(), 0)

        watch = self.terminal("watch")
        watch.wait_for("Watching workspace/reverse_tile.cu")
        verdict = watch.wait_for("q quit")
        self.assertIn("reverse_tile: not yet.", verdict)
        self.assertIn("uninitialised-shared", verdict)
        self.assertLessEqual(len(verdict.splitlines()), 30)

        skeleton = self.file.read_text("utf-8")
        self.save(skeleton.replace(HOLE, "tile[t] = in[t];"))
        self.assertIn("Tile 1 has the elements of tile 0", watch.wait_for("q quit"))

        watch.type("h")
        watch.wait_for("Hint 1 of 3")
        watch.type("h")
        watch.wait_for("Hint 2 of 3")
        watch.type("l")
        watch.wait_for(r"\[ \] reverse_tile")

        begin = time.monotonic()
        self.save(skeleton.replace(HOLE, ANSWER))
        said = watch.wait_for("q quit")
        seconds = time.monotonic() - begin
        self.assertIn("reverse_tile: solved.", said)
        self.assertIn("press n", said)
        print(f"from saving to the verdict: {seconds:.1f} s")

        watch.type("l")
        watch.wait_for(r"\[x\] reverse_tile")
        watch.type("n")
        watch.wait_for("Watching workspace/four_sectors.cu")
        watch.wait_for("q quit")
        watch.type("q")
        self.assertEqual(watch.end(), 0)
        self.assertNotIn("\x1b", watch.screen)

        progress = self.terminal("progress")
        progress.wait_for(r"1 of \d+ exercises are solved\.")
        progress.wait_for("Next: four_sectors")

    def test_ctrl_c_leaves_the_terminal_as_it_was(self) -> None:
        shell = Terminal(
            ["sh", "-c", "trap : INT; stty -a > before; ./workbook watch; echo status $?; stty -a > after"],
            str(self.clone),
            self.environment(),
        )
        self.addCleanup(shell.close)
        shell.wait_for("q quit")
        shell.type("\x03")
        shell.wait_for("status 130")
        shell.end()
        before, after = ((self.clone / name).read_text("utf-8") for name in ("before", "after"))
        self.assertEqual(before, after)

    def test_watch_says_once_that_its_file_is_gone(self) -> None:
        watch = self.terminal("watch")
        watch.wait_for("q quit")
        text = self.file.read_text("utf-8")
        self.file.unlink()
        watch.wait_for("workspace/reverse_tile.cu is gone: save it again")
        time.sleep(2)
        self.save(text)
        said = watch.wait_for("q quit")
        self.assertIn("reverse_tile: not yet.", said)
        self.assertNotIn("is gone", said)

    def test_without_a_terminal_it_goes_on_by_itself(self) -> None:
        watch = subprocess.Popen(
            [str(self.clone / "workbook"), "watch"],
            cwd=self.clone,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        said = ""
        for line in watch.stdout:
            said += line
            if "gives a hint" in line and "reverse_tile" in line:
                self.save(self.file.read_text("utf-8").replace(HOLE, ANSWER))
            if line.startswith("four_sectors:"):
                break
        self.assertIn("reverse_tile: solved.", said)
        self.assertIn("Watching workspace/four_sectors.cu", said)
        for unwanted in ("\x1b", "\r", "q quit"):
            self.assertNotIn(unwanted, said)


class Speed(CloneTest):
    def test_from_saving_to_the_verdict(self) -> None:
        """Compiling, linking and judging, without what other programs on this machine take of it."""
        self.write(ANSWER)
        before = os.times()
        self.assertEqual(self.check().returncode, 0)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"processor time of a check: {used:.1f} s")
        self.assertLess(used, VERDICT_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__]))
