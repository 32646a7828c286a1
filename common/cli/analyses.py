"""Why each exercise's solution is one: chapters/NN_name/solutions/analysis.toml, for the site and the answer key.

    [reverse_tile]
    text = "…"                            why it works, what goes wrong otherwise, what it costs
    tried = ["one thread brings …"]       answers of tests/exercises/answers whose verdicts show what the text says
    source = ["PTX ISA, 'cp.async'"]      or citations, or what else reasons.toml knows
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from .errors import UserError
from .exercises import Exercise
from .workspace import Workspace

LEAST, MOST = 60, 150
"""Words of an analysis."""


@dataclass(frozen=True)
class Analysis:
    """The text, and what it stands on: by its kind, as in a list of reasons, and `tried`."""

    text: str
    evidence: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def paragraphs(self) -> list[str]:
        return [" ".join(part.split()) for part in re.split(r"\n\s*\n", self.text.strip())]

    @property
    def words(self) -> int:
        return len(self.text.split())


def path(workspace: Workspace, exercise: Exercise) -> Path:
    return exercise.solution(workspace).with_name("analysis.toml")


def of(workspace: Workspace, exercise: Exercise) -> Analysis:
    """Raises UserError if the exercise has none."""
    file = path(workspace, exercise)
    try:
        entry = tomllib.loads(file.read_text("utf-8"))[exercise.name]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    except KeyError:
        raise UserError(f"{workspace.relative(file)}: there is no analysis of {exercise.name}") from None
    evidence = {kind: (value,) if isinstance(value, str) else tuple(value) for kind, value in entry.items() if kind != "text"}
    return Analysis(entry["text"], evidence)
