"""The interactive pictures of chapters 1 to 4: what they show is compared with what is computed here, in another way."""

import itertools
import json
import math
import unittest

import tools
from browser import Browser
from built_site import site
from cli import requirements
from test_access import violations
from test_pictures import SMALLEST_OF_PICTURES, Pictures, data

PAGES = {"sync_copy.html": ("coalescing", "little"), "cp_async.html": ("groups", "zero_fill"), "barriers.html": ("parity", "fence"), "pipeline.html": ("pipeline", "ring")}
"""Each page with its pictures."""


def setUpModule() -> None:
    First.browser = Browser(tools.need(requirements.BROWSER)).__enter__()
    unittest.addModuleCleanup(First.browser.__exit__, None, None, None)


class First(Pictures):
    """Tests that share one browser with all others of this file."""

    @classmethod
    def setUpClass(cls) -> None:
        pass

    def settle(self) -> None:
        """Until the page has been laid out, and laid out again for what depends on its widths."""
        self.browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))")

    def answer(self, value: object) -> None:
        """Types a number, or presses the button with these words."""
        form = f"document.querySelector('{self.box} .question')"
        if isinstance(value, str):
            self.browser.evaluate(f"[...{form}.querySelectorAll('button')].find((b) => b.textContent === {value!r}).click()")
        else:
            self.browser.evaluate(f"{form}.querySelector('input[type=number]').value = {value}; {form}.requestSubmit()")


def sectors(size: int, offset: int, stride: int) -> int:
    """The sectors of 32 bytes in which any byte of 32 elements lies."""
    return len({(size * (offset + lane * stride) + byte) // 32 for lane in range(32) for byte in range(size)})


class Coalescing(First):
    def test_emulator_counted_what_the_addresses_say(self) -> None:
        for size, rows in data("coalescing")["sectors"].items():
            for offset, row in enumerate(rows):
                self.assertEqual(row, [sectors(int(size), offset, stride) for stride in range(9)], f"{size} {offset}")

    def test_answer_shows_the_sectors(self) -> None:
        for width in (1280, 390):
            self.open("sync_copy.html", width=width)
            self.box = '.picture[data-picture="coalescing"]'
            self.settle()
            heights = {self.height()}
            for size, stride, offset in ((4, 1, 1), (4, 4, 0), (16, 8, 7), (1, 0, 3), (8, 3, 5)):
                for number, value in enumerate((size, stride, offset)):
                    self.choose(number, value)
                self.assertEqual((self.count("rect.chosen"), self.texts("svg .count")), (0, []))
                self.assertNotIn("counts", self.said())
                self.answer(5)
                expected = sectors(size, offset, stride)
                self.assertEqual(self.count("rect.chosen"), expected)
                self.assertEqual(sum(int(text) for text in self.texts("svg .count")), expected)
                self.assertEqual(self.count("rect.wanted"), 32 if stride else 1)
                self.assertRegex(self.said(), rf"The emulator counts {expected} sectors?\. You said {'so' if expected == 5 else '5'}\.")
                self.assertIn(f"{32 * expected} bytes move, and {size * (32 if stride else 1)} of them", self.said())
                heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)

    def test_kernels_of_the_chapter_need_no_question(self) -> None:
        self.show("coalescing", "sync_copy.html")
        self.ask_first(False)
        for kernel, expected in (("loop_coalesced", 4), ("loop_strided", 16), ("vectorized", 16)):
            self.button(kernel)
            self.assertIn(f"counts {expected} sectors. {32 * expected} bytes move", self.said())


class Little(First):
    def test_every_point_is_the_measurement_and_the_law_is_a_product(self) -> None:
        self.show("little", "sync_copy.html")
        tables = json.loads((tools.ROOT / "docs/measurements/h200.json").read_text("utf-8"))["tables"]
        table = tables["little"]
        rows = [dict(zip(table["ids"], row, strict=True)) for row in table["rows"]]
        nanoseconds = next(row[2] for row in tables["latencies"]["rows"] if row[0] == "global memory")
        for row in rows[::5]:
            self.choose(1, row["load_bytes"])
            self.choose(0, row["threads_per_sm"])
            self.choose(2, row["loads"])
            self.assertNotIn("Measured", self.said())
            self.assertEqual(self.count("path.guess") + self.count("rect.chosen"), 0)
            self.answer(777)
            law = row["threads_per_sm"] * row["load_bytes"] * row["loads"] * 132 / nanoseconds
            share = 100 * row["gb_per_s"] / min(law, 4800)
            self.assertIn(f"idle memory: {law:,.0f} GB/s", self.said())
            self.assertIn(f"Measured: {row['gb_per_s']:,.0f} GB/s, {share:.0f} % of what both allow. You said 777.", self.said())
        self.assertEqual(self.count("rect.point"), len(rows[::5]) + 1, "those seen, and the last one twice")
        self.ask_first(False)
        self.assertEqual(self.count("rect.point"), len(rows) + 1)
        places = self.browser.evaluate(
            f"[...document.querySelectorAll('{self.box} rect.point')].map((r) => [r.x, r.y, r.width].map((v) => v.baseVal.value)).map(([x, y, w]) => [x + w / 2, y + w / 2])"
        )[: len(rows)]
        (x0, y0), (x1, y1) = places[0], places[-1]
        for (x, y), row in zip(places, rows, strict=True):
            along = math.log(row["in_flight"] / rows[0]["in_flight"]) / math.log(rows[-1]["in_flight"] / rows[0]["in_flight"])
            up = math.log(row["gb_per_s"] / rows[0]["gb_per_s"]) / math.log(rows[-1]["gb_per_s"] / rows[0]["gb_per_s"])
            self.assertAlmostEqual((x - x0) / (x1 - x0), along, places=3)
            self.assertAlmostEqual((y - y0) / (y1 - y0), up, places=3)

    def test_what_was_not_measured_cannot_be_chosen(self) -> None:
        self.show("little", "sync_copy.html")
        self.choose(2, 2)
        self.choose(1, 4)
        self.assertEqual(
            self.browser.evaluate(f"[...document.querySelectorAll('{self.box} select')[2].options].filter((o) => o.disabled).map((o) => o.value)"), ["2"]
        )
        self.assertIn("1,024 threads with 1 load of 4 bytes", self.said())


class Groups(First):
    def test_emulator_lands_what_the_rules_promise(self) -> None:
        cases = data("groups")["cases"]
        self.assertEqual(len(cases), sum((groups + 1) * 5 for groups in range(1, 6)))
        for case in cases:
            copies = [g != case["empty"] for g in range(case["groups"])]
            sure = [copy and g < case["groups"] - case["pending"] for g, copy in enumerate(copies)]
            self.assertEqual(case["late"], [int(each) for each in sure], case)
            self.assertEqual(case["early"], [int(each) for each in copies], case)

    def test_answer_shows_what_is_sure(self) -> None:
        self.open("cp_async.html", width=390)
        self.box = '.picture[data-picture="groups"]'
        self.settle()
        heights = {self.height()}
        for groups, empty, pending in ((4, -1, 3), (5, 4, 1), (3, 1, 0), (2, -1, 4)):
            for number, value in ((0, groups), (1, empty), (2, pending)):
                self.choose(number, value)
            self.assertEqual(self.texts("svg .result"), [])
            self.answer("2")
            sure = sum(g != empty for g in range(max(0, groups - pending)))
            self.assertEqual(self.texts("svg .result").count("✓ there"), sure)
            self.assertEqual(len(self.texts("svg .result")), groups - (empty >= 0))
            self.assertIn(f"{sure} {'tile is' if sure == 1 else 'tiles are'} sure. You said {'so' if sure == 2 else '2'}.", self.said())
            heights.add(self.height())
        self.assertEqual(len(heights), 1, heights)


class ZeroFill(First):
    def test_emulator_filled_with_zeros_what_lies_past_the_end(self) -> None:
        for left, tile in enumerate(data("zero_fill")["tiles"]):
            self.assertEqual(tile, [at + 1 if at < left else 0 for at in range(16)])

    def test_answer_shows_the_sizes_and_the_tile(self) -> None:
        self.show("zero_fill", "cp_async.html")
        for left, thread in ((9, 2), (0, 0), (16, 3), (3, 0), (6, 3)):
            self.choose(0, left)
            self.choose(1, thread)
            self.assertEqual(self.texts("svg .result"), [])
            self.answer("4 bytes")
            sizes = [4 * min(4, max(0, left - 4 * each)) for each in range(4)]
            self.assertEqual(self.texts("svg .result"), [f"{size} bytes" for size in sizes])
            self.assertIn(f"Its src-size is {sizes[thread]}. You said {'so' if sizes[thread] == 4 else '4 bytes'}.", self.said())
            self.assertIn(f"On the emulator {4 - sizes[thread] // 4} of its 4 floats became zero", self.said())


def lives(steps: list[dict]) -> list[tuple[int, int, int]]:
    """Phase, arrivals missing and bytes missing after each step of an mbarrier's life (PTX ISA, 'Contents of the mbarrier object')."""
    found = []
    phase = expected = pending = transactions = 0
    for step in steps:
        number = step["number"]
        match step["kind"]:
            case "init":
                expected = pending = number
            case "arrive":
                pending -= 1
            case "drop":
                pending, expected = pending - 1, expected - 1
            case "expect":
                transactions += number
            case "arrive expect":
                transactions, pending = transactions + number, pending - 1
            case "land":
                transactions -= number
        if (pending, transactions) == (0, 0):
            phase, pending = phase + 1, expected
        found.append((phase, pending, transactions))
    return found


class Parity(First):
    def test_emulator_answers_as_the_phase_says(self) -> None:
        for life in data("parity")["lives"]:
            states = lives(life["steps"])
            self.assertGreaterEqual(states[-1][0], 2, "two phases end")
            for step, (phase, _, _) in zip(life["steps"], states, strict=True):
                self.assertEqual(step["returns"], [int(phase % 2 != parity) for parity in (0, 1)], life["name"])

    def test_each_step_shows_the_barrier_and_answers(self) -> None:
        self.open("barriers.html", width=390)
        self.box = '.picture[data-picture="parity"]'
        self.settle()
        heights, right, asked = {self.height()}, 0, 0
        for number, life in enumerate(data("parity")["lives"]):
            self.choose(0, number)
            self.button("Back")
            for at, (step, (phase, arrivals, missing)) in enumerate(zip(life["steps"], lives(life["steps"]), strict=True)):
                self.choose(1, at % 2)
                self.assertIn(f"step {at + 1} of {len(life['steps'])}", self.text(f"{self.box} .controls"))
                shown = [self.texts(f"svg .value.{name}")[-1] for name in ("phase", "parity", "arrivals", "bytes")]
                self.assertEqual(shown, [str(value) for value in (phase, phase % 2, arrivals, missing)])
                self.assertNotIn("test_wait", self.said())
                self.answer("returns")
                returns = bool(step["returns"][at % 2])
                right, asked = right + returns, asked + 1
                self.assertIn("It returns: " if returns else "It waits: ", self.said())
                self.assertIn(f"on the emulator: {json.dumps(returns)}. {'You said so.' if returns else 'You said: it returns.'}", self.said())
                self.assertIn(f"Right so far: {right} of {asked}.", self.said())
                heights.add(self.height())
                self.button("Next")
        self.assertEqual(len(heights), 1, heights)

    def test_arrow_keys_step_and_another_question_takes_the_answer_away(self) -> None:
        self.show("parity", "barriers.html")
        self.press("ArrowRight", "ArrowRight", "ArrowLeft")
        self.assertIn("step 3 of 6", self.text(f"{self.box} .controls"))
        self.answer("waits")
        self.assertIn("test_wait", self.said())
        self.button("Ask another")
        self.assertNotIn("test_wait", self.said())


def simulate(copy: int, compute: int, stages: int, units: int) -> tuple[int, int, int]:
    """A pipeline unit by unit: computations begun, computations done, and units in which the threads computed."""
    landing = [copy] * stages  # by stage: the units until its copy has landed
    begun = done = busy = left = 0
    for _ in range(units):
        if left == 0 and landing[begun % stages] == 0:
            begun, left = begun + 1, compute
        landing = [max(0, wait - 1) for wait in landing]
        if left:
            busy, left = busy + 1, left - 1
            if left == 0:
                landing[done % stages], done = copy, done + 1
    return begun, done, busy


class Pipeline(First):
    def test_model_is_that_of_a_simulation(self) -> None:
        self.open("pipeline.html", width=390)
        self.box = '.picture[data-picture="pipeline"]'
        self.settle()
        heights = {self.height()}
        for copy, compute, stages in ((3, 1, 4), (7, 1, 8), (2, 3, 2), (5, 4, 1), (7, 4, 3)):
            for number, value in enumerate((copy, compute, stages)):
                self.choose(number, value)
            self.assertEqual((self.count("rect.model"), self.count("path.law"), self.texts("svg .knee")), (0, 0, []))
            self.answer("3")
            begun, done, _ = simulate(copy, compute, stages, 32)
            self.assertEqual(self.count("rect.thread.compute"), begun)
            self.assertIn(f"{done} tiles are done after 32 units", self.said())
            long = [simulate(copy, compute, count, 10_000)[2] / 10_000 for count in range(1, 9)]
            enough = next(count for count, part in enumerate(long, 1) if part > 0.99)
            self.assertIn(f"{enough} stages are enough. You said {'so' if enough == 3 else '3'}.", self.said())
            for part, shown in zip(long, self.shares("rect.model"), strict=True):
                self.assertAlmostEqual(part, shown, delta=0.005)
            heights.add(self.height())
        self.assertEqual(len(heights), 1, heights)

    def shares(self, selector: str) -> list[float]:
        """What the bars or dots say, and their heights: the same."""
        given = self.browser.evaluate(
            f"[...document.querySelectorAll('{self.box} {selector}')].map((r) => [Number(r.dataset.share), r.y.baseVal.value + (r.rx.baseVal.value ? 6 : 0)])"
        )
        axis = self.browser.evaluate(f"[...document.querySelectorAll('{self.box} line.grid')].map((l) => l.y1.baseVal.value)")
        for share, y in given:
            self.assertAlmostEqual((axis[0] - y) / (axis[-1] - axis[0]), -share, places=3)
        return [share for share, _ in given]

    def test_dots_are_the_measurements(self) -> None:
        self.show("pipeline", "pipeline.html")
        table = json.loads((tools.ROOT / "docs/measurements/h200.json").read_text("utf-8"))["tables"]["pipeline_stages"]
        rows = [dict(zip(table["ids"], row, strict=True)) for row in table["rows"]]
        self.ask_first(False)
        for number, work in enumerate((1, 16, 64)):
            self.choose(3, number)
            rates = [
                row["gb_per_s"] for row in rows
                if row["kernel"] == "n_stages" and row["blocks_per_sm"] == 1 and row["work"] == work
            ]
            self.assertEqual(len(rates), 6)
            for rate, shown in zip(rates, self.shares("rect.point"), strict=True):
                self.assertAlmostEqual(rate / max(rates), shown, places=6)
            self.assertIn(f"{100 * rates[0] / max(rates):.0f} % with 1, ", self.said())


def outcomes(case: dict) -> list[bool]:
    """For each order of the four accesses that a hand-over allows: whether the reader gets the old value."""
    found = []
    for order in itertools.permutations(("write value", "raise", "look", "read value")):
        at = {step: place for place, step in enumerate(order)}
        allowed = not case["writer"] or at["write value"] < at["raise"]
        allowed &= not case["reader"] or at["look"] < at["read value"]
        if case["wait"] == "flag":
            allowed &= at["raise"] < at["look"]
        if case["wait"] == "barrier":
            allowed &= max(at["write value"], at["raise"]) < min(at["look"], at["read value"])
        if allowed:
            found.append(at["read value"] < at["write value"])
    return found


class Fence(First):
    def test_emulator_reports_where_an_order_gives_the_old_value(self) -> None:
        cases = data("fence")["cases"]
        self.assertEqual({bool(case["found"]) for case in cases}, {False, True})
        for case in cases:
            self.assertEqual(case["found"], ["race-shared"] if any(outcomes(case)) else [], case["name"])

    def test_answer_shows_every_order(self) -> None:
        self.open("barriers.html", width=390)
        self.box = '.picture[data-picture="fence"]'
        self.settle()
        heights = {self.height()}
        for number, case in enumerate(data("fence")["cases"]):
            self.choose(0, number)
            self.assertEqual((self.texts("svg .result"), self.texts("svg .code").count("fence")), ([], case["writer"] + case["reader"]))
            self.answer("yes")
            expected = outcomes(case)
            self.assertEqual(sorted(self.texts("svg .result")), sorted("OLD" if old else "new" for old in expected))
            self.assertIn(f"{len(expected)} order{'s' * (len(expected) > 1)} can happen", self.said())
            self.assertIn("You said so. The emulator reports race-shared." if any(expected) else "You said yes. The emulator has nothing to report.", self.said())
            heights.add(self.height())
        self.assertEqual(len(heights), 1, heights)


class Ring(First):
    @staticmethod
    def events(tiles: list[dict]) -> list[tuple[str, int]]:
        """What happened, in order."""
        found = [(tile[kind], kind, tile["tile"]) for tile in tiles for kind in ("issued", "landed", "computed")]
        return [(kind, tile) for _, kind, tile in sorted(found)]

    def test_emulator_keeps_the_rules_of_a_ring(self) -> None:
        for stages, tiles in data("ring")["stages"].items():
            held: list[int] = []
            most, landed = 0, -1
            for kind, tile in self.events(tiles):
                if kind == "issued":
                    held.append(tile)
                elif kind == "landed":
                    self.assertIn(tile, held)
                    landed = tile
                else:
                    self.assertEqual((held.pop(0), landed), (tile, tile), "first in, first out, and none before it has landed")
                self.assertLessEqual(len(held), int(stages))
                most = max(most, len(held))
            self.assertEqual(most, int(stages), "the ring is full at some time")

    def test_each_event_shows_the_ring_and_answers(self) -> None:
        self.open("pipeline.html", width=390)
        self.box = '.picture[data-picture="ring"]'
        self.settle()
        heights = {self.height()}
        for stages in (2, 4):
            self.choose(0, stages)
            self.press(*["ArrowLeft"] * 24)
            held: dict[int, str] = {}
            for at, (kind, tile) in enumerate(self.events(data("ring")["stages"][str(stages)])[:14], 1):
                self.button("Next")
                if kind == "computed":
                    del held[tile]
                else:
                    held[tile] = "landed" if kind == "landed" else "copy under way"
                by_stage = {each % stages: (f"tile {each}", what) for each, what in held.items()}
                shown = list(zip(self.texts("svg .tile"), self.texts("svg .status"), strict=True))
                self.assertEqual(shown, [by_stage.get(stage, ("free", "")) for stage in range(stages)])
                self.assertNotIn("It ", self.said())
                self.choose(1, at % 2)
                self.answer("waits")
                returns = len(held) < stages if at % 2 == 0 else "landed" in held.values()
                self.assertIn("It returns: " if returns else "It waits: ", self.said())
                self.assertTrue(self.said().endswith("You said: it waits." if returns else "You said so."))
                heights.add(self.height())
        self.assertEqual(len(heights), 1, heights)
        self.assertEqual(self.count("svg .end"), 4)


class Everybody(First):
    """Who can use them."""

    def test_axe_sees_no_barrier_and_words_can_be_read_on_a_phone(self) -> None:
        axe = tools.need(requirements.AXE).read_text("utf-8")
        for page, names in PAGES.items():
            for width, dark in ((1280, False), (390, True)):
                self.browser.shape(width, dark=dark)
                self.assertEqual(self.browser.open((site() / page).as_uri()), [])
                self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('.picture')].map((p) => p.dataset.picture)"), list(names))
                self.settle()
                self.assertGreaterEqual(self.browser.evaluate(SMALLEST_OF_PICTURES), 11, page)
                self.assertEqual(violations(self.browser, axe, "'.picture'"), [], f"{page} {width}")


if __name__ == "__main__":
    unittest.main()
