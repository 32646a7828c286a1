"""The site with what its pages run, and a browser, both made once for all tests of a run."""

import atexit
import base64
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests/docs")]

CHAPTERS = ("sync_copy", "tma_1d")
"""Those whose listings run and break; mistakes are there of all chapters."""

wasm: Path
_made: list = []
_sites: list[Path] = []


def made():
    """Where the site is, and the browser. Needs the chapters' programs built, the tools of the site, and a browser."""
    if not _made:
        import tools
        from browser import Browser
        from cli import requirements

        opened = Browser(tools.need(requirements.BROWSER), 120).__enter__()
        atexit.register(opened.__exit__, None, None, None)
        _made.extend((site_with_runs(), opened))
    return _made


def site_with_runs() -> Path:
    """Where the site is, whichever browser looks at it."""
    if not _sites:
        _sites.append(_make())
    return _sites[0]


def workspace():
    from cli.workspace import Workspace

    return Workspace(ROOT, Path(os.environ.get("WORKBOOK_BUILD") or ROOT / "build"))


def _make() -> Path:
    from built_site import site
    from cli import chapters, live_launches, requirements, setup, viewer

    place = workspace()
    nvcc = setup.known(place, requirements.CHAPTERS)
    if nvcc is None:
        raise unittest.SkipTest("nvcc is missing")
    html = site()
    viewer.add(place, html)
    live = html / "live"
    live.mkdir(exist_ok=True)
    for file in (ROOT / "docs/site/live").glob("*.*s"):
        shutil.copyfile(file, live / file.name)
    module = wasm.read_bytes()
    (live / "emulator.wasm").write_bytes(module)
    text = base64.b64encode(module).decode("ascii")
    (live / "emulator_wasm.js").write_text(f'globalThis.hopperEmulatorWasm = "{text}";\n', "ascii")
    os.environ["WORKBOOK_BUILT"] = "1"
    known = chapters.all_chapters(place)
    kept = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, kept, ignore_errors=True)
    live_launches.add_chapters(place, nvcc, html, [each for each in known if each.name in CHAPTERS], kept)
    live_launches.add_mistakes(place, html, known)
    return html
