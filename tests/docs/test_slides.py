"""Slides: what a deck is made of, and that all of them can be read on a projector."""

import base64
import re
import tempfile
import unittest
from pathlib import Path

import tools
from browser import Browser
from cli import exercises, requirements

CHAPTER = """# Chapter 1: through `one`

Intro.

## What you will learn
- One thing ([link](x.md)).
- Another,
  in two lines.

## The idea
Far above. See this picture:

![What
one sees.](../../docs/figures/demo.svg)

## The code
First sentence. It stands [here](one.cuh):

<!-- code: one.cuh f -->
```cuda
void f();

void g();
```
<!-- end -->

<!-- measured: t -->

| a | b |
| --- | --- |
| 1 | 2 |

<!-- end -->

```
not woven
```
"""

COUNT = "document.querySelectorAll('section').length"
AT_ONCE = 40
FULL = """((from, behind) => {
    const wrong = [];
    history.replaceState = () => {}; // browsers allow only so many in a minute
    [...document.querySelectorAll("section")].slice(from, behind).forEach((slide, at) => {
        if (from + at > 0) dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
        const image = slide.querySelector("img");
        const place = `${from + at + 1}, ${slide.getAttribute("aria-label")}`;
        if (!slide.classList.contains("current")) wrong.push(place + ": is not shown");
        if (slide.dataset.full) wrong.push(place + ": too full");
        if (image && image.getBoundingClientRect().height < 250) wrong.push(place + ": the picture is small");
    });
    return wrong;
})(%d, %d)"""


class Made(unittest.TestCase):
    def setUp(self) -> None:
        tools.import_generator()
        from generator import slides

        self.slides = slides

    def test_figures_and_woven_blocks_are_found_with_what_leads_to_them(self) -> None:
        found = list(self.slides.blocks(CHAPTER))
        self.assertEqual([block.kind for block in found], ["figure", "code", "measured"])
        figure, listing, table = found
        self.assertEqual((figure.heading, figure.lead), ("The idea", "Far above. See this picture:"))
        self.assertEqual((figure.text, figure.origin), ("../../docs/figures/demo.svg", "What one sees."))
        self.assertEqual((listing.heading, listing.lead), ("The code", "First sentence. It stands [here](one.cuh):"))
        self.assertEqual(listing.text, "```cuda\nvoid f();\n\nvoid g();\n```")
        self.assertEqual((table.lead, table.text), ("", "| a | b |\n| --- | --- |\n| 1 | 2 |"))

    def test_long_listings_and_tables_are_cut_and_lose_nothing(self) -> None:
        lines = [f"line {n}" if n % 9 else "" for n in range(1, 70)]
        block = self.slides.Block("code", "h", "", "```cuda\n" + "\n".join(lines) + "\n```")
        parts = self.slides._parts(block)
        self.assertGreater(len(parts), 2)
        for part in parts:
            self.assertLessEqual(part.count("\n"), 22)
            self.assertTrue(part.startswith("```cuda\n") and part.endswith("\n```"))
        self.assertEqual(re.findall(r"line \d+", "".join(parts)), [line for line in lines if line])
        table = "| a |\n| --- |\n" + "\n".join(f"| {n} |" for n in range(30))
        parts = self.slides._parts(self.slides.Block("measured", "h", "", table))
        self.assertEqual(re.findall(r"\d+", "".join(parts)), [str(n) for n in range(30)])
        self.assertTrue(all(part.startswith("| a |\n| --- |\n") for part in parts))
        parts = self.slides._parts(self.slides.Block("measured", "h", "", table + "\n\nWhat it is."))
        self.assertEqual(["What it is." in part for part in parts], [False, False, True])

    def test_a_wide_table_loses_the_spread_of_its_figures_and_a_narrow_one_nothing(self) -> None:
        heads = ["kernel", "a", "b", "c", "time (ms)", "least (ms)", "upper quartile (ms)", "repetitions", "rate"]
        rows = ["|" + "|".join(f" {cell} " for cell in cells) + "|" for cells in (heads, ["---"] * 9, list("012345678"))]
        (part,) = self.slides._parts(self.slides.Block("measured", "h", "", "\n".join([*rows, "", "What it is."])))
        self.assertEqual(part.split("\n")[2], "| 0 | 1 | 2 | 3 | 4 | 8 |")
        self.assertIn("What it is.", part)
        narrow = "| a | least |\n| --- | --- |\n| 1 | 2 |"
        self.assertEqual(self.slides._parts(self.slides.Block("measured", "h", "", narrow)), [narrow])

    def test_every_plan_has_its_exercises_in_order_and_is_one_file(self) -> None:
        for plan in self.slides.plan_names(tools.ROOT):
            deck = self.slides.deck(tools.ROOT, plan)
            wanted = [slot["exercise"] for slot in self.slides._plans(tools.ROOT)[plan]["slots"] if "exercise" in slot]
            self.assertEqual(re.findall(r"./workbook watch (\w+)</pre>", deck), wanted)
            self.assertEqual(re.findall(r'(?:src|href)="(?!data:)[^"]*"', deck), [], plan)
            self.assertNotIn("<!--", deck)

    def test_a_plan_has_about_as_many_slides_as_minutes_and_the_appendix_none(self) -> None:
        for plan in self.slides.plan_names(tools.ROOT):
            deck = self.slides.deck(tools.ROOT, plan)
            planned, more = self.slides.counts(deck)
            known = {exercise.name: exercise.minutes for exercise in exercises.all_exercises(tools.WORKSPACE)}
            slots = self.slides._plans(tools.ROOT)[plan]["slots"]
            minutes = sum(slot["minutes"] if "minutes" in slot else known[slot["exercise"]] for slot in slots)
            self.assertLess(planned, 0.7 * minutes, plan)
            self.assertGreater(planned, len(slots), plan)
            self.assertFalse("What the compiler makes of it" in deck, plan)
            self.assertEqual(planned + more, deck.count("<section "))
            of_the_plan = deck[: deck.index("More from the chapters")].rpartition("<section")[0]
            self.assertEqual(of_the_plan.count("<section "), planned)

    def test_only_the_site_s_decks_lead_back_to_it(self) -> None:
        self.assertIn('<a href="../teaching.html">Site</a>', self.slides.deck(tools.ROOT, "two_hours", back="../teaching.html"))

    def test_a_long_name_in_a_table_breaks_behind_its_underscores_only(self) -> None:
        self.assertEqual(self.slides._breakable("<td>far_columns</td>"), "<td>far_<wbr>columns</td>")
        self.assertEqual(self.slides._breakable("<td>16 × 5</td>"), "<td>16\xa0×\xa05</td>")
        self.assertEqual(self.slides._breakable('<td title="a_b">__x</td>'), '<td title="a_b">__x</td>')
        style = (tools.ROOT / "docs/site/theme/slides.css").read_text("utf-8")
        self.assertNotRegex(style, r"(?:td|th|table)[^{}]*\{[^}]*overflow-wrap: anywhere")

    def test_an_exercise_says_what_is_given_and_wanted(self) -> None:
        for exercise in exercises.all_exercises(tools.WORKSPACE):
            said = dict(self.slides.specification(exercise.skeleton(tools.WORKSPACE).read_text("utf-8")))
            self.assertLessEqual({"Given", "Wanted"}, set(said), exercise.name)

    def test_a_plan_that_does_not_exist_is_an_error(self) -> None:
        from generator.pages import SiteError

        with self.assertRaisesRegex(SiteError, "there are two_hours, one_day"):
            self.slides.deck(tools.ROOT, "two_weeks")


class Shown(unittest.TestCase):
    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        program = tools.need(requirements.BROWSER)
        tools.import_generator()
        from generator import slides

        place = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.decks: list[Path] = []
        for plan in slides.plan_names(tools.ROOT):
            cls.decks.append(place / f"{plan}.html")
            cls.decks[-1].write_text(slides.deck(tools.ROOT, plan), "utf-8")
        cls.browser = Browser(program, timeout=120).__enter__()
        cls.addClassCleanup(cls.browser.__exit__, None, None, None)

    def test_every_slide_fits_a_projector(self) -> None:
        self.assertGreater(len(self.decks), 3)
        wrong = []
        for deck in self.decks:
            self.browser.shape(1280, 720)
            self.assertEqual(self.browser.open(deck.as_uri()), [])
            for at in range(0, self.browser.evaluate(COUNT), AT_ONCE):
                wrong += [f"{deck.name} {each}" for each in self.browser.evaluate(FULL % (at, at + AT_ONCE))]
        self.assertEqual(wrong, [])

    def test_keys_turn_the_pages_and_start_the_clock(self) -> None:
        self.browser.shape(1280, 720)
        self.browser.open((self.decks[0]).as_uri())
        at = "[...document.querySelectorAll('section')].findIndex((s) => s.classList.contains('current'))"
        clock = "document.querySelector('section.current .clock')"
        for key, wanted in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0), ("ArrowLeft", 0)):
            self.browser.press(key)
            self.assertEqual(self.browser.evaluate(at), wanted, key)
        exercise = "[...document.querySelectorAll('section')].findIndex((s) => s.classList.contains('exercise'))"
        for key in (*str(self.browser.evaluate(exercise) + 1), "Enter"):
            self.browser.press(key)
        self.browser.press("t")
        self.assertTrue(self.browser.evaluate(f"Boolean({clock}.timer)"))
        self.browser.press("t")
        self.assertFalse(self.browser.evaluate(f"Boolean({clock}.timer)"))

    def number(self) -> int:
        return int(self.browser.evaluate("[...document.querySelectorAll('section')].findIndex((s) => s.classList.contains('current')) + 1"))

    def open_on_a_phone(self) -> None:
        self.browser.shape(390, 844)
        self.browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.addCleanup(self.browser.call, "Emulation.setTouchEmulationEnabled", enabled=False)
        self.assertEqual(self.browser.open(self.decks[0].as_uri()), [])

    def touch(self, left: int, right: int) -> None:
        """A tap at `left`, or a swipe to `right`."""
        self.browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": left, "y": 150}])
        for x in range(left, right, 60 if left < right else -60):
            self.browser.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": 150}])
        self.browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")

    def test_a_finger_turns_the_pages(self) -> None:
        self.open_on_a_phone()
        for left, right, wanted in ((300, 300, 2), (350, 50, 3), (50, 350, 2), (20, 20, 1), (20, 20, 1)):
            self.touch(left, right)
            self.assertEqual(self.number(), wanted, (left, right))
        self.browser.evaluate("document.querySelector('.bar .next').click()")
        self.assertEqual(self.number(), 2)
        self.browser.evaluate("document.querySelector('.bar .back').click()")
        self.assertEqual(self.number(), 1)

    def test_a_mouse_turns_the_pages(self) -> None:
        self.browser.shape(1280, 720)
        self.browser.open(self.decks[0].as_uri())
        for x, wanted in ((900, 2), (900, 3), (100, 2)):
            for kind in ("mousePressed", "mouseReleased"):
                self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=300, button="left", clickCount=1)
            self.assertEqual(self.number(), wanted, x)
        self.browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=600, y=300, deltaX=0, deltaY=100)
        self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")
        self.assertEqual(self.number(), 3)

    def test_first_slide_says_how_to_go_on(self) -> None:
        self.browser.shape(1280, 720)
        self.browser.open(self.decks[0].as_uri())
        hint = "document.getElementById('hint').checkVisibility()"
        self.assertTrue(self.browser.evaluate(hint))
        self.browser.press("ArrowRight")
        self.assertFalse(self.browser.evaluate(hint))
        self.browser.press("?")
        self.assertTrue(self.browser.evaluate(hint))

    def test_words_keep_their_size_on_a_phone(self) -> None:
        self.open_on_a_phone()
        small = """(() => {
            const wrong = [];
            history.replaceState = () => {};
            document.querySelectorAll("section").forEach((slide, at) => {
                if (at > 0) document.querySelector(".bar .next").click();
                const width = document.documentElement.scrollWidth, scale = slide.getBoundingClientRect().width / slide.offsetWidth;
                if (width > 390) wrong.push(`${at + 1}: ${width} pixels wide`);
                for (const node of slide.querySelectorAll("h1, h2, p, li, pre, td, dd, footer span, .origin")) {
                    const size = parseFloat(getComputedStyle(node).fontSize) * node.currentCSSZoom * scale;
                    if (node.checkVisibility() && size < 13) wrong.push(`${at + 1}: ${node.tagName} ${size}`);
                }
            });
            return wrong.slice(0, 5);
        })()"""
        self.assertEqual(self.browser.evaluate(small), [])

    def test_each_slide_is_printed_on_a_page(self) -> None:
        self.browser.shape(1280, 720)
        self.browser.open(self.decks[0].as_uri())
        count = self.browser.evaluate(COUNT)
        stream = self.browser.call("Page.printToPDF", preferCSSPageSize=True, transferMode="ReturnAsStream")["stream"]
        data, end = b"", False
        while not end:
            part = self.browser.call("IO.read", handle=stream, size=1 << 18)
            data += base64.b64decode(part["data"])
            end = part["eof"]
        pages = re.findall(rb"/Type\s*/Page\b", data)
        self.assertEqual(len(pages), count)
