"""A terminal that hands over each key at once, and on which frames replace each other. It is as before whenever somebody
else has it: at the end, after Ctrl-Z, and while the command runs in the background."""

import contextlib
import os
import re
import select
import signal
import sys
import termios
import threading
import time
import tty
from collections import deque
from collections.abc import Iterable
from enum import Enum
from types import FrameType, TracebackType

from . import output
from .screen import Line, Style

_ESCAPE_SECONDS = 0.05
"""What comes later than this behind an escape is another key."""
_OWN_SCREEN, _OLD_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z~]|O[A-Za-z])")
_NAMES = {
    "\x1b": "escape",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x04": "end of input",
    "\x0c": "redraw",
    **{f"\x1b{kind}A": "up" for kind in "[O"},
    **{f"\x1b{kind}B": "down" for kind in "[O"},
    **{f"\x1b{kind}H": "home" for kind in "[O"},
    **{f"\x1b{kind}F": "end" for kind in "[O"},
    "\x1b[1~": "home",
    "\x1b[4~": "end",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
}


def is_there() -> bool:
    """Whether somebody types and looks."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def can_draw() -> bool:
    """Whether the terminal knows where its cursor is to be."""
    return is_there() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


def has_colour() -> bool:
    """Whether the learner wants colours (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "vt100"


def keys_in(text: str) -> list[str]:
    """What was typed, a name for each key that is no character; sequences that nobody knows are left out."""
    keys: list[str] = []
    at = 0
    while at < len(text):
        match = _SEQUENCE.match(text, at)
        typed = match[0] if match else text[at]
        at += len(typed)
        if name := _NAMES.get(typed) or (typed if typed.isprintable() else ""):
            keys.append(name)
    return keys


def frame(lines: Iterable[Line], *, colour: bool) -> str:
    """What draws the lines from the first row on, over whatever is there, without a moment of emptiness."""
    rows = []
    for line in lines:
        style = line.style.value if colour else "7" if line.style is Style.CURSOR else ""
        # Cleared before it is written: behind a full row the cursor stands on its last character.
        rows.append("\x1b[K" + (f"\x1b[{style}m{line.text}\x1b[0m" if style else line.text))
    return "\x1b[?7l\x1b[H" + "\r\n".join(rows) + "\x1b[J\x1b[?7h"


class _Owner(Enum):
    """Whose settings a terminal has."""

    THEIRS = "theirs"
    OURS = "ours"
    DOUBTFUL = "doubtful"
    """We were stopped without a warning; whoever had the terminal since may have changed it."""


class Terminal:
    """To be entered as a context. `draws` says whether it gets a screen of its own."""

    def __init__(self, *, draws: bool) -> None:
        self.draws = draws
        self._keyboard, self._glass = sys.stdin.fileno(), sys.stdout.fileno()
        self._before: list[object] | None = None
        self._owner = _Owner.THEIRS
        self._typed: deque[str] = deque()
        self._drawn: object = None
        self._lock = threading.RLock()
        self._handlers: dict[int, object] = {}

    def __enter__(self) -> "Terminal":
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._handlers[number] = signal.signal(number, lambda number, _: sys.exit(128 + number))
        for number, handler in (
            (signal.SIGTSTP, self._stop),
            (signal.SIGCONT, self._continued),
            (signal.SIGWINCH, self._resized),
        ):
            self._handlers[number] = signal.signal(number, handler)
        self._take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def key(self, seconds: float) -> str:
        """The next key, or '' after so many seconds; 'end of input' when the terminal is gone."""
        if not self._take():
            time.sleep(seconds)
            return ""
        if not self._typed:
            self._typed.extend(keys_in(self._read(seconds)))
        return self._typed.popleft() if self._typed else ""

    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        try:
            columns, rows = os.get_terminal_size(self._glass)
        except OSError:
            columns, rows = 0, 0
        return rows or 24, columns or 80

    def draw(self, lines: list[Line]) -> None:
        """Shows the lines, if they are not there already."""
        with self._lock:
            now = (self.size(), lines)
            if self._owner is _Owner.OURS and now != self._drawn:
                self._write(frame(lines, colour=has_colour()))
                self._drawn = now

    def redraw(self) -> None:
        """The next frame is drawn, whatever is there."""
        self._drawn = None

    def _read(self, seconds: float) -> str:
        typed = ""
        while select.select([self._keyboard], [], [], seconds)[0]:
            try:
                data = os.read(self._keyboard, 256)
            except OSError:
                data = b""
            if not data:
                return "\x04"
            typed += data.decode(errors="replace")
            if not typed.endswith("\x1b"):
                break
            seconds = _ESCAPE_SECONDS
        return typed

    def _write(self, text: str) -> None:
        encoding = sys.stdout.encoding or "ascii"
        data = text.encode(encoding, output.HANDLER)
        while data:
            data = data[os.write(self._glass, data) :]

    def _take(self) -> bool:
        """Makes the terminal ours, unless we are in the background."""
        with self._lock:
            if self._owner is _Owner.OURS:
                return True
            if not self._is_foreground():
                return False
            now = termios.tcgetattr(self._keyboard)
            if self._before is None or now[3] & termios.ICANON:  # else a stop left it as we had it
                self._before = now
            _patiently(lambda: tty.setcbreak(self._keyboard, termios.TCSANOW))
            if self.draws:
                self._write(_OWN_SCREEN)
            self._owner, self._drawn = _Owner.OURS, None
            return True

    def _give_back(self) -> None:
        if self._owner is _Owner.THEIRS or self._before is None:
            return
        self._owner = _Owner.THEIRS
        with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
            if self.draws:
                self._write(_OLD_SCREEN)
            before = self._before
            _patiently(lambda: termios.tcsetattr(self._keyboard, termios.TCSADRAIN, before))  # type: ignore[arg-type]

    def _is_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._keyboard) == os.getpgrp()
        except OSError:
            return True  # not our controlling terminal: nobody else has a claim to it

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Ctrl-Z: what is started next finds the terminal as it was before us."""
        with self._lock:
            self._give_back()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)  # returns when somebody lets us go on
            signal.signal(number, self._stop)

    def _continued(self, _: int, __: FrameType | None) -> None:
        if self._owner is _Owner.OURS:  # taken again with the next look for a key
            self._owner = _Owner.DOUBTFUL

    def _resized(self, _: int, __: FrameType | None) -> None:
        self._drawn = None


def _patiently(change: object) -> None:
    """Settings of a terminal are refused, and have to be asked for again, when a signal came in between."""
    while True:
        try:
            change()  # type: ignore[operator]
            return
        except termios.error as error:
            if error.args[:1] != (4,):  # EINTR
                raise
