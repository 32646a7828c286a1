"""Compiles files of kernels to PTX with NVRTC: nvrtc.py LIBRARY SOURCE PTX [SOURCE PTX]... OPTION...

A program of its own, because a compiler may take any time, any memory, or the process with it. Exits with 1 if a source is
wrong, the compiler's messages on stderr, and with 2 if NVRTC itself cannot work.

Of several files it reads the headers that they begin with once: NVRTC keeps what it made of them for as long as the process
lives. That is most of the time that a file with libcu++ takes.
"""

import ctypes
import itertools
import sys
from pathlib import Path

_SUCCESS, _WRONG_SOURCE = 0, 6


def _text(library: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> bytes:
    """What nvrtcGet… hands out: the log, or the PTX; both end with a zero."""
    size = ctypes.c_size_t()
    if getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) != _SUCCESS:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, buffer)
    return buffer.value


def _compile(library: ctypes.CDLL, source: str, ptx: str, options: list[str]) -> int:
    try:
        text = Path(source).read_bytes()
    except OSError as error:
        print(f"nvrtc: {error}", file=sys.stderr)
        return 2
    program = ctypes.c_void_p()
    arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = library.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None)
    status = status or library.nvrtcCompileProgram(program, len(options), arguments)
    sys.stderr.buffer.write(_text(library, "ProgramLog", program))
    if status == _SUCCESS:
        try:
            Path(ptx).write_bytes(_text(library, "PTX", program))
        except OSError as error:
            print(f"nvrtc: {error.strerror}", file=sys.stderr)
            return 2
        return 0
    return 1 if status == _WRONG_SOURCE else 2


def main(library_path: str, *words: str) -> int:
    try:
        library = ctypes.CDLL(library_path)
    except OSError as error:
        print(f"nvrtc: {error}", file=sys.stderr)
        return 2
    files = list(itertools.takewhile(lambda word: not word.startswith("-"), words))
    options = list(words[len(files) :])
    if len(files) > 2:
        options += ["-pch", f"--pch-dir={Path(files[1]).parent}"]
    return max(_compile(library, source, ptx, options) for source, ptx in zip(files[::2], files[1::2]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
