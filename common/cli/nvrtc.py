"""Compiles a file of kernels to PTX with NVRTC: nvrtc.py LIBRARY SOURCE PTX OPTION...

A program of its own, because a compiler may take any time, any memory, or the process with it. Exits with 1 if the source is
wrong, the compiler's messages on stderr, and with 2 if NVRTC itself cannot work.
"""

import ctypes
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


def main(library_path: str, source: str, ptx: str, *options: str) -> int:
    try:
        library = ctypes.CDLL(library_path)
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


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
