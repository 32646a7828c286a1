"""How pages are laid out: on wide screens, on phones, on paper; and the first page."""

import re
import unittest
from pathlib import Path

import tools
from built_site import BrowserCase, prose_pages, site

A4 = 718
"""Pixels of text on A4 paper."""

LINES = """[...document.querySelectorAll("#main .textblock > p")].filter((p) => p.textContent.length > 300).slice(0, 12).map((p) => {
    const walker = document.createTreeWalker(p, NodeFilter.SHOW_TEXT), range = document.createRange(), lines = [];
    for (let node, bottom = null; (node = walker.nextNode());)
        for (let at = 0; at < node.length; ++at) {
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            const box = [...range.getClientRects()].at(-1);
            if (!box) continue;
            if (bottom === null || box.bottom - bottom > 8) [bottom] = [box.bottom, lines.push(0)];
            ++lines[lines.length - 1];
        }
    return lines.slice(0, -1).reduce((sum, line) => sum + line, 0) / (lines.length - 1);
})"""
"""The characters in a line of each long paragraph; the last line is left out."""

SETTLED = "new Promise((done) => setTimeout(done, 100))"

CLIPPED = """[...document.querySelectorAll("#main .fragment, #main .table-box, #main .figure")].filter((node) =>
    node.scrollWidth > node.clientWidth + 2 && node.checkVisibility({ contentVisibilityAuto: true, checkVisibilityCSS: true })).map((node) => node.textContent.trim().slice(0, 60))"""

OVERFLOWING = """[...document.querySelectorAll("#main .fragment")].filter((node) => node.scrollWidth > node.clientWidth + 2)
    .map((node) => Math.max(...[...node.querySelectorAll(".line")].map((line) => line.textContent.length)))"""


class Figures(unittest.TestCase):
    def test_arrows_of_the_paths_begin_and_end_at_boxes(self) -> None:
        text = (tools.ROOT / "docs/figures/copy_paths.svg").read_text("utf-8")
        boxes = [tuple(map(float, each)) for each in re.findall(r'<rect class="(?!paper)[^"]*" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', text)]
        arrows = re.findall(r'<line x1="([\d.]+)" y1="([\d.]+)"[^>]*/>\n<polygon class="head" points="([\d.]+),', text)
        self.assertGreater(len(arrows), 10)
        for begin, y, end in (map(float, each) for each in arrows):
            beside = [(x, x + width) for x, top, width, height in boxes if top <= y <= top + height]
            self.assertIn(begin, [right for _, right in beside], f"the arrow at {begin}, {y} begins in no box")
            self.assertIn(end, [left for left, _ in beside], f"the arrow to {end}, {y} ends at no box")


    def test_a_chapter_begins_with_a_figure_that_a_phone_shows_whole(self) -> None:
        wide = []
        for chapter in sorted(tools.ROOT.glob("chapters/*/README.md")):
            first = re.search(r"\]\((\S+\.svg)\)", chapter.read_text("utf-8"))
            assert first is not None, chapter
            width = re.search(r'<svg [^>]*\bwidth="(\d+)"', (chapter.parent / first[1]).read_text("utf-8"))
            if width is None or int(width[1]) > 366:
                wide.append(Path(first[1]).stem)
        self.assertEqual(wide, [])


class Wide(BrowserCase):
    def test_prose_has_70_to_75_characters_a_line(self) -> None:
        for name in ("tma_1d.html", "swizzle.html", "measuring.html"):
            self.open(name, width=1440)
            lengths = sorted(self.browser.evaluate(LINES))
            self.assertGreater(len(lengths), 5)
            self.assertTrue(69 <= lengths[len(lengths) // 2] <= 76, f"{name}: {lengths[len(lengths) // 2]}")

    def test_figures_are_drawn_in_their_own_size_where_there_is_room(self) -> None:
        small = """[...document.querySelectorAll("#main .figure img")].filter((node) => node.checkVisibility()).map((node) =>
            [node.naturalWidth, node.getBoundingClientRect().width, node.parentElement.clientWidth]).filter(([own, drawn, room]) => drawn < own - 1 || own > room + 1)"""
        for name in ("tma_1d.html", "gemm.html"):
            for width in (1440, 1280, 800):
                self.open(name, width=width)
                self.assertGreater(self.browser.evaluate("document.querySelectorAll('#main .figure img').length"), 0)
                self.assertEqual(self.browser.evaluate(small), [], f"{name} at {width}")

    def test_listings_of_126_columns_fit(self) -> None:
        for page in prose_pages():
            self.open(page.name, width=1440)
            self.assertEqual([columns for columns in self.browser.evaluate(OVERFLOWING) if columns <= 126], [], page.name)

    def test_what_scrolls_is_a_stop_for_the_keyboard_and_nothing_else_is(self) -> None:
        for width in (1440, 390):
            self.open("gemm.html", width=width)
            self.browser.evaluate(SETTLED)
            wrong = self.browser.evaluate(
                """[...document.querySelectorAll("#main :is(.fragment, .table-box, .figure)")].filter((node) => node.checkVisibility({ contentVisibilityAuto: true, checkVisibilityCSS: true }) &&
                (node.scrollWidth > node.clientWidth + 2) !== (node.tabIndex === 0)).map((node) => node.className)"""
            )
            self.assertEqual(wrong, [], width)

    def test_corners_of_a_listing_that_goes_on_are_there(self) -> None:
        self.open("gemm.html", width=390)
        self.browser.evaluate(SETTLED)
        masks = self.browser.evaluate(
            "[...document.querySelectorAll('#main .fragment.more-right')].map((node) => getComputedStyle(node).webkitMaskImage)"
        )
        self.assertTrue(masks)
        self.assertEqual(set(masks), {"none"})

    def test_notes_explain_terms_in_the_margin_and_touch_nothing(self) -> None:
        self.open("swizzle.html", width=1440)
        notes = self.browser.evaluate(
            """[...document.querySelectorAll(".note")].map((note) => {
                const box = note.getBoundingClientRect(), hit = [...document.querySelectorAll(
                    "#main .textblock > :is(p, ul, h2, h3, .listing, .table-box, .interactive, .fold), #toc, .note")].some((other) => {
                    const { left, right, top, bottom } = other.getBoundingClientRect();
                    return other !== note && left < box.right - 1 && right > box.left + 1 && top < box.bottom - 1 && bottom > box.top + 1;
                });
                return [note.textContent, hit];
            })"""
        )
        self.assertGreater(len(notes), 3)
        self.assertTrue(any(text.startswith("bank ") for text, _ in notes))
        self.assertEqual([text for text, hit in notes if hit], [])
        self.browser.shape(1000)
        self.assertEqual(self.browser.evaluate("document.querySelector('.note').offsetHeight"), 0)

    def test_contents_beside_the_text_follow_the_reader(self) -> None:
        self.open("swizzle.html", width=1440)
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.getElementById('toc')).position"), "fixed")
        self.browser.evaluate(
            "(async () => { document.getElementById('swizzle-banks').scrollIntoView(); await new Promise((r) => setTimeout(r, 200)); })()"
        )
        self.assertEqual(self.text("#toc [aria-current]"), "Banks")
        self.browser.shape(1000)
        shown = "document.querySelector('#toc ul').offsetHeight > 0"
        self.assertIs(self.browser.evaluate(shown), False)
        self.click("#toc button")
        self.assertIs(self.browser.evaluate(shown), True)
        self.assertEqual(self.browser.evaluate("document.querySelector('#toc button').ariaExpanded"), "true")

    def test_contents_are_in_the_bar_once_their_button_is_out_of_sight(self) -> None:
        self.open("swizzle.html", width=390)
        offered = "document.getElementById('sections').checkVisibility()"
        self.browser.evaluate(SETTLED)
        self.assertIs(self.browser.evaluate(offered), False)
        self.browser.evaluate(f"(scrollTo(0, 9000), {SETTLED})")
        self.assertIs(self.browser.evaluate(offered), True)
        before = "scrollY + document.querySelector('#main .contents').getBoundingClientRect().top"
        height = self.browser.evaluate(before)
        self.click("#sections")
        box = self.browser.evaluate("(({ top, left, right, bottom }) => [top, left, right, bottom])(document.getElementById('toc-list').getBoundingClientRect())")
        self.assertGreaterEqual(box[0], 51)
        self.assertTrue(box[1] >= 0 and box[2] <= 391 and box[3] <= 900, box)
        self.assertEqual((self.browser.evaluate("scrollY"), self.browser.evaluate(before)), (9000, height))  # Nothing has moved.
        self.browser.press("Escape")
        self.assertEqual(self.browser.evaluate("[document.activeElement.id, document.activeElement.ariaExpanded]"), ["sections", "false"])
        self.click("#sections")
        self.click("#toc-list a[href='#swizzle-banks']")
        self.browser.evaluate(SETTLED)
        self.assertEqual(self.browser.evaluate("document.getElementById('sections').ariaExpanded"), "false")
        self.assertAlmostEqual(self.browser.evaluate("document.getElementById('swizzle-banks').getBoundingClientRect().top"), 68, delta=3)

    def test_headings_have_links_to_themselves(self) -> None:
        for page in prose_pages():
            text = page.read_text("utf-8")
            headings = re.findall(r'<h[234] id="([^"]+)">(.*?)</h', text)
            self.assertTrue(headings or page.name == "index.html", page.name)
            for label, inside in headings:
                self.assertIn(f'href="#{label}"', inside)

    def test_machine_code_and_long_tables_are_folded_in_chapters(self) -> None:
        tools.import_generator()
        from generator.pages import all_pages

        for page in all_pages(tools.ROOT):
            expected = page.source.read_text("utf-8").count("\n```sass\n") if page.chapter else 0
            found = len(re.findall('<details class="fold"(?: open)?><summary>Machine code, ', (site() / page.file).read_text("utf-8")))
            self.assertEqual(found, expected, page.name)
        rows = [int(count) for page in prose_pages() for count in re.findall(r"<summary>Table of (\d+) rows", page.read_text("utf-8"))]
        self.assertTrue(rows and min(rows) > 16)

    def test_rule_below_a_heading_of_the_reference_is_as_wide_as_the_text(self) -> None:
        self.open("structworkbook_1_1DeviceFree.html", width=1440)
        self.assertIs(
            self.browser.evaluate(
                "[...document.querySelectorAll('h2.groupheader')].every((node) => getComputedStyle(node).boxShadow === 'none' &&"
                " node.getBoundingClientRect().right <= document.querySelector('#main .contents').getBoundingClientRect().right + 1)"
            ),
            True,
        )

    def test_folders_of_files_open_by_keyboard(self) -> None:
        self.open("files.html")
        seen = "[...document.querySelectorAll('tr[id]')].filter((row) => row.offsetParent).length"
        before = self.browser.evaluate(seen)
        self.browser.evaluate("document.querySelector('button[data-folder][aria-expanded=false]').focus()")
        self.browser.evaluate("document.activeElement.click()")
        self.assertEqual(self.browser.evaluate("document.activeElement.ariaExpanded"), "true")
        self.assertGreater(self.browser.evaluate(seen), before)
        self.click("button[data-level='1']")
        self.assertLess(self.browser.evaluate(seen), before)


class Reading(BrowserCase):
    PROGRESS = ".card[data-chapter='barriers'] .progress"

    def read_barriers(self, then: str) -> str:
        """Opens the chapter as if nobody had read it, does something there by a clock 40 times as fast, and returns what its card says."""
        fast = self.browser.call(
            "Page.addScriptToEvaluateOnNewDocument", source="const real = setInterval; setInterval = (what, pause) => real(what, pause / 40);"
        )
        self.open("index.html")
        self.browser.evaluate("localStorage.clear()")
        self.addCleanup(self.browser.evaluate, "localStorage.clear()")
        self.open("barriers.html")
        self.browser.evaluate(f"(async () => {{ const pause = () => new Promise((r) => setTimeout(r, 300)); {then} }})()")
        self.browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=fast["identifier"])
        self.open("index.html")
        return self.text(self.PROGRESS)

    def test_a_chapter_that_was_scrolled_through_is_read_and_it_is_kept(self) -> None:
        said = self.read_barriers("for (let y = 0; y < document.documentElement.scrollHeight; y += 700) { scrollTo(0, y); await pause(); }")
        self.assertEqual(said, "read")
        self.assertEqual(self.text(".card[data-chapter='pipeline'] .progress"), "")
        self.open("barriers.html")  # Looking in again takes nothing back.
        self.open("index.html")
        self.assertEqual(self.text(self.PROGRESS), "read")

    def test_what_was_jumped_over_is_not_read(self) -> None:
        said = self.read_barriers("for (const name of ['exercises', 'appendix']) { document.getElementById('barriers-' + name).scrollIntoView(); await pause(); }")
        self.assertRegex(said, r"^\d % read$")

    def test_first_page_says_where_to_begin(self) -> None:
        tools.import_generator()
        from generator.pages import chapter_directories

        self.open("index.html", width=1440)
        chapters = [name.partition("_")[2] for name in chapter_directories(tools.ROOT)]
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('.card')].map((card) => card.dataset.chapter)"), chapters)
        self.assertEqual(
            self.browser.evaluate("[...document.querySelectorAll('.card')].filter((card) => card.querySelectorAll('svg.thumb rect').length < 3 || !/minutes/.test(card.textContent)).length"), 0
        )
        start = "[...document.querySelectorAll('#main a')].find((link) => link.textContent === 'Start chapter 1')"
        self.assertTrue(self.browser.evaluate(f"{start}.href").endswith(f"/{chapters[0]}.html"))
        self.assertLess(self.browser.evaluate(f"{start}.getBoundingClientRect().bottom"), 900)
        # What the demo breaks; without the emulator it is a listing like others, and has no button that does nothing.
        self.assertIn("add_one_ptx", self.text("#main .fragment"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('#main .live').length"), 0)

    def test_menu_takes_the_focus_and_gives_it_back(self) -> None:
        self.open("swizzle.html", width=390)
        self.browser.evaluate("(menu.focus(), menu.click())")
        self.assertIs(self.browser.evaluate("side.contains(document.activeElement)"), True)
        self.browser.press("Escape")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "menu")


class Phone(BrowserCase):
    def test_what_one_touches_is_24_pixels_high_and_wide(self) -> None:
        """But for links in the text, which are as high as their line, and boxes whose words can be touched too."""
        small = """[...document.querySelectorAll("a, button, summary, select, label, input:not(label input)")].filter((node) => {
            const { width, height } = node.getBoundingClientRect();
            if (!node.checkVisibility({ visibilityProperty: true }) || !width || node.matches(".skip, label:has(.listing)")) return false;
            if (node.matches("a:not(.permalink)") && getComputedStyle(node).display === "inline") return false;
            return width < 23.9 || height < 23.9;
        }).map((node) => node.outerHTML.slice(0, 100)).slice(0, 5)"""
        for name in ("index.html", "swizzle.html", "glossary.html", "files.html"):
            self.open(name, width=390)
            self.browser.evaluate(SETTLED)
            self.assertEqual(self.browser.evaluate(small), [], name)


class Paper(BrowserCase):
    def on_paper(self, name: str) -> None:
        self.open(name)
        self.browser.call("Emulation.setDeviceMetricsOverride", width=A4, height=1000, deviceScaleFactor=1, mobile=False)
        self.browser.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.addCleanup(self.browser.call, "Emulation.setEmulatedMedia", media="")

    def test_listings_and_tables_are_whole_on_a4(self) -> None:
        for name in ("swizzle.html", "gemm.html", "setup.html"):
            self.on_paper(name)
            self.assertEqual(self.browser.evaluate(CLIPPED), [], name)
            self.assertIs(self.browser.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 2"), True, name)
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('details.fold:not([open])').length"), 0)

    def test_print_is_light_where_the_page_was_dark(self) -> None:
        self.open("tma_1d.html")
        self.browser.shape(A4, dark=True)
        dark = "document.documentElement.classList.contains('dark-mode')"
        self.browser.evaluate(f"(async () => {{ for (let i = 0; i < 50 && !{dark}; ++i) await new Promise((r) => setTimeout(r, 20)); }})()")
        self.assertIs(self.browser.evaluate(dark), True)
        self.browser.evaluate("dispatchEvent(new Event('beforeprint'))")
        light = "getComputedStyle(document.querySelector('#main p')).color.match(/\\d+/g).every((part) => part < 120)"
        self.assertIs(self.browser.evaluate(light), True)
        self.browser.evaluate("dispatchEvent(new Event('afterprint'))")
        self.assertIs(self.browser.evaluate(dark), True)


if __name__ == "__main__":
    unittest.main()
