"""Runs the built programs on the emulator and makes what they print the same on every machine."""

import functools
import os
import re
import shlex
import subprocess
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import WeaveError
from .marks import EXPECT

WIDTH = 110
_TIMEOUT = 900
_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}\b")


@dataclass(frozen=True)
class Finished:
    """What a program did."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Chapter:
    """A chapter's directory, such as 05_tma_1d, and the programs that were built of it."""

    directory: str
    build: Path

    @property
    def name(self) -> str:
        return self.directory.partition("_")[2]

    def program(self, suffix: str = "") -> Path:
        path = self.build / "chapters" / self.directory / (self.name + suffix)
        if not path.exists():
            raise WeaveError(
                f"{path} is not built; './workbook test' builds everything, --build names another build"
            )
        return path


class Runner:
    """Runs commands once each, on the emulator, in the repository's root."""

    def __init__(self, root: Path, build: Path) -> None:
        self.root = root
        self.build = build
        self._finished: dict[tuple[object, ...], Finished] = {}

    def chapter_of(self, file: Path) -> Chapter:
        """The chapter that a Markdown file lies in."""
        parts = file.resolve().relative_to(self.root).parts
        if len(parts) < 3 or parts[0] != "chapters":
            raise WeaveError("outside a chapter this mark takes CHAPTER/NAME")
        return Chapter(parts[1], self.build)

    def named(self, file: Path, word: str) -> tuple[Chapter, str]:
        """The chapter and the name that a mark means: CHAPTER/NAME, or NAME in the chapter that the file lies in."""
        name, slash, rest = word.partition("/")
        if not slash:
            return self.chapter_of(file), word
        found = sorted((self.root / "chapters").glob(f"[0-9][0-9]_{name}"))
        if not found:
            raise WeaveError(f"there is no chapter '{name}'")
        return Chapter(found[0].name, self.build), rest

    def run(self, command: Sequence[str], settings: Mapping[str, str] | None = None) -> Finished:
        """What a program of the build did; the emulator's settings come on top of the environment."""
        key = (tuple(command), tuple(sorted((settings or {}).items())))
        if key not in self._finished:
            self._finished[key] = self._start(list(command), settings or {})
        return self._finished[key]

    def captured(self, command: str) -> str:
        """The same in the reader's own environment and without a time limit: for what weaving must not run."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.root,
            env={**os.environ, "WORKBOOK_BUILD": str(self.build), "WORKBOOK_BACKEND": "emulator"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise WeaveError(f"'{command}' ended with {done.returncode}")
        return self.normalise(done.stdout)

    def shell(self, command: str) -> str:
        """What a command line of the reader's prints on standard output, normalised."""
        if re.match(r"\./workbook (test|site|mutate|bench)\b", command):
            raise WeaveError(f"'{command}' cannot be woven: it takes long, or would run this check itself")
        done = self.run(["sh", "-c", command])
        if done.status != 0:
            last = done.err.strip().splitlines()[-1:] or ["no message"]
            raise WeaveError(f"'{command}' ended with {done.status}: {last[0]}")
        return self.normalise(done.out)

    def _start(self, command: list[str], settings: Mapping[str, str]) -> Finished:
        env = {name: value for name, value in os.environ.items() if not name.startswith("EMULATOR_")}
        library = str(self.build / "common/emulator/cuda")
        path = env.get("LD_LIBRARY_PATH")
        env |= {
            "LD_LIBRARY_PATH": f"{library}:{path}" if path else library,
            "LC_ALL": "C.UTF-8",
            "WORKBOOK_BACKEND": "emulator",
            "WORKBOOK_BUILD": str(self.build),
            "WORKBOOK_BUILT": "1",
            "WORKBOOK_INSTALL": "never",
            "EMULATOR_THREADS": "1",
            **settings,
        }
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            raise WeaveError(f"'{shlex.join(command)}' did not end within {_TIMEOUT} seconds") from None
        except OSError as error:
            raise WeaveError(f"cannot start {command[0]}: {error.strerror}") from None
        return Finished(done.returncode, done.stdout, done.stderr)

    def normalise(self, text: str) -> str:
        """Paths from the root, addresses cut to their last digit, no trailing blanks."""

        @functools.cache
        def relative(token: str) -> str:
            for base in (self.build, self.root):
                path = Path(os.path.normpath(base / token))
                if path.is_relative_to(self.root) and path.exists():
                    return str(path.relative_to(self.root))
            return token

        text = re.sub(r"(?<![\w/.])(?:\.\./)+[\w./+-]*\w", lambda match: relative(match[0]), text)
        text = text.replace(f"{self.root}/", "")
        text = _ADDRESS.sub(lambda match: f"0x…{match[0][-1]}", text)
        return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))

    def message(self, chapter: Chapter, mistake: str) -> list[str]:
        """The emulator's message for a mistake of the chapter, below the command that prints it."""
        program = str(chapter.program("_mistakes"))
        known = self.run([program, "--list"]).out.split()
        if mistake not in known:
            raise WeaveError(f"chapter {chapter.name} has no mistake '{mistake}'; it has {', '.join(known)}")
        done = self.run([program, mistake])
        if not done.err.strip() or (done.status == 0 and "warning[" not in done.err):  # a warning lets the launch end well
            raise WeaveError(f"the mistake '{mistake}' was not found by the emulator")
        lines = [f"$ ./workbook run {chapter.name} --mistakes -- {mistake}"]
        for line in self.normalise(done.err).split("\n"):
            if line.lstrip().startswith("--> /"):
                raise WeaveError(f"'{line.strip()}': {program} was compiled in another directory; build it anew")
            lines += _wrapped(EXPECT.sub("", line))
        return lines


def _wrapped(line: str) -> list[str]:
    """A line of the emulator's, broken so that it can be read beside prose; code it quotes stays whole."""
    if len(line) <= WIDTH or line.lstrip().startswith("|"):
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line.strip(),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + ("  " if indent else "    "),
        break_long_words=False,
        break_on_hyphens=False,
    )
