"""An exercise is solved in the page, on the server of one's own machine: its own judge says what it says on the command line."""

import json
import os
import tempfile
import threading
import unittest
from pathlib import Path

import live_site

NAME = "reverse_tile"
MINE = "// Mine.\n"
BENCH = f"hopperBenches.find(each => each.name === '{NAME}')"
CHECK = f"""(async (find, replace) => {{
    const bench = {BENCH};
    if (!bench.text) await bench.open();
    bench.show(bench.text.value.replace(find, replace));
    await bench.check();
    return JSON.stringify([bench.outcome.innerText, [...bench.numbers.children].map(each => each.textContent).filter(text => text.includes('▲')), bench.text.value]);
}})"""
"""Changes the text and has it checked: the verdict, the numbers of the lines that are marked, and the text."""


class Exercises(unittest.TestCase):
    """Needs what Edit needs, and the judge of one exercise."""

    @classmethod
    def setUpClass(cls) -> None:
        from cli import live_server, requirements, setup
        from cli.commands import site
        from cli.learner import Learner
        from cli.records import Book

        cls.html, cls.browser = live_site.made()
        workspace = live_site.workspace()
        desk = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.learner = Learner(workspace)
        cls.learner.desk.directory, cls.learner.desk.book = Path(desk), Book(Path(desk) / "progress.toml")
        cls.exercise = cls.learner.chosen(NAME)
        cls.tools = setup.known(workspace, requirements.CHAPTERS)
        server = live_server.server(cls.html, 0, site.services(cls.learner, Path(cls.tools.path("nvcc"))))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.page = f"http://127.0.0.1:{server.server_address[1]}/sync_copy.html"

    def setUp(self) -> None:
        self.assertEqual(self.browser.open(self.page), [])
        self.browser.evaluate("localStorage.clear()")
        self.assertEqual(self.browser.open(self.page), [])
        self.file = self.learner.desk.file(self.exercise)
        self.file.unlink(missing_ok=True)

    def check(self, find: str = "", replace: str = "") -> tuple[str, list[str], str]:
        return tuple(json.loads(self.browser.evaluate(f"{CHECK}({json.dumps(find)}, {json.dumps(replace)})")))

    def as_the_command(self, source: str) -> list[str]:
        """The lines of what `./workbook check` says of this text. The desk is outside of the clone here, and has its longer name."""
        from cli.backend import Backend

        self.file.write_text(source, "utf-8")
        text = self.learner.check(self.tools, self.exercise, Backend.EMULATOR)[1]
        self.file.unlink()
        return text.replace(os.path.relpath(self.file, live_site.ROOT), str(self.file)).splitlines()

    def press(self, words: str) -> None:
        found = f"[...{BENCH}.node.querySelectorAll('button')].find(each => !each.hidden && each.textContent.startsWith({words!r}))"
        self.browser.evaluate(f"{found}.click()")

    def said(self, words: str) -> str:
        """What the page says when its words contain `words`."""
        wait = f"(async () => {{ for (let i = 0; i < 300 && !{BENCH}.outcome.innerText.includes({words!r}); ++i) await new Promise(done => setTimeout(done, 20)); }})()"
        self.browser.evaluate(wait)
        return self.browser.evaluate(f"{BENCH}.outcome.innerText")

    def test_skeleton_fails_a_compile_error_has_its_line_and_the_solution_passes(self) -> None:
        skeleton, solution = (each(self.learner.workspace).read_text("utf-8") for each in (self.exercise.skeleton, self.exercise.solution))
        hole = next(line for line in skeleton.splitlines() if "YOUR CODE" in line)
        said, marked, text = self.check()
        self.assertEqual(text, skeleton)
        self.assertIn(self.exercise.fails_with, said)
        self.assert_same(said, self.as_the_command(skeleton))
        self.assertTrue(marked)
        said, marked, text = self.check(hole, "tile[t] = inn[start + t];")
        line = 1 + next(at for at, line in enumerate(text.splitlines()) if "inn[" in line)
        self.assertEqual(marked, [f"▲ {line}"])
        self.assert_same(said, self.as_the_command(text))
        self.assertIn('identifier "inn" is undefined', said)
        said, marked, text = self.check("inn[", "in[")
        self.assertIn(f"{NAME}: solved.", said)
        self.assertEqual(marked, [])
        self.assertEqual("".join(text.split()), "".join(solution.split()).replace("//@hole", "").replace("//@end", "").replace(self.hole(solution), ""))
        self.assertFalse(self.file.exists())
        self.assertEqual(self.browser.problems(), [])

    def test_it_keeps_nobody_out(self) -> None:
        import tools
        from cli import requirements
        from test_access import violations

        axe = tools.need(requirements.AXE).read_text("utf-8")
        self.check("// YOUR CODE", "wrong; // YOUR CODE")
        for dark in (False, True):
            self.browser.shape(1440, dark=dark)
            self.assertEqual(violations(self.browser, axe, "'.exercise .bench'"), [])
        self.browser.shape(1440)

    def hole(self, solution: str) -> str:
        """What the skeleton has instead, without its spaces."""
        return "".join("".join(line.split()) for line in solution.splitlines() if line.strip().startswith("//?"))

    def assert_same(self, page: str, command: list[str]) -> None:
        """Each of the command's words, in its order: on the page lines are broken elsewhere."""
        self.assertIn("".join("".join(command).split()), "".join(page.split()))

    def test_the_text_is_kept_and_the_file_changes_only_when_it_is_saved(self) -> None:
        self.file.write_text(MINE, "utf-8")
        self.browser.evaluate(f"(async () => {{ await {BENCH}.open(); {BENCH}.show('// Written in the page.'); }})()")
        self.assertEqual(self.browser.open(self.page), [])
        self.assertEqual(self.browser.evaluate(f"{BENCH}.openButton.textContent"), "Go on with your text")
        self.browser.evaluate(f"{BENCH}.open()")
        self.assertEqual(self.browser.evaluate(f"{BENCH}.text.value"), "// Written in the page.")
        self.press("As you got it")
        self.press("Back to my text")
        self.assertEqual(self.browser.evaluate(f"{BENCH}.text.value"), "// Written in the page.")
        self.assertEqual(self.file.read_text("utf-8"), MINE)
        self.press("Save to")
        said = self.said("Saved to")
        self.assertEqual(self.file.read_text("utf-8"), "// Written in the page.\n")
        backup = self.file.parent / f"backups/{NAME}.1.cu"
        self.assertEqual(backup.read_text("utf-8"), MINE)
        self.assertIn(f"What was there is {backup} now.", said)
