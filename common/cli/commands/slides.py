"""Makes slides for a plan of the teaching guide: one HTML file that needs nothing else.

Arrows or space turn the pages, digits and Enter go to one, T starts the clock of an exercise, F fills the screen. A browser
prints them one to a page.
"""

import argparse
import sys
from pathlib import Path

from .. import requirements, setup
from ..errors import UsageError, UserError
from ..lock import exclusive
from ..workspace import Workspace

NAME = "slides"
HELP = "make slides for a plan of the teaching guide"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN", help="two_hours, one_day, two_days_first, two_days_second or third_day")
    parser.add_argument("file", nargs="?", metavar="FILE", help="what to write (default: slides_PLAN.html)")


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    workspace.prepare()
    with exclusive(workspace.state / "lock", "setting up"):
        tools = setup.ensure(workspace, (requirements.MARKDOWN,))
    sys.path[:0] = [str(tools.path("markdown")), *(str(workspace.root / "docs" / name) for name in ("site", ""))]
    from generator import slides
    from generator.pages import SiteError

    if options.plan not in (known := slides.plan_names(workspace.root)):
        raise UsageError(f"there is no plan '{options.plan}'; there are {', '.join(known)}")
    path = Path(options.file or f"slides_{options.plan}.html")
    try:
        text = slides.deck(workspace.root, options.plan)
        path.write_text(text, "utf-8")
    except SiteError as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
    planned, more = slides.counts(text)
    behind = f" and {more} more of the chapters behind them" if more else ""
    print(f"{path}: {planned} slides{behind}, {len(text.encode()) / 1e6:.1f} MB. Open it in a browser.")
    return 0
