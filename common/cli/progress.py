"""One line of progress in place of a wall of compiler calls."""

import re
import shutil
import sys
import time
from dataclasses import dataclass
from typing import TextIO

_EDGE = re.compile(r"^\[\s*(\d+)/(\d+)\]\s*(.*)$")


@dataclass(frozen=True)
class Step:
    """One line of Ninja: so many of so many steps are done, and what this one makes."""

    done: int
    total: int
    text: str


def parse(line: str) -> Step | None:
    """Reads `[done/total] text`, Ninja's and Meson's way to say where they are."""
    match = _EDGE.match(line)
    return Step(int(match[1]), int(match[2]), match[3]) if match else None


def shorten(text: str) -> str:
    """'Compiling Cuda object chapters/01_a/a.p/main.cu.o' becomes 'compiling chapters/01_a/main.cu'.

    Of Meson's test results, the failure that a test is there to show is as good as any other: OK.
    """
    text = re.sub(r" EXPECTEDFAIL\b", " OK", text)
    match = re.match(r"Compiling (?:\S+ )?object (\S+/)?([^/\s]+)\.p/(\S+)\.o$", text)
    if match:
        return f"compiling {match[1] or ''}{match[3].removeprefix('.._')}"
    match = re.match(r"Linking (?:static )?target (\S+)", text)
    return f"linking {match[1]}" if match else text


class Line:
    """Rewrites one line on a terminal; elsewhere prints a line at every tenth of the way at most."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = self._stream.isatty()
        self._tenth = -1
        self._shown = False
        self._began = time.monotonic()

    def step(self, step: Step) -> None:
        width = len(str(step.total))
        text = f"[{step.done:{width}}/{step.total}] {shorten(step.text)}"
        if self._live:
            self._rewrite(text)
        elif (tenth := step.done * 10 // max(step.total, 1)) > self._tenth:
            self._tenth = tenth
            print(text, file=self._stream, flush=True)

    def note(self, text: str) -> None:
        """A state without a count; on a terminal the next step replaces it."""
        if self._live:
            self._rewrite(text)
        else:
            print(text, file=self._stream, flush=True)

    def finish(self, text: str = "") -> None:
        """Clears the line and leaves `text`, if any, with the time it took."""
        if self._live and self._shown:
            self._stream.write("\r\x1b[K")
            self._shown = False
        if text:
            print(f"{text} ({time.monotonic() - self._began:.0f} s)", file=self._stream)
        self._stream.flush()

    def _rewrite(self, text: str) -> None:
        columns = shutil.get_terminal_size().columns
        self._stream.write("\r" + text[: columns - 1] + "\x1b[K")
        self._stream.flush()
        self._shown = True
