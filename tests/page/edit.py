"""A listing is edited in the page, on the server of one's own machine: compiled here, run in the page."""

import json
import threading
import unittest
from pathlib import Path

import live_site

EDIT = """(async (find, replace) => {
    const editor = hopperEditors.find(each => each.listing.kernels.includes('without_memcpy_async'));
    if (!editor.form) await editor.open();
    editor.text.value = editor.text.value.replace(find, replace);
    await editor.run();
    return JSON.stringify([editor.listing.outcome.innerText, editor.said.innerText,
        editor.text.value.slice(editor.text.selectionStart, editor.text.selectionEnd)]);
})"""
"""Changes the text, and tells what came of it: the outcome, what the compiler said, and what is selected then."""


class Edit(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        from cli import live_server, requirements, setup
        from cli.commands import site
        from cli.learner import Learner

        cls.html, cls.browser = live_site.made()
        workspace = live_site.workspace()
        nvcc = Path(setup.known(workspace, requirements.CHAPTERS).path("nvcc"))
        server = live_server.server(cls.html, 0, site.services(Learner(workspace), nvcc))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.port = server.server_address[1]

    def edit(self, find: str, replace: str) -> tuple[str, str, str]:
        return json.loads(self.browser.evaluate(f"{EDIT}({json.dumps(find)}, {json.dumps(replace)})"))

    def test_what_is_wrong_is_said_at_its_line_and_what_compiles_runs(self) -> None:
        source = live_site.ROOT / "chapters/01_sync_copy/sync_copy.cuh"
        before = source.read_bytes()
        self.assertEqual(self.browser.open(f"http://127.0.0.1:{self.port}/sync_copy.html"), [])
        outcome, said, selected = self.edit("block.sync();", "block.synk();")
        self.assertIn("It does not compile", outcome)
        self.assertRegex(said, r'line \d+: class "cooperative_groups.*" has no member "synk"')
        self.assertIn("block.synk();", selected)
        outcome, said, _ = self.edit("block.synk();", "")
        self.assertEqual(said, "")
        self.assertRegex(outcome, r"A mistake was found(?s:.*)error race-shared ")
        self.assertEqual(source.read_bytes(), before)
        self.assertEqual(self.browser.problems(), [])
