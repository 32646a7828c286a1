"""What we print, wherever it goes: terminals and files that know ASCII alone get something readable too."""

import codecs
import sys
from typing import TextIO

_ASCII = {
    "×": "x",
    "–": "-",
    "…": "...",
    "·": "-",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
    "→": "->",
    "↑": "^",
    "↓": "v",
    "≤": "<=",
    "≥": ">=",
    "µ": "u",
}
HANDLER = "workbook"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_ASCII.get(c, "?") for c in error.object[error.start : error.end]), error.end


codecs.register_error(HANDLER, _replaced)


def plain(text: str) -> str:
    """`text` as a stream of ASCII shows it."""
    return text.encode("ascii", HANDLER).decode("ascii")


def tolerant(*streams: TextIO) -> None:
    """Lets the streams (stdout and stderr if none are named) print what their encoding lacks in other characters."""
    for stream in streams or (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors=HANDLER)
