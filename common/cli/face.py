"""How `watch` speaks to the learner: by a screen that is drawn anew, or by lines, with or without keys."""

import contextlib
import io
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from . import screen, terminal
from .screen import State
from .terminal import Terminal

_POLL_SECONDS = 0.2
_SILENT_SECONDS = 2.0


class Quit(Exception):
    """The learner wants to leave."""


class Lines:
    """Says one thing after the other. `keyboard` hands over keys where somebody can type."""

    def __init__(self, keyboard: Terminal | None) -> None:
        self._keyboard = keyboard

    @property
    def has_keys(self) -> bool:
        return self._keyboard is not None

    draws = False

    def show(self, state: State) -> None:
        """Nothing: what changed is said."""

    def say(self, text: str) -> None:
        print(text, flush=True)

    def key(self) -> str:
        if self._keyboard is None:
            time.sleep(_POLL_SECONDS)
            return ""
        return self._keyboard.key(_POLL_SECONDS)

    @contextmanager
    def working(self, state: State, what: str, *, at_once: bool = True) -> Iterator[None]:
        """Says what is being done; with `at_once` false only if it takes its time."""
        timer = threading.Timer(_SILENT_SECONDS, self.say, [f"{what} ..."])
        timer.daemon = True
        if at_once:
            self.say(f"{what} ...")
        else:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def notes(self) -> list[str]:
        """What was written to stderr: nothing, it is read there."""
        return []


class Screen:
    """Draws the state. While something is done it shows for how long, and the key q ends it."""

    draws = True
    has_keys = True

    def __init__(self, glass: Terminal) -> None:
        self._glass = glass
        self._said = _Said()
        self._typed: list[str] = []
        self.was_left = False
        """Whether the key q has ended what was being done."""

    def show(self, state: State) -> None:
        self._glass.draw(screen.lines(state, *self._glass.size()))

    def say(self, text: str) -> None:
        """Nothing: the state has it."""

    def size(self) -> tuple[int, int]:
        return self._glass.size()

    def key(self) -> str:
        if self._typed:
            return self._typed.pop(0)
        return self._heeded(self._glass.key(_POLL_SECONDS))

    def notes(self) -> list[str]:
        """What others wrote to stderr since the last time."""
        return self._said.take()

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """What is written to stderr meanwhile shall not run over the screen; what nobody took is written at the end."""
        try:
            with contextlib.redirect_stderr(self._said):
                yield
        except KeyboardInterrupt:
            if self.was_left:
                raise Quit from None
            raise
        finally:
            for line in self._said.take():
                print(f"workbook: {line}", file=sys.stderr)

    @contextmanager
    def working(self, state: State, what: str, *, at_once: bool = True) -> Iterator[None]:
        done = threading.Event()
        watcher = threading.Thread(target=self._tell, args=(state, what, done), daemon=True)
        self._said.state = ""
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()

    def _tell(self, state: State, what: str, done: threading.Event) -> None:
        began = time.monotonic()
        while not done.is_set():
            seconds = int(time.monotonic() - began)
            parts = [f"{what} ...", f"{seconds} s" if seconds else "", self._said.state]
            self.show(replace(state, busy="  ".join(part for part in parts if part)))
            key = self._heeded(self._glass.key(_POLL_SECONDS))
            if key in ("q", "Q", "end of input"):
                self.was_left = True
                done.set()
                main = threading.main_thread().ident
                assert main is not None
                signal.pthread_kill(main, signal.SIGINT)
            elif key:
                self._typed.append(key)

    def _heeded(self, key: str) -> str:
        if key == "redraw":
            self._glass.redraw()
            return ""
        return key


class _Said(io.TextIOBase):
    """A stderr that keeps its lines; of a line that is rewritten, as progress is, the newest state."""

    def __init__(self) -> None:
        self.state = ""
        self._lines: list[str] = []
        self._open = ""

    def isatty(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *whole, self._open = (self._open + text).split("\n")
        self._lines += [line.rpartition("\r")[2].replace("\x1b[K", "") for line in whole]
        if "\r" in self._open:
            self.state = self._open.rpartition("\r")[2].replace("\x1b[K", "")
            self._open = f"\r{self.state}"
        return len(text)

    def take(self) -> list[str]:
        taken, self._lines = [line.removeprefix("workbook: ") for line in self._lines if line.strip()], []
        return taken


@contextmanager
def chosen() -> Iterator[Lines | Screen]:
    """The best that there is: a screen, lines and keys, or lines alone."""
    if not terminal.is_there():
        yield Lines(None)
        return
    glass = Terminal(draws=terminal.can_draw())
    if glass.draws:
        face = Screen(glass)
        with face.collecting(), glass:  # in this order: what was collected is for the old screen
            yield face
    else:
        with glass:
            yield Lines(glass)
