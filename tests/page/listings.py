"""The site's listings in a browser: kernels run, and every mutant of two chapters breaks one.

What the page says is compared with what the command line says of the same launches.
"""

import functools
import http.server
import json
import re
import shutil
import tempfile
import threading
import unittest
from pathlib import Path

import live_site
from live_site import CHAPTERS

UNSEEN = {"vector load beyond the end"}
"""Mutants that the page's inputs do not show: this one reads what nobody uses unless the length is another."""

BREAK = """(async () => {
    document.querySelectorAll('details').forEach((fold) => { fold.open = true; }); // What is folded has no text that is seen.
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
    document.querySelectorAll('details').forEach((fold) => { fold.open = true; }); // What is folded has no text that is seen.
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

WATCH = """(async () => {
    const listing = hopperListings.find(each => each.kernels.includes('axpy_ring')), told = [];
    await listing.run();
    told.push((await hopperWatch.watch(listing)).events.count);
    await listing.showMutants();
    await listing.choose((await listing.mutants()).find(each => each.name.startsWith('one store too many')));
    told.push(listing.place.childElementCount);
    const view = await hopperWatch.watch(listing);
    told.push(view.event, view.recording.findings.map(each => [each.finding.name, each.places]), view.link.href);
    return JSON.stringify(told);
})()"""
"""Watches a run, then that of a mutant, which opens at the first event of its finding."""

FOLLOWED = """(async () => {
    const watched = () => hopperListings.find(each => each.view);
    for (let i = 0; i < 500 && !watched(); ++i) await new Promise((done) => setTimeout(done, 20));
    return JSON.stringify([watched().view.event, watched().broken.name]);
})()"""
"""What a link to a moment shows."""

SIZES = """(async () => {
    document.querySelectorAll('details').forEach((fold) => { fold.open = true; }); // What is folded has no text that is seen.
    const listing = hopperListings.find(each => each.kernels.includes('add_one_loop')), told = [];
    const loaded = () => Object.keys(hopperLive.tma_1d).filter(each => each.startsWith('size')).sort();
    await listing.run();
    told.push(['', listing.outcome.innerText, listing.ran.size, loaded()]);
    await listing.showMutants();
    const mutant = (await listing.mutants()).find(each => each.name === 'parity never flipped');
    for (const size of [100, 8192]) {
        listing.size.value = size;
        await listing.run();
        told.push([size, listing.outcome.innerText, listing.ran.size, loaded()]);
        await listing.choose(mutant);
        told.push([size, listing.outcome.innerText, listing.ran.size, loaded()]);
        await listing.choose(null);
    }
    return JSON.stringify([[...listing.size.options].map(each => Number(each.value)), told]);
})()"""
"""Runs a kernel that loops over tiles, and a mutant of it, with several sizes: the outcome, the size, and what has been loaded."""

CHANGED = """(async () => {
    const listing = hopperListings.find(each => each.kernels.includes('add_one_ptx')), { fragment } = listing;
    await listing.showMutants();
    await listing.choose(listing.offered.find(each => each.name === 'more bytes announced than copied'));
    const change = fragment.querySelector('.live-change'), inside = change.getBoundingClientRect(), box = fragment.getBoundingClientRect();
    const widths = [...fragment.querySelectorAll('.line')].map(each => each.offsetWidth);
    const told = [change.textContent, inside.left > box.left && inside.right < box.right, fragment.scrollLeft,
        Math.min(...widths), fragment.scrollWidth, change.parentElement.textContent, listing.outcome.innerText];
    const note = fragment.querySelector('.said').getBoundingClientRect();
    told.push(note.left > box.left && note.right < box.right);
    await listing.choose(null);
    told.push(fragment.scrollLeft);
    return JSON.stringify(told);
})()"""
"""Breaks a line far to the right: what is marked, whether that and the notes can be seen, how far the listing is scrolled for it, how
wide the lines are, what is said; and how far it is scrolled when the line is mended."""

STAYED = """(async () => {
    const listing = hopperListings.find(each => each.kernels.includes('add_one_ptx')), told = [];
    const { reveal } = listing, top = element => Math.round(element.getBoundingClientRect().top);
    await listing.showMutants();
    const buttons = [...listing.choices.querySelectorAll('button')], mark = listing.offered[1].buttons[1];
    listing.reveal = () => {};
    for (const pressed of [buttons[1], mark, buttons[0]]) {
        pressed.scrollIntoView({ block: 'center', behavior: 'instant' });
        const before = top(pressed), run = listing.run.bind(listing);
        const done = new Promise(ready => { listing.run = () => run().then(ready); });
        pressed.click();
        await done;
        listing.run = run;
        told.push([before, top(pressed)]);
    }
    listing.bar.scrollIntoView({ block: 'end', behavior: 'instant' });
    const hidden = listing.outcome.getBoundingClientRect().top - innerHeight;
    listing.pressed = null;
    reveal.call(listing);
    await new Promise(ready => setTimeout(ready, 1000)); // It scrolls smoothly.
    const { top: begin, bottom } = listing.outcome.getBoundingClientRect();
    return JSON.stringify([told, hidden, top(listing.bar), Math.round(begin), Math.round(bottom), innerHeight]);
})()"""
"""Where each button was when it was pressed, and where it is when the run is over; then where the bar and the report are when the
report is brought into view from below the screen."""

PREPARE = "(async () => { for (const listing of hopperListings) await listing.showMutants(); })()"


class Listings(unittest.TestCase):
    """Needs the chapters' programs built, the tools of the site, and a browser."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.html, cls.browser = live_site.made()

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
                as_it_is = r"Memory is as the right kernel leaves it|It stores what a clock says, so results are not compared"
                self.assertRegex(text, rf"instructions, all threads together\. No rule was broken\. (?:{as_it_is})\.$")

    def test_every_mutant_is_shown_and_noticed(self) -> None:
        from cli import chapters, mutants

        workspace = live_site.workspace()
        together = {
            several.name: several.expect
            for chapter in chapters.all_chapters(workspace)
            if chapter.name in CHAPTERS
            for several in mutants.load_together(workspace, chapter)
        }
        self.assertGreater(len(together), 0)
        for address in self.of_each_page():
            self.browser.evaluate(PREPARE)
            told = json.loads(self.browser.evaluate(BREAK))
            self.assertGreaterEqual(len(told), 7, address)
            for kernel, name, text, blamed, changed in told:
                with self.subTest(kernel=kernel, mutant=name):
                    self.assertGreater(changed, 0)
                    noticed = r"these inputs do not show" if name in UNSEEN else r"A mistake was found|\d mistakes were found|The result is wrong"
                    self.assertRegex(text, noticed)
                    self.assertIn(f"error {together[name]} " if name in together else "", text)
                    if "What to do:" in text and kernel and kernel in text.split(" ran ")[0]:
                        self.assertGreater(blamed, 0, text)

    def test_a_finding_is_that_of_the_command_line(self) -> None:
        self.browser.open((self.html / "tma_1d.html").as_uri())
        self.browser.evaluate(PREPARE)
        told = {name: text for _, name, text, _, _ in json.loads(self.browser.evaluate(BREAK))}
        deadlock = told["more bytes announced than copied"]
        self.assertIn("error deadlock", deadlock)
        self.assertIn("expect_tx announced 16 bytes more than copies bring in this phase", deadlock)
        self.assertIn("chapters/05_tma_1d/tma_1d.cuh:", deadlock)

    def test_a_size_is_loaded_when_it_is_chosen_and_decides_what_is_seen(self) -> None:
        from cli import chapters, live_launches

        chapter = next(each for each in chapters.all_chapters(live_site.workspace()) if each.name == "tma_1d")
        self.assertEqual(self.browser.open((self.html / "tma_1d.html").as_uri()), [])
        offered, told = json.loads(self.browser.evaluate(SIZES))
        self.assertEqual(offered, [live_launches.elements(chapter), *live_launches.other_elements(chapter)])
        self.assertEqual([size for _, _, size, _ in told], [offered[0], 100, 100, 8192, 8192])
        self.assertEqual([loaded for *_, loaded in told], [[], ["size_100"], ["size_100"], ["size_100", "size_8192"], ["size_100", "size_8192"]])
        for at in (0, 1, 3):
            self.assertIn("Memory is as the right kernel leaves it.", told[at][1])
        counts = [int(re.search(r": ([\d,]+) instructions", told[at][1])[1].replace(",", "")) for at in (1, 3, 0)]
        self.assertEqual(counts, sorted(set(counts)))
        # A block with one tile waits for one phase: whoever never flips the parity waits for the right one.
        self.assertIn("these inputs do not show it", told[2][1])
        self.assertIn("Perhaps another size does.", told[2][1])
        self.assertRegex(told[4][1], "mistakes? w(as|ere) found")
        self.assertEqual(self.browser.problems(), [])

    def test_what_a_mutant_changes_is_marked_said_and_brought_into_view(self) -> None:
        for width in (1440, 390):
            self.browser.shape(width, 844)
            with self.subTest(width=width):
                self.assertEqual(self.browser.open((self.html / "tma_1d.html").as_uri()), [])
                marked, seen, scrolled, narrow, wide, line, said, note, mended = json.loads(self.browser.evaluate(CHANGED))
                self.assertEqual((marked, seen, note, mended), ("bytes + 16", True, True, 0))
                self.assertRegex(line, r"^ +ptx::mbarrier_arrive_expect_tx\(.*, &bar, bytes \+ 16\);$")
                self.assertIn("Broken on purpose (bytes → bytes + 16): ", said)
                self.assertGreater(narrow, wide - 30)  # Coloured to the end of the longest.
                self.assertEqual(scrolled > 100, width == 390)
        self.browser.shape(1280)

    def test_what_was_pressed_stays_in_place_and_the_report_comes_into_view(self) -> None:
        for width, height in ((1440, 900), (390, 844)):
            self.browser.shape(width, height)
            with self.subTest(width=width):
                self.assertEqual(self.browser.open((self.html / "tma_1d.html").as_uri()), [])
                pressed, hidden, bar, top, bottom, screen = json.loads(self.browser.evaluate(STAYED))
                for before, after in pressed:
                    self.assertAlmostEqual(before, after, delta=1)
                self.assertGreater(hidden, 0)
                self.assertGreater(bar, 52)  # Below the bar of the site.
                self.assertLess(top + 120, screen)
                if width > 1000:
                    self.assertLess(bottom, screen)
        self.browser.shape(1280)

    def test_a_run_can_be_watched_and_its_moments_linked(self) -> None:
        page = (self.html / "tma_1d.html").as_uri()
        self.assertEqual(self.browser.open(page), [])
        count, stale, event, findings, link = json.loads(self.browser.evaluate(WATCH))
        self.assertGreater(count, 1000)
        self.assertEqual(stale, 0)  # A new run closes the viewer of the old one.
        self.assertEqual([name for name, _ in findings], ["reuse-before-read-done"])
        self.assertEqual(event, min(findings[0][1]))
        self.browser.open("about:blank")
        self.assertEqual(self.browser.open(link), [])
        shown, broken = json.loads(self.browser.evaluate(FOLLOWED))
        self.assertEqual((shown, broken), (event, "one store too many left unread"))
        self.assertEqual(self.browser.problems(), [])

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
