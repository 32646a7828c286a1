"""A chapter's questions as a reader of its README meets them: the choices in a list, and what is behind them, folded."""

import textwrap
from pathlib import Path

from cli.chapters import Chapter
from cli.errors import UserError
from cli.predictions import Prediction, of_chapter
from cli.workspace import Workspace

from .errors import WeaveError

_WIDTH = 148  # of a line, and "> " before it


def question(root: Path, build: Path, directory: str, name: str) -> list[str]:
    """The lines of the question `name` of the chapter in this directory. The right answer is not among them: a run says it."""
    try:
        asked = {each.name: each for each in of_chapter(Workspace(root, build), Chapter(directory)) if not each.exercise}
    except UserError as error:
        raise WeaveError(str(error)) from None
    if name not in asked:
        raise WeaveError(f"there is no prediction '{name}' for the text in chapters/{directory}/predictions.toml")
    return [f"> {line}".rstrip() for line in _lines(asked[name])]


def _lines(asked: Prediction) -> list[str]:
    choices = [line for choice in asked.choices for line in _wrapped(f"- {asked.words(choice)}", "  ")]
    behind = ["<details><summary>Why</summary>", "", *_wrapped(asked.why), "", "</details>"]
    run = f"(`python3 docs/predictions.py {asked.chapter.name}` says what comes out.)"
    return [*_wrapped(f"**Predict.** {asked.question}"), "", *choices, "", run, "", *behind]


def _wrapped(text: str, further: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)
