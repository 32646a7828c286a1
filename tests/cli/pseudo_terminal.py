"""A user at a pseudo-terminal: starts a command, types keys, and sees what a terminal would show."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

SECONDS = 30
_FRAME = re.compile(r"\x1b\[\?7l\x1b\[H(.*?)\x1b\[J\x1b\[\?7h", re.DOTALL)


def without_style(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


class PseudoTerminal:
    """All that was written is `seen`; `frame` is what a terminal with a screen shows now."""

    def __init__(
        self, command: list[str], directory: Path, environment: Mapping[str, str], *, rows: int = 24, columns: int = 80
    ) -> None:
        self.seen = ""
        controller, terminal = pty.openpty()
        self._controller, self._terminal = controller, terminal
        self.resize(rows, columns, tell=False)
        names = ("COLUMNS", "LINES", "NO_COLOR")
        self.process = subprocess.Popen(
            command,
            cwd=directory,
            env={k: v for k, v in os.environ.items() if k not in names} | {"TERM": "xterm-256color"} | dict(environment),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def resize(self, rows: int, columns: int, *, tell: bool = True) -> None:
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            os.killpg(self.process.pid, signal.SIGWINCH)

    def type(self, keys: str) -> None:
        os.write(self._controller, keys.encode())

    @property
    def frame(self) -> list[str]:
        frames = _FRAME.findall(self.seen)
        return [without_style(row).rstrip("\r") for row in frames[-1].split("\n")] if frames else []

    @property
    def modes(self) -> list[object]:
        """What is set for the terminal now."""
        return termios.tcgetattr(self._terminal)

    def until_frame(self, *words: str, without: str = "\0") -> list[str]:
        """The first frame from now on that has all the words and lacks one."""

        def is_there() -> bool:
            text = "\n".join(self.frame)
            return all(word in text for word in words) and without not in text

        self._until(is_there, f"a frame with {words}")
        return self.frame

    def until_new_frame(self, wanted: Callable[[list[str]], bool], what: str, *, after: int = 0) -> None:
        """Waits until the last of the frames written behind `after` is as wanted."""
        self._until(lambda: _FRAME.search(self.seen[after:]) is not None and wanted(self.frame), what)

    def until(self, pattern: str, *, after: int = 0) -> int:
        """Waits until the pattern was written behind `after`; returns where it ends."""
        self._until(lambda: re.search(pattern, self.seen[after:]) is not None, repr(pattern))
        match = re.search(pattern, self.seen[after:])
        assert match is not None
        return after + match.end()

    def until_modes(self, condition: int, *, on: bool) -> None:
        """Waits until a local mode of the terminal is set or cleared."""
        self._until(lambda: bool(int(str(self.modes[3])) & condition) == on, f"mode {condition} {on}")

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come; the end of what did:\n{self.seen[-3000:]!r}")
            self._read(0.1)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._controller], [], [], seconds)[0]:
            return False
        try:
            self.seen += os.read(self._controller, 65536).decode(errors="replace")
        except OSError:
            return False
        return True

    def end(self) -> int:
        """The exit status, when the command ends by itself."""
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end; the end of what it wrote:\n{self.seen[-3000:]!r}")
            self._read(0.1)
        while self._read(0.1):
            pass
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            os.kill(self.process.pid, signal.SIGCONT)
            self.process.wait()
        os.close(self._controller)
        os.close(self._terminal)
