"""The site's listings in a browser: kernels run, and every mutant of two chapters breaks one.

What the page says is compared with what the command line says of the same launches.
"""

import base64
import functools
import http.server
import json
import os
import shutil
import sys
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests/docs")]

CHAPTERS = ("sync_copy", "tma_1d")
UNSEEN = {"vector load beyond the end"}
"""Mutants that the page's inputs do not show: this one reads what nobody uses unless the length is another."""

BREAK = """(async () => {
    const told = [];
    for (const listing of hopperListings) {
        for (const mutant of await listing.mutants()) {
            await listing.choose(mutant);
            told.push([listing.kernels[0] ?? '', mutant.name, listing.outcome.innerText,
                listing.rows.filter(row => row.classList.contains('live-blamed')).length,
                listing.fragment.querySelectorAll('.live-added, .live-removed').length]);
        }
        await listing.choose(null);
    }
    return JSON.stringify(told);
})()"""
"""What each listing says of each of its mutants, how many of its lines are blamed, and how many are shown as changed."""

RUN = """(async () => {
    const told = [];
    for (const listing of hopperListings) {
        if (listing.runButton.hidden) continue;
        for (const order of ['late', 'early', 'random']) {
            listing.order.value = order;
            await listing.run();
            told.push(listing.outcome.innerText);
        }
    }
    return JSON.stringify(told);
})()"""

PREPARE = "(async () => { for (const listing of hopperListings) await listing.showMutants(); })()"


def live_site(wasm: Path) -> Path:
    """The site with the emulator in it, built once."""
    from built_site import site

    html = site()
    live = html / "live"
    if not live.exists():
        live.mkdir()
        for file in (ROOT / "docs/site/live").glob("*.*s"):
            shutil.copyfile(file, live / file.name)
        module = wasm.read_bytes()
        (live / "emulator.wasm").write_bytes(module)
        text = base64.b64encode(module).decode("ascii")
        (live / "emulator_wasm.js").write_text(f'globalThis.hopperEmulatorWasm = "{text}";\n', "ascii")
    return html


class Listings(unittest.TestCase):
    """Needs the chapters' programs built, the tools of the site, and a browser."""

    wasm: Path

    @classmethod
    def setUpClass(cls) -> None:
        import tools
        from browser import Browser
        from cli import chapters, live_launches, requirements, setup
        from cli.workspace import Workspace

        browser = tools.need(requirements.BROWSER)
        build = Path(os.environ.get("WORKBOOK_BUILD") or ROOT / "build")
        workspace = Workspace(ROOT, build)
        nvcc = setup.known(workspace, requirements.CHAPTERS)
        if nvcc is None:
            raise unittest.SkipTest("nvcc is missing")
        html = live_site(cls.wasm)
        os.environ["WORKBOOK_BUILT"] = "1"
        known = [each for each in chapters.all_chapters(workspace) if each.name in CHAPTERS]
        kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kept.cleanup)
        live_launches.add_chapters(workspace, nvcc, html, known, Path(kept.name))
        cls.html = html
        cls.browser = Browser(browser, 120).__enter__()
        cls.addClassCleanup(cls.browser.__exit__, None, None, None)

    def of_each_page(self):
        """Each chapter's page from the disk, and the first one over HTTP."""
        handler = functools.partial(_Quiet, directory=str(self.html))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        for address in (
            *((self.html / f"{name}.html").as_uri() for name in CHAPTERS),
            f"http://127.0.0.1:{server.server_address[1]}/{CHAPTERS[0]}.html",
        ):
            self.assertEqual(self.browser.open(address), [])
            yield address
            self.assertEqual(self.browser.problems(), [])

    def test_kernels_run_in_every_order_and_nothing_is_found(self) -> None:
        for _ in self.of_each_page():
            told = json.loads(self.browser.evaluate(RUN))
            ran = [text for text in told if "does not launch" not in text]
            self.assertGreaterEqual(len(ran), 15)
            for text in ran:
                # Mistakes are listings, too, but no launches of the chapter's program.
                as_it_is = r"Memory is as the right kernel leaves it|It stores what a clock says, so results are not compared"
                self.assertRegex(text, rf"thread instructions, nothing found\. (?:{as_it_is})\.$")

    def test_every_mutant_is_shown_and_noticed(self) -> None:
        for address in self.of_each_page():
            self.browser.evaluate(PREPARE)
            told = json.loads(self.browser.evaluate(BREAK))
            self.assertGreaterEqual(len(told), 7, address)
            for kernel, name, text, blamed, changed in told:
                with self.subTest(kernel=kernel, mutant=name):
                    self.assertGreater(changed, 0)
                    noticed = r"These inputs do not show" if name in UNSEEN else r"1 finding|\d findings|words in memory differ"
                    self.assertRegex(text, noticed)
                    if "What to do:" in text and kernel and kernel in text.split(":")[0]:
                        self.assertGreater(blamed, 0, text)

    def test_a_finding_is_that_of_the_command_line(self) -> None:
        self.browser.open((self.html / "tma_1d.html").as_uri())
        self.browser.evaluate(PREPARE)
        told = {name: text for _, name, text, _, _ in json.loads(self.browser.evaluate(BREAK))}
        deadlock = told["more bytes announced than copied"]
        self.assertIn("error deadlock", deadlock)
        self.assertIn("expect_tx announced 16 bytes more than copies bring in this phase", deadlock)
        self.assertIn("chapters/05_tma_1d/tma_1d.cuh:", deadlock)

    def test_without_the_emulator_a_page_says_so(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory) / "html"
            shutil.copytree(self.html, copy)
            (copy / "live/emulator_wasm.js").unlink()
            self.browser.open((copy / "sync_copy.html").as_uri())
            said = self.browser.evaluate(
                "(async () => { const one = hopperListings.find(each => each.kernels.length); await one.run(); return one.outcome.innerText; })()"
            )
            self.assertIn("the emulator could not be loaded", said)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass
