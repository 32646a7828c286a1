"""Builds the site from the chapters, the pages and the headers; nothing needs to be built for it.

--check installs what the documentation's tests need (Doxygen, a browser, a speller) and runs them.
"""

import argparse
import contextlib
import functools
import subprocess
import sys
import webbrowser
from pathlib import Path

from .. import (
    build,
    judging,
    live_compile,
    live_emulator,
    live_exercise,
    live_launches,
    live_predictions,
    live_server,
    requirements,
    setup,
)
from ..backend import Backend
from ..errors import FAILURE, UserError
from ..exercises import Exercise
from ..learner import Learner
from ..lock import exclusive
from ..workspace import Workspace
from . import test

NAME = "site"
HELP = "build the site, or serve it on this machine"
DEFAULT_PORT = 8000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--serve",
        nargs="?",
        type=_port,
        const=DEFAULT_PORT,
        metavar="PORT",
        help=f"serve it to this machine only, until Ctrl-C (default port: {DEFAULT_PORT})",
    )
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    parser.add_argument(
        "--without-solutions", action="store_true", help="leave out the solutions of exercises, for a course that keeps them"
    )
    parser.add_argument("--check", action="store_true", help="run the tests of the documentation instead")


def _port(text: str) -> int:
    if not text.isdigit() or not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port: 0 to 65535")
    return int(text)


def execute(options: argparse.Namespace, workspace: Workspace) -> int:
    if options.check:
        return test.execute(
            argparse.Namespace(names=["docs"], list=False, backend=None, with_docs=True), workspace
        )
    index = build_site(workspace, solutions=not options.without_solutions)
    if options.serve is not None:
        return serve(index.parent, options.serve, opened=options.open, services=_services(workspace))
    if options.open and not webbrowser.open(index.as_uri()):
        raise UserError(f"there is no browser to open {index} with")
    return 0


def build_site(workspace: Workspace, *, solutions: bool = True) -> Path:
    """Builds the site into the build directory and returns its first page."""
    workspace.prepare()
    with exclusive(workspace.state / "lock", "setting up"):
        tools = setup.ensure(workspace, requirements.SITE)
    output = workspace.build / "site"
    with exclusive(workspace.state / "site.lock", "building the site"):
        words = [] if solutions else ["--without-solutions"]
        done = subprocess.run([*command(workspace, tools, output), *words], stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise UserError("the site was not built", code=FAILURE)
    html = output / "out" / "html"
    runs = live_emulator.add(workspace, html)
    _add_launches(workspace, html, listings=runs)
    return html / "index.html"


def _add_launches(workspace: Workspace, html: Path, *, listings: bool) -> None:
    """What listings and predictions run needs the chapters' programs; a site without them is one that runs nothing.

    Predictions without the emulator in the page say what came out here.
    """
    if setup.known(workspace, requirements.CHAPTERS) is None:
        print("site: listings and predictions do not run: nvcc is missing (./workbook run fetches it)", file=sys.stderr)
        return
    try:
        tools = build.ready(workspace)
        if listings:
            live_launches.add(workspace, tools, html)
        live_predictions.add(workspace, tools, html)
    except UserError as error:
        print(f"site: listings or predictions do not run: {error}", file=sys.stderr)


def command(workspace: Workspace, tools: setup.Tools, output: Path) -> list[str]:
    """How the generator is called."""
    return [
        sys.executable,
        str(workspace.root / "docs/site/build.py"),
        "--doxygen",
        str(tools.path("doxygen")),
        "--theme",
        str(tools.path("doxygen-theme")),
        "--markdown",
        str(tools.path("markdown")),
        "--output",
        str(output),
    ]


def _services(workspace: Workspace) -> live_server.Services | None:
    """What compiles an edited listing and judges an edited exercise; None where nvcc is not here."""
    tools = setup.known(workspace, requirements.CHAPTERS)
    return None if tools is None else services(Learner(workspace), Path(tools.path("nvcc")))


def services(learner: Learner, nvcc: Path) -> live_server.Services:
    """What pages that are served may ask of this machine."""
    workspace = learner.workspace

    def prepare(exercise: Exercise) -> setup.Tools:
        return judging.built(workspace, [exercise], Backend.EMULATOR)

    return {
        live_server.COMPILE: live_server.Service(functools.partial(live_compile.compiled, workspace, nvcc), alone=True),
        live_server.OPEN: live_server.Service(functools.partial(live_exercise.opened, learner)),
        live_server.CHECK: live_server.Service(functools.partial(live_exercise.checked, learner, prepare), alone=True),
        live_server.SAVE: live_server.Service(functools.partial(live_exercise.saved, learner)),
    }


def serve(directory: Path, port: int, *, opened: bool, services: live_server.Services | None = None) -> int:
    """Serves the site to this machine until Ctrl-C. With `services` its listings and exercises can be edited."""
    try:
        server = live_server.server(directory, port, services)
    except OSError as error:
        raise UserError(
            f"cannot serve on port {port} ({error.strerror}); name another: --serve PORT"
        ) from None
    with server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        if opened:
            webbrowser.open(address)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0
