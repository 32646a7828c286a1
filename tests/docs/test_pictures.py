"""The interactive pictures, used by mouse and by keyboard: what they say is compared with the program's numbers."""

import json
import re
import unittest

import tools
from built_site import BrowserCase


def data(name: str) -> dict:
    return json.loads((tools.ROOT / f"docs/site/data/{name}.json").read_text("utf-8"))


PAGES = {"mbarrier": "barriers.html", "pipeline": "pipeline.html"}

FIGURES_LOADED = """Promise.all([...document.querySelectorAll(".figure img")].map((image) => image.decode()))"""

SMALLEST_WORDS = """Math.min(...[...document.querySelectorAll(".picture svg text")].map((text) =>
    parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.clientWidth / text.ownerSVGElement.viewBox.baseVal.width),
    ...[...document.querySelectorAll(".figure img")].map((image) => 12 * image.clientWidth / image.naturalWidth))"""
"""In pixels. The smallest words of a figure are of 12 units, and its size is in units."""

class Pictures(BrowserCase):
    page: str

    def show(self, name: str, page: str) -> None:
        self.open(page)
        self.box = f'.picture[data-picture="{name}"]'

    def said(self) -> str:
        return self.text(f"{self.box} .readout")

    def numbers(self) -> list[int]:
        return [int(number) for number in re.findall(r"-?\d+", self.said())]

    def choose(self, number: int, value: object) -> None:
        self.browser.evaluate(
            f"(() => {{ const list = document.querySelectorAll('{self.box} select')[{number}];"
            f"list.value = {json.dumps(str(value))}; list.dispatchEvent(new Event('change')); }})()"
        )

    def press(self, *keys: str) -> None:
        self.browser.evaluate(f"document.querySelector('{self.box} svg').focus()")
        for key in keys:
            self.browser.press(key)

    def button(self, label: str) -> None:
        self.browser.evaluate(
            f"[...document.querySelectorAll('{self.box} button')].find((b) => b.textContent === {label!r}"
            f" || b.getAttribute('aria-label') === {label!r}).click()"
        )


class Phone(Pictures):
    def test_words_of_pictures_and_figures_are_of_11_pixels_at_least(self) -> None:
        for name, page in PAGES.items():
            self.open(page, width=390)
            self.browser.evaluate(FIGURES_LOADED)
            self.assertGreaterEqual(self.browser.evaluate(SMALLEST_WORDS), 11, name)

    def test_nothing_below_a_picture_jumps(self) -> None:
        for name, page in PAGES.items():
            for width in (390, 1280):
                self.open(page, width=width)
                self.box = f'.picture[data-picture="{name}"]'
                self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")
                height = f"document.querySelector('{self.box}').offsetHeight"
                heights = {self.browser.evaluate(height)}
                if name == "mbarrier":
                    for number, record in enumerate(data("mbarrier")["records"]):
                        self.choose(0, number)
                        for _ in record["steps"]:
                            heights.add(self.browser.evaluate(height))
                            self.button("Next")
                elif name == "pipeline":
                    for _ in range(8):
                        self.button("Next tile")
                        heights.add(self.browser.evaluate(height))
                self.assertEqual(len(heights), 1, f"{name} at {width}: {heights}")


class Mbarrier(Pictures):
    def test_every_step_of_every_record_leaves_the_barriers_as_the_emulator_had_them(self) -> None:
        self.show("mbarrier", "barriers.html")
        for number, record in enumerate(data("mbarrier")["records"]):
            self.choose(0, number)
            state: dict[str, list[int]] = {}
            expected: dict[str, int] = {}
            for step in record["steps"]:
                name = step["barrier"]
                if step["step"] == "init":
                    state[name], expected[name] = [0, step["count"], 0], step["count"]
                elif step["step"] == "arrive":
                    state[name][1] -= step["count"]
                    state[name][2] += step["tx"]
                elif step["step"] == "complete":
                    self.assertEqual(state[name][1:], [0, 0], "a phase completes when nothing is missing")
                    state[name] = [state[name][0] + 1, expected[name], 0]
                elif step["step"] == "observed":
                    self.assertLess(step["phase"], state[name][0], "only a complete phase is seen")
                row = self.browser.evaluate(
                    f"[...[...document.querySelectorAll('{self.box} tbody tr')].find((r) => "
                    f"r.cells[0].textContent === {name!r}).cells].map((c) => c.textContent)"
                )
                phase, arrivals, missing = state[name]
                self.assertEqual(row, [name, str(phase), str(phase % 2), str(arrivals), str(missing)])
                self.button("Next")
            self.assertIn(
                f"step {len(record['steps'])} of {len(record['steps'])}", self.text(f"{self.box} .controls")
            )

    def test_slider_and_back_button_step_backwards(self) -> None:
        self.show("mbarrier", "barriers.html")
        first = self.said()
        self.browser.evaluate(f"document.querySelector('{self.box} input').focus()")
        self.browser.press("ArrowRight")
        self.browser.evaluate(
            f"(() => {{ const s = document.querySelector('{self.box} input'); s.value = 3; s.dispatchEvent(new Event('input')); }})()"
        )
        self.assertNotEqual(self.said(), first)
        for _ in range(5):
            self.button("Back")
        self.assertEqual(self.said(), first)


class Pipeline(Pictures):
    def sources(self) -> list[dict]:
        tools.import_generator()
        from generator.frame import picture_data

        return picture_data(tools.ROOT, "pipeline")["sources"]  # type: ignore[index]

    @staticmethod
    def in_order(tiles: list[dict]) -> list[dict]:
        """The tiles with the place of each event among the events."""
        names = ("issued", "landed", "computed")
        moments = sorted({tile[name] for tile in tiles for name in names})
        return [{**tile, **{name: moments.index(tile[name]) + 1 for name in names}} for tile in tiles]

    def last_bar(self) -> float:
        """Where the last computation ends, in the drawing's own units."""
        return self.browser.evaluate(
            f"Math.max(...[...document.querySelectorAll('{self.box} rect')].map((r) =>"
            " Number(r.getAttribute('x')) + Number(r.getAttribute('width'))))"
        )

    def test_tiles_are_the_records(self) -> None:
        self.show("pipeline", "pipeline.html")
        for number, source in enumerate(self.sources()):
            self.choose(1, number)
            for stages, record in source["stages"].items():
                tiles = record if source["timed"] else self.in_order(record)
                self.choose(0, stages)
                self.press(*["ArrowLeft"] * len(tiles))
                for tile in tiles:
                    self.assertEqual(
                        self.numbers()[:5],
                        [tile["tile"], tile["stage"], tile["issued"], tile["landed"], tile["computed"]],
                    )
                    self.press("ArrowRight")
                whole = f"All {len(tiles)} tiles were computed at {tiles[-1]['computed']}."
                (self.assertIn if source["timed"] else self.assertNotIn)(whole, self.said())

    def test_what_is_shown_first_is_time_and_an_order_is_called_one(self) -> None:
        self.show("pipeline", "pipeline.html")
        drawn = f"{self.box} svg"
        self.assertIn("time →", self.text(drawn))
        self.assertIn("clock cycles", self.text(drawn))
        self.choose(1, next(n for n, source in enumerate(self.sources()) if not source["timed"]))
        self.assertIn("order of events, not time", self.text(drawn))
        self.assertIn("cannot say", self.said())

    def test_all_numbers_of_stages_have_one_scale(self) -> None:
        self.show("pipeline", "pipeline.html")
        for number, source in enumerate(self.sources()):
            self.choose(1, number)
            ends = {}
            for stages, record in source["stages"].items():
                tiles = record if source["timed"] else self.in_order(record)
                self.choose(0, stages)
                ends[tiles[-1]["computed"]] = self.last_bar()
            (least, at), (most, end) = min(ends.items()), max(ends.items())
            left = 70  # where time begins in the drawing
            self.assertAlmostEqual((at - left) / (end - left), least / most, places=3)
            if source["timed"]:
                computed = {stages: tiles[-1]["computed"] for stages, tiles in source["stages"].items()}
                self.assertEqual(max(computed, key=lambda stages: computed[stages]), "1")

    def test_more_stages_let_the_emulator_have_more_copies_under_way(self) -> None:
        stages = data("pipeline")["stages"]
        for count, tiles in stages.items():
            most = max(
                sum(other["issued"] <= tile["issued"] < other["landed"] for other in tiles) for tile in tiles
            )
            self.assertEqual(most, int(count))


if __name__ == "__main__":
    unittest.main()
