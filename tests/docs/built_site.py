"""The site, built once for all tests of a run, and a browser to look at it."""

import atexit
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tools
from browser import Browser
from cli import requirements

_built: dict[str, Path] = {}


def site() -> Path:
    """The built site; built at the first call."""
    if not _built:
        found = {
            "--doxygen": tools.need(requirements.DOXYGEN),
            "--theme": tools.need(requirements.THEME),
            "--markdown": tools.need(requirements.MARKDOWN),
        }
        output = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, output, ignore_errors=True)
        command = [sys.executable, str(tools.ROOT / "docs/site/build.py"), "--output", str(output)]
        command += [str(word) for pair in found.items() for word in pair]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"the site was not built:\n{done.stderr}")
        _built["html"] = output / "out/html"
    return _built["html"]


def html_pages() -> list[Path]:
    return sorted(site().glob("*.html"))


def prose_pages() -> list[Path]:
    tools.import_generator()
    from generator.pages import all_pages

    return [site() / page.file for page in all_pages(tools.ROOT)]


class BrowserCase(unittest.TestCase):
    """Tests that share one browser."""

    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        program = tools.need(requirements.BROWSER)
        site()
        cls.browser = Browser(program).__enter__()
        cls.addClassCleanup(cls.browser.__exit__, None, None, None)

    def open(self, name: str, *, width: int = 1280) -> None:
        """Opens a page of the site, which must be without an error."""
        self.browser.shape(width)
        self.assertEqual(self.browser.open((site() / name).as_uri()), [])

    def text(self, selector: str) -> str:
        return self.browser.evaluate(f"document.querySelector({selector!r}).textContent")

    def click(self, selector: str) -> None:
        self.browser.evaluate(f"document.querySelector({selector!r}).click()")
