"""Mistakes, the error catalogue and the first page in a browser: what is wrong on purpose runs there, and is found at its lines."""

import gzip
import json
import re
import unittest

import live_site
from live_site import CHAPTERS, ROOT

MESSAGES = ROOT / "docs/site/messages/messages.cu"
MOST_BYTES = 250_000
"""Of the first page, compressed, with all that it loads by itself."""

RUN = """(async () => {
    const told = [];
    for (const folded of document.querySelectorAll('details')) folded.open = true;
    for (const each of hopperMistakes) {
        const before = each.fragment.querySelectorAll('.said').length;
        for (const order of ['late', 'random']) {
            each.order.value = order;
            await each.run();
            told.push([each.name, each.outcome.innerText, before, each.fragment.querySelectorAll('.said').length]);
        }
    }
    return JSON.stringify(told);
})()"""
"""What each mistake's listing says, unfolded as its reader has it, how many lines had a note before it ran, and how many have one now."""

WATCHED = """(async () => {
    const [listing] = hopperMistakes, told = [listing.watchButton.hidden];
    await listing.run();
    told.push(listing.watchButton.hidden);
    listing.watchButton.click();
    for (let i = 0; i < 500 && !listing.view; ++i) await new Promise(done => setTimeout(done, 20));
    const [finding] = listing.view.recording.findings;
    told.push(listing.view.event, finding.places, listing.view.link.hidden, listing.view.element.innerText.includes(finding.finding.message));
    return JSON.stringify(told);
})()"""
"""Watches a mistake: whether the button is hidden before and after the run, the event and those of the finding, and whether there is a link
or the message a second time."""

SEE = """(async names => {
    const told = [];
    for (const message of hopperMessages) {
        if (names && !names.includes(message.name)) continue;
        await message.see();
        const rows = message.listing?.rows.filter(row => row.classList.contains('live-blamed')) ?? [];
        told.push([message.name, message.place.innerText, rows.map(row => Number(row.dataset.line))]);
    }
    return JSON.stringify(told);
})"""

CATALOGUE = "hopperCapsules.data('catalogue', 'errors').then(JSON.stringify)"


_UNMARKED = re.compile(r"<!-- code: mistakes\.cu (\w+) unmarked -->(?:(?!<!-- code:).)*?<!-- mistake: \1 -->", re.DOTALL)
"""Listings that the prose asks about: what is wrong stands at no line of them before the reader has run them."""


class Mistakes(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.html, cls.browser = live_site.made()

    def open(self, name: str) -> None:
        self.browser.shape(1280)
        self.assertEqual(self.browser.open((self.html / name).as_uri()), [])

    def test_every_mistake_of_two_chapters_is_found_as_the_prose_says(self) -> None:
        for name in CHAPTERS:
            readme = next((ROOT / "chapters").glob(f"*_{name}/README.md")).read_text("utf-8")
            woven = dict(re.findall(r"<!-- mistake: (\w+) -->\n```\n[^\n]*\n(?:error|warning)\[([\w-]+)\]", readme))
            asked = set(_UNMARKED.findall(readme))
            self.open(f"{name}.html")
            told = json.loads(self.browser.evaluate(RUN))
            self.assertEqual({each[0] for each in told}, set(woven))
            for mistake, text, before, after in told:
                with self.subTest(mistake=mistake):
                    self.assertRegex(text, rf"mistake(?:s were| was) found(?s:.*)(?:error|warning) {woven[mistake]} ")
                    self.assertIn("What to do: ", text)
                    self.assertEqual(before == 0, mistake in asked)
                    self.assertGreater(after, 0)
            self.assertEqual(self.browser.problems(), [])

    def test_a_mistake_can_be_watched(self) -> None:
        self.open("tma_1d.html")
        before, after, event, places, no_link, twice = json.loads(self.browser.evaluate(WATCHED))
        self.assertEqual((before, after, no_link, twice), (True, False, True, False))
        self.assertEqual(event, min(places))
        self.assertEqual(self.browser.problems(), [])

    def test_a_mistake_says_at_its_lines_what_happened_without_javascript_too(self) -> None:
        text = (self.html / "tma_1d.html").read_text("utf-8")
        place = text[text.index('data-mistake="every_thread_issues"') :]
        place = place[: place.index("</code>") if "</code>" in place[:3000] else 6000]
        self.assertRegex(place, r'bytes, &amp;bar\);</div><div class="said">▲ bulk load issued by thread \(96,0,0\)')
        self.assertNotIn("// expect:", place[: place.index("error[")])

    def test_every_message_has_a_mistake_that_shows_it_or_a_reason(self) -> None:
        page = (ROOT / "docs/pages/errors.md").read_text("utf-8").split("## What the emulator says")[1]
        names = re.findall(r"^### ([a-z-]+)$", page, re.MULTILINE)
        self.open("errors.html")
        known = json.loads(self.browser.evaluate(CATALOGUE))
        self.assertEqual(sorted(known), sorted(names))
        self.assertEqual(self.browser.evaluate("hopperMessages.map(each => each.name)"), names)
        for name, entry in known.items():
            with self.subTest(message=name):
                self.assertTrue(("set" in entry) != ("why" in entry))
        self.assertLess(sum("why" in entry for entry in known.values()), 8)

    def test_each_kernel_of_the_catalogue_leads_to_its_message_at_its_lines(self) -> None:
        """As the marks in messages.cu say; of the chapters' mistakes one, and one that no page can show."""
        expected: dict[str, set[int]] = {}
        for number, line in enumerate(MESSAGES.read_text("utf-8").splitlines(), 1):
            if found := re.search(r"// expect: ([\w-]+)", line):
                expected.setdefault(found[1], set()).add(number)
        self.open("errors.html")
        wanted = json.dumps([*expected, "deadlock", "divergent-setmaxnreg", "leak"])
        told = {name: (text, set(lines)) for name, text, lines in json.loads(self.browser.evaluate(f"{SEE}({wanted})"))}
        for name, lines in expected.items():
            with self.subTest(message=name):
                self.assertRegex(told[name][0], rf"A mistake was found(?s:.*)(?:error|warning) {name} ")
                self.assertLessEqual(lines, told[name][1])
        for name in ("deadlock", "divergent-setmaxnreg"):
            self.assertRegex(told[name][0], rf"(?:error|warning) {name} ")
        self.assertIn("a page has no host program", told["leak"][0])
        # The keyboard goes on where it was: at the button that runs the last kernel again.
        self.assertEqual(self.browser.evaluate("document.activeElement.textContent"), "Run again")
        self.assertEqual(self.browser.problems(), [])


class Home(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.html, cls.browser = live_site.made()

    def loaded(self) -> list[str]:
        return [
            each["params"]["request"]["url"].rsplit("/", 1)[1]
            for each in self.browser.events
            if each["method"] == "Network.requestWillBeSent" and each["params"]["request"]["url"].startswith("file:")
        ]

    def test_a_visitor_breaks_three_lines_and_nothing_is_loaded_before(self) -> None:
        self.browser.shape(1280)
        self.assertEqual(self.browser.open((self.html / "index.html").as_uri()), [])
        files = [name for name in self.loaded() if not name.endswith(".svg")]
        self.assertEqual([name for name in files if re.match(r"emulator_wasm|tma_1d", name)], [])
        weight = sum(len(gzip.compress(next(self.html.rglob(name)).read_bytes())) for name in files)
        self.assertLess(weight, MOST_BYTES)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.live-breakable .live-mark').length"), 3)
        noticed = []
        for number in range(3):
            press = "document.querySelectorAll('.live-mutants button')[%d]" % number
            self.browser.evaluate(f"(async () => {{ const button = {press}; button.focus(); button.click(); }})()")
            noticed.append(self.browser.evaluate(OUTCOME))
            self.assertEqual(self.browser.evaluate("document.activeElement.getAttribute('aria-pressed')"), "true")
            self.assertGreater(self.browser.evaluate("document.querySelectorAll('.fragment .said').length"), 0)
        for text, name in zip(noticed, ("deadlock", "barrier-init-not-visible", "read-before-completion"), strict=True):
            self.assertIn(f"error {name} ", text)
        self.assertTrue(self.browser.evaluate(SEEN), "what came of it can be seen without scrolling")
        self.assertEqual(self.browser.problems(), [])
        self.no_barriers()
        mended = self.browser.evaluate("(document.querySelector('.live-mend').click(), " + OUTCOME + ")")
        self.assertIn("Memory is as the right kernel leaves it.", mended)
        self.assertEqual(self.browser.evaluate("[document.querySelectorAll('.live-added, .live-removed, .said').length, document.querySelector('.live-mend').hidden]"), [0, True])
        self.assertEqual(self.browser.evaluate("document.activeElement.textContent"), "Run")

    def no_barriers(self) -> None:
        """What axe-core says of the page as it is now, in light and dark."""
        import tools
        from cli import requirements
        from test_access import violations

        script = tools.need(requirements.AXE).read_text("utf-8")
        self.assertEqual(violations(self.browser, script), [])
        self.browser.evaluate("document.getElementById('dark').click()")
        self.assertEqual(violations(self.browser, script), [])


OUTCOME = """(async () => {
    const { listing } = hopperDemo;
    while (!/found\\.|broken\\.|could not/.test(listing.outcome.innerText)) await new Promise(done => setTimeout(done, 50));
    return listing.outcome.innerText;
})()"""
"""What the demo says when it has come to its end."""

SEEN = """(async () => {
    await new Promise(done => setTimeout(done, 1000)); // It scrolls smoothly.
    const { top, bottom } = hopperDemo.listing.outcome.getBoundingClientRect();
    return top >= 0 && Math.floor(bottom) <= innerHeight;
})()"""
"""Whether all that the demo says of a run is on the screen."""
