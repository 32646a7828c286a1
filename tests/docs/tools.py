"""Finds what the documentation's tests need, or skips them with the reason."""

import sys
import unittest
from pathlib import Path

from cli import requirements
from cli.requirements import Requirement
from cli.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
WORKSPACE = Workspace.locate()


def need(requirement: Requirement) -> Path:
    """Where the tool is; raises SkipTest where it is not."""
    found = requirement.probe(WORKSPACE)
    if not requirement.satisfied_by(found):
        raise unittest.SkipTest(f"{requirement.title} is not here: './workbook test --with-docs' installs it")
    assert found is not None
    return found.path


def import_generator() -> None:
    """Makes the site's generator importable."""
    for path in (need(requirements.MARKDOWN), ROOT / "docs/site"):
        if str(path) not in sys.path:
            sys.path.insert(0, str(path))
