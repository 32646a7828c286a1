"""The interactive pictures of chapters 5 to 8: what they show is compared with what is computed here, in another way."""

import json
import unittest
from collections import Counter

import tools
from browser import Browser
from built_site import site
from cli import requirements
from test_access import violations
from test_pictures import SMALLEST_OF_PICTURES, Pictures, data

PAGES = {
    "tma_1d.html": ("proxies", "store_waits"),
    "tma_2d.html": ("tensor_box", "map_rules", "im2row"),
    "swizzle.html": ("bank_turns", "xor_bits"),
    "transpose.html": ("walk_order", "rungs"),
}
"""Each page with its pictures."""


def setUpModule() -> None:
    Second.browser = Browser(tools.need(requirements.BROWSER)).__enter__()
    unittest.addModuleCleanup(Second.browser.__exit__, None, None, None)


class Second(Pictures):
    """Tests that share one browser with all others of this file."""

    @classmethod
    def setUpClass(cls) -> None:
        site()

    def show_at(self, name: str, page: str, width: int) -> None:
        self.open(page, width=width)
        self.box = f'.picture[data-picture="{name}"]'
        self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")

    def slide(self, value: int) -> None:
        self.browser.evaluate(
            f"(() => {{ const s = document.querySelector('{self.box} input[type=range]'); s.value = {value}; s.dispatchEvent(new Event('input')); }})()"
        )

    def answer(self, number: int) -> None:
        form = f"document.querySelector('{self.box} .question')"
        self.browser.evaluate(f"{form}.querySelector('input[type=number]').value = {number}; {form}.requestSubmit()")


def swizzled(address: int, mode: int) -> int:
    """By PTX ISA, 'Tensor Swizzling Modes': bits 7 and up go into bits 4 and up; modes 0 to 3 have as many of them."""
    for bit in range(mode):
        address ^= (address >> 7 + bit & 1) << 4 + bit
    return address


def turns(addresses: list[int], size: int) -> int:
    """Turns of a warp's read: 128 bytes are served at a time, in a turn each bank delivers one word."""
    together, total = 128 // size, 0
    for first in range(0, len(addresses), together):
        words = {address // 4 + word for address in addresses[first : first + together] for word in range(size // 4)}
        total += max(Counter(word % 32 for word in words).values())
    return total


class XorBits(Second):
    def test_copies_put_chunks_where_the_rule_says(self) -> None:
        for number, mode in enumerate(data("xor_bits")["modes"], 1):
            self.assertEqual(mode["width"], 16 << number)
            for offset, rows in enumerate(mode["offsets"]):
                begin = 128 * offset
                expected = [[swizzled(begin + row * mode["width"] + 16 * chunk, number) for chunk in range(1 << number)] for row in range(1024 // mode["width"])]
                self.assertEqual(rows, expected)

    def test_bits_and_places_are_those_of_the_address(self) -> None:
        for width in (1280, 390):
            self.show_at("xor_bits", "swizzle.html", width)
            heights = set()
            for mode, base, row, chunk in ((3, 0, 5, 2), (2, 640, 7, 3), (1, 128, 31, 1), (3, 896, 7, 7)):
                self.choose(0, mode - 1)
                self.slide(base)
                self.press(*["ArrowUp"] * 31, *["ArrowLeft"] * 7, *["ArrowDown"] * row, *["ArrowRight"] * chunk)
                plain = base + row * (16 << mode) + 16 * chunk
                lands = swizzled(plain, mode)
                self.assertIn(f"at byte {plain}, at place {plain // 16 % 8} of line {plain // 128}.", self.said())
                self.assertNotIn("put it at", self.said())
                self.assertNotIn("⊕", " ".join(self.texts("svg text")))
                place = lands // 16 % 8
                guess = place if mode == 3 else (place + 1) % 8
                self.button(str(guess))
                self.assertIn(f"The copy put it at byte {lands}, at place {place} of the same line.", self.said())
                self.assertIn("You said so." if guess == place else f"You said place {guess}.", self.said())
                self.assertIn(f"bit{'s' if mode > 1 else ''} {6 + mode}", self.said())
                shown = "".join(self.texts("svg text"))
                self.assertIn(f"lands{lands:011b}", shown)
                self.assertIn(f"plain{plain:011b}", shown)
                self.assertIn(f"XOR{plain // 128 % (1 << mode):0{mode}b}", shown)
                heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)

    def test_numbers_of_lines_stay_when_the_tile_moves(self) -> None:
        self.show_at("xor_bits", "swizzle.html", 1280)
        self.ask_first(False)
        seen = []
        for base in (0, 384):
            self.slide(base)
            seen.append([text for text in self.texts("svg text") if text.startswith("⊕")])
        self.assertEqual(seen[0], [f"⊕ {line % 8}" for line in range(15)])
        self.assertEqual(seen[0], seen[1])


class BankTurns(Second):
    def test_emulator_counted_what_the_addresses_say(self) -> None:
        given = data("bank_turns")
        seen = []
        for box in given["boxes"]:
            pitch = (box["row_bytes"], 32, 64, 128)[box["mode"]]
            self.assertEqual(box["column"], [swizzled(row * pitch, box["mode"]) for row in range(32)])
            self.assertEqual(box["wavefronts"], [turns(box["column"], size) for size in given["reads"]])
            seen.append((box["row_bytes"], box["mode"]))
        self.assertEqual(seen, [(rows, mode) for rows in (32, 64, 128) for mode in range(4) if mode == 0 or rows <= 16 << mode])

    def test_wavefronts_are_played_side_by_side(self) -> None:
        names = ("no swizzle", "32-byte mode", "64-byte mode", "128-byte mode")
        for width in (1280, 390):
            self.show_at("bank_turns", "swizzle.html", width)
            heights = {self.height()}
            for rows, read in ((32, 0), (128, 1), (64, 0)):
                self.choose(0, rows)
                self.choose(1, read)
                self.assertEqual(self.count("rect[data-lane]"), 0)
                self.button("8")
                self.button("To the end")
                counted = {box["mode"]: box["wavefronts"][read] for box in data("bank_turns")["boxes"] if box["row_bytes"] == rows}
                self.assertIn("counted: " + ", ".join(f"{names[mode]}: {count}" for mode, count in counted.items()) + ".", self.said())
                self.assertIn(f"You said 8 for the {rows}-byte mode.", self.said())
                self.assertEqual(self.count("rect[data-lane]"), 32 * len(counted))
                self.assertEqual([text for text in self.texts("svg text") if text.endswith("wavefronts")], [f"{count} wavefronts" for count in counted.values()])
                heights.add(self.height())
                for _ in range(max(counted.values()) - 1):
                    self.button("Back")
                together = 128 // (4, 16)[read]
                first = sum(len({at // 16 % 8 for at in box["column"][:together]}) for box in data("bank_turns")["boxes"] if box["row_bytes"] == rows)
                self.assertEqual(self.count("rect[data-lane]"), first, "one lane of each group of banks in the first wavefront")
                heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)

    def test_playing_comes_to_an_end_by_itself(self) -> None:
        self.show_at("bank_turns", "swizzle.html", 1280)
        self.choose(0, 32)
        self.button("4")
        self.browser.evaluate("new Promise((done) => setTimeout(done, 2000))")
        self.assertIn("You said so.", self.said())


class TensorBox(Second):
    def corner(self) -> tuple[int, int]:
        x, y, *_ = self.numbers()
        return x, y

    def test_emulator_loaded_counted_and_stored_what_the_rule_says(self) -> None:
        given = data("tensor_box")
        width, height, pitch, wide, high = (given[name] for name in ("width", "height", "pitch", "box_width", "box_height"))
        element = lambda x, y: y * width + x + 1 if 0 <= x < width and 0 <= y < height else 0  # noqa: E731
        self.assertEqual(given["counted_bytes"], 4 * wide * high)
        for corner in given["corners"]:
            x, y = corner["x"], corner["y"]
            tile = [element(x + i, y + j) for j in range(high) for i in range(wide)]
            self.assertEqual(corner["tile"], tile)
            if x < 0 or y < 0:
                self.assertIsNone(corner["memory"])
                continue
            memory = list(given["memory"])
            for number, value in enumerate(tile):
                to_x, to_y = x + number % wide, y + number // wide
                if to_x < pitch and to_y < height:  # A row of 56 bytes is stored up to the next multiple of 16.
                    memory[to_y * pitch + to_x] = value + given["added"]
            self.assertEqual(corner["memory"], memory)

    def test_box_brings_counts_and_stores_what_the_program_saw(self) -> None:
        given = data("tensor_box")
        for width in (1280, 390):
            self.show_at("tensor_box", "tma_2d.html", width)
            heights = {self.height()}
            for keys in ((), ("ArrowLeft",) * 9 + ("ArrowUp",) * 20, ("ArrowDown",) * 3, ("ArrowRight",) * 2, ("ArrowDown",) * 20):
                self.press(*keys)
                corner = next(each for each in given["corners"] if (each["x"], each["y"]) == self.corner())
                self.assertNotIn("zeros", self.said())
                self.assertNotIn("0", self.texts("svg text"))
                zeros = corner["tile"].count(0)
                self.answer(zeros if keys else 1)
                self.assertIn(f"{32 - zeros} of 32 elements lie in the matrix, {zeros} are filled with zeros. You said {'so' if keys else '1'}.", self.said())
                self.assertIn(f"counts {given['counted_bytes']} bytes", self.said())
                heights.add(self.height())
                if corner["memory"] is None:
                    self.assertIn("must not begin before the matrix", self.said())
                    continue
                changed = [at for at, value in enumerate(corner["memory"]) if value != given["memory"][at]]
                padding = sum(at % given["pitch"] >= given["width"] for at in changed)
                self.assertRegex(self.said(), rf"changes {len(changed) - padding} elements? and {padding} words? of padding")
                self.assertEqual(self.count("rect.wrong"), 0)
                self.button("Store the box")
                self.assertEqual((self.count("rect.wrong"), self.count("rect.compute")), (padding, len(changed) - padding))
            self.assertEqual(len(heights), 1, heights)

    def test_store_shows_the_memory_after_it(self) -> None:
        self.show_at("tensor_box", "tma_2d.html", 1280)
        corner = next(each for each in data("tensor_box")["corners"] if (each["x"], each["y"]) == self.corner())
        self.answer(0)
        self.button("Store the box")
        stored = {str(value) for value in corner["memory"] if value >= 1000}
        self.assertTrue(stored)
        self.assertLessEqual(stored, set(self.texts("svg text")))
        self.button("Before the store")
        self.assertFalse(stored & set(self.texts("svg text")))

    def test_what_cannot_be_stored_was_not_stored(self) -> None:
        self.show_at("tensor_box", "tma_2d.html", 1280)
        self.ask_first(False)
        self.button("Store the box")
        self.press(*["ArrowLeft"] * 4)
        self.assertIn("must not begin before the matrix", self.said())
        state = f"(() => {{ const store = [...document.querySelectorAll('{self.box} .controls button')].at(-1); return [store.textContent, store.disabled]; }})()"
        self.assertEqual(self.browser.evaluate(state), ["Store the box", True])
        self.press("ArrowRight")
        self.assertEqual(self.browser.evaluate(state), ["Store the box", False])

    def test_box_is_in_sight_and_follows_buttons_and_pointer(self) -> None:
        for width in (390, 1280):
            self.show_at("tensor_box", "tma_2d.html", width)
            self.browser.evaluate(f"document.querySelector('{self.box} svg').scrollIntoView()")
            part, whole = f"document.querySelector('{self.box} .held').getBoundingClientRect()", f"document.querySelector('{self.box}').getBoundingClientRect()"
            seen = self.browser.evaluate(f"(() => {{ const [a, b] = [{part}, {whole}]; return [a.left > b.left, a.right < b.right, a.left + 3, a.top + 3, a.width / 8]; }})()")
            self.assertEqual(seen[:2], [True, True])
            x, y = self.corner()
            mouse = lambda kind, dx, dy: self.browser.call(  # noqa: E731
                "Input.dispatchMouseEvent", type=kind, x=seen[2] + dx * seen[4], y=seen[3] + dy * seen[4], button="left", buttons=1, clickCount=1)
            mouse("mousePressed", 0, 0)
            mouse("mouseMoved", -4, -1)
            mouse("mouseMoved", -8, -2)
            mouse("mouseReleased", -8, -2)
            mouse("mouseMoved", 0, 0)
            self.assertEqual(self.corner(), (x - 8, y - 2))
            self.button("box to the right")
            self.button("box up")
            self.assertEqual(self.corner(), (x - 4, y - 3))


class MapRules(Second):
    def given(self) -> list[dict]:
        return data("map_rules")["cases"]

    def put(self, case: dict) -> None:
        """Types the case into the fields."""
        for number, value in enumerate((case["element_bytes"], case["rank"], case["swizzle"])):
            self.choose(number, value)
        fields = {f"{title}, dimension {i}": value for title, name in (("size", "dims"), ("stride", "strides"), ("box", "box"), ("step", "steps"))
                  for i, value in enumerate(case[name])}
        self.browser.evaluate(
            f"Object.entries({json.dumps(fields)}).forEach(([name, value]) => {{ const field = document.querySelector(`{self.box} [aria-label=\"${{name}}\"]`);"
            " field.value = value; field.dispatchEvent(new Event('input')); })"
        )

    def test_builder_and_driver_agree(self) -> None:
        answers = {bool(case["builder"]) for case in self.given()}
        self.assertEqual(answers, {True, False})
        for case in self.given():
            self.assertEqual(bool(case["builder"]), case["driver"] == 1, case)
            if not case["builder"]:  # The rule of the programming guide, counted here another way.
                elements = 1
                for i, side in enumerate(case["box"]):
                    elements *= len(range(0, side, case["steps"][i] if i else 1))
                self.assertEqual(case["counted"], elements * case["element_bytes"], case)

    def test_picture_says_what_builder_and_driver_say(self) -> None:
        self.show_at("map_rules", "tma_2d.html", 1280)
        for case in self.given():
            self.put(case)
            self.assertNotRegex(self.said(), "The driver (takes|says)")
            self.assertEqual(self.count("td.broken"), 0)
            self.button("takes it")
            if case["builder"]:
                self.assertIn(f"CUDA_ERROR_INVALID_VALUE. You said the opposite. The builder of this book: {case['builder']}.", self.said())
                self.assertGreater(self.count("td.broken"), 0)
            else:
                self.assertEqual(self.said(), f"The driver takes it. You said so. A copy moves {case['counted']} bytes, and its barrier counts as many.")
                self.assertEqual(self.count("td.broken"), 0)

    def test_all_broken_rules_are_marked(self) -> None:
        self.show_at("map_rules", "tma_2d.html", 1280)
        self.put(self.given()[-1])
        self.button("refuses it")
        marked = self.browser.evaluate(f"[...document.querySelectorAll('{self.box} [aria-invalid=true]')].map((field) => field.getAttribute('aria-label'))")
        self.assertEqual(sorted(marked), ["box, dimension 0", "box, dimension 1", "step, dimension 1", "stride, dimension 0", "stride, dimension 1"])
        self.assertIn("You said so.", self.said())

    def test_maps_are_asked_one_after_the_other_and_nothing_jumps(self) -> None:
        for width in (1280, 390):
            self.show_at("map_rules", "tma_2d.html", width)
            heights = set()
            for case in [*self.given()[1 : data("map_rules")["asked"]], self.given()[0]]:
                self.button("takes it")
                self.assertIn("The driver says" if case["builder"] else "The driver takes it", self.said())
                heights.add(self.height())
                self.button("Next map")
            self.assertEqual(len(heights), 1, heights)
            fits = f"(() => {{ const part = document.querySelector('{self.box} .drawing'); return part.scrollWidth <= part.clientWidth; }})()"
            self.assertIs(self.browser.evaluate(fits), True)


class Proxies(Second):
    @staticmethod
    def sure(loaded: int, fence: int, meet: int, chunk: int) -> bool:
        """By PTX ISA, 'Async Proxy': thread `chunk` wrote; a proxy fence has to lie between that and the issue by thread 0."""
        if loaded:
            return True  # The async proxy wrote, and thread 0 has seen the completion.
        known = chunk == 0 or bool(meet)  # Thread 0 knows of the write.
        return known and (fence in (2, 3) or fence == 1 and chunk == 0)

    def test_emulator_finds_what_the_rule_says(self) -> None:
        for each in data("proxies")["variants"]:
            where = (each["loaded"], each["fence"], each["meet"])
            self.assertEqual([name is None for name in each["found"]], [self.sure(*where, chunk) for chunk in range(8)], where)
            self.assertEqual(each["message"] is None, all(name is None for name in each["found"]))
            self.assertLessEqual(set(each["found"]), {None, "missing-proxy-fence", "race-shared"})
            if each["meet"]:
                self.assertNotIn("race-shared", each["found"])

    def test_store_sees_what_is_ordered(self) -> None:
        for width in (1280, 390):
            self.show_at("proxies", "tma_1d.html", width)
            heights = set()
            for each in data("proxies")["variants"][:: 1 if width == 390 else 3]:
                for number, value in enumerate((each["loaded"], each["fence"], each["meet"])):
                    self.choose(number, value)
                self.assertEqual(self.texts("svg text").count("?"), 8)
                expected = sum(self.sure(each["loaded"], each["fence"], each["meet"], chunk) for chunk in range(8))
                self.assertIn(expected, (0, 1, 8))
                self.button("one")
                texts = self.texts("svg text")
                self.assertEqual((texts.count("new"), texts.count("old?"), self.count("svg line")), (expected, 8 - expected, expected))
                self.assertIn({0: "none of the 8 chunks. You said one.", 1: "1 of the 8 chunks. You said so.", 8: "all 8 chunks. You said one."}[expected], self.said())
                self.assertIn(each["message"] or "finds nothing wrong", self.said())
                code = self.text(f"{self.box} .code")
                self.assertEqual(("fence_proxy_async" in code, "__syncthreads" in code, "load(tile" in code), (each["fence"] > 0, bool(each["meet"]), bool(each["loaded"])))
                heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)


class StoreWaits(Second):
    NEEDED = (1, 1, 2, 1)
    """By what follows, the weakest wait: 0 none, 1 that for the read, 2 that for all (PTX ISA, 'cp.async.bulk.wait_group')."""

    def test_emulator_finds_what_the_rule_says(self) -> None:
        found = {(each["use"], each["wait"]): each["found"] is None for each in data("store_waits")["variants"]}
        self.assertEqual(found, {(use, wait): wait >= least for use, least in enumerate(self.NEEDED) for wait in range(3)})

    def test_answers_are_judged(self) -> None:
        names = ("no wait is needed", "wait_group.read", "wait_group")
        for width in (1280, 390):
            self.show_at("store_waits", "tma_1d.html", width)
            heights = set()
            for use, least in enumerate(self.NEEDED):
                self.choose(0, use)
                self.assertEqual(self.texts(".reply"), ["?"] * 3)
                self.button(names[1])
                replies = self.texts(".reply")
                self.assertEqual([text.startswith("✓") for text in replies], [wait >= least for wait in range(3)])
                self.assertIn(f"accepts is {names[least]}. " + ("You said so." if least == 1 else f"You said: {names[1]}."), self.said())
                heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)
            self.assertIs(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)


class Rungs(Second):
    def test_emulator_counted_what_the_layouts_say(self) -> None:
        """On 128 x 128 floats: 512 requests of 32 lanes with 4 bytes, or 128 with 16, to write a tile and as many to read it."""
        column = {
            "shared_tile": turns([128 * row for row in range(32)], 4), "padded_tile": turns([132 * row for row in range(32)], 4),
            "tma_plain": turns([128 * row for row in range(32)], 4), "tma_swizzled": turns([swizzled(128 * row, 3) for row in range(32)], 4),
        }  # fmt: skip
        column["tma_batched"] = column["tma_swizzled"]
        for each in data("rungs")["rungs"]:
            name = each["kernel"]
            self.assertEqual(each["store_sectors"], 128 * 128 if name == "global_only" else 128 * 128 * 4 // 32, name)
            if name in column:
                self.assertEqual(each["wavefronts"], 512 * (1 + column[name]), name)
            elif name == "global_only":
                self.assertEqual(each["wavefronts"], 0)
            elif name != "tma_persistent":  # Its PTX splits a store: the chapter's text says so.
                self.assertEqual(each["wavefronts"], 128 * (4 + 4), name)
            legs = {"global_to_registers", "registers_to_global"} if not name.startswith("tma") else {"tensor_load", "tensor_store"}
            if name != "global_only":
                legs |= {"registers_to_shared", "shared_to_registers"}
            self.assertEqual(each["bytes"], dict.fromkeys(legs, 4 * 128 * 128), name)

    def test_rates_are_the_measured_ones(self) -> None:
        table = json.loads((tools.ROOT / "docs/measurements/h200.json").read_text("utf-8"))["tables"]["ladder_large"]
        rates = {row[0]: (row[table["ids"].index("gb_per_s")], row[table["ids"].index("share")]) for row in table["rows"]}
        self.assertEqual({each["kernel"]: (each["gb_per_s"], each["share"]) for each in data("rungs")["rungs"]},
                         {name: rate for name, rate in rates.items() if name not in ("any_matrix", "cuBLAS geam", "device-to-device copy")})

    def test_two_rungs_are_compared(self) -> None:
        rungs = data("rungs")["rungs"]
        for width in (1280, 390):
            self.show_at("rungs", "transpose.html", width)
            heights = {self.height()}
            for pair in ((0, 1), (7, 10), (9, 11), (8, 4), (3, 2)):
                for side in (0, 1):
                    self.choose(side, pair[side])
                first, second = (rungs[number] for number in pair)
                self.assertEqual(self.count("rect[data-share]"), 0)
                self.assertNotIn("GB/s", self.said() + "".join(self.texts("svg text")))
                self.assertEqual(self.count("path[data-leg]"), len(first["bytes"]) + len(second["bytes"]))
                cells = [int(text.replace(",", "")) for text in self.texts("td.number")]
                self.assertEqual(cells, [each[name] for name in ("store_sectors", "wavefronts", "instructions") for each in (first, second)])
                heights.add(self.height())
                self.button("the first")
                better, worse = sorted((first, second), key=lambda each: -each["gb_per_s"])
                self.assertIn(f"On an H200 {better['kernel']} is faster: {round(better['gb_per_s']):,} GB/s against {round(worse['gb_per_s']):,} GB/s", self.said())
                self.assertIn("You said so." if better is first else "You said the other one.", self.said())
                shares = self.browser.evaluate(f"[...document.querySelectorAll('{self.box} rect[data-share]')].map((r) => r.width.baseVal.value)")
                self.assertAlmostEqual(shares[0] / shares[1], first["share"] / second["share"], places=3)
                heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)
            self.assertIs(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)

    def test_a_store_that_only_the_ptx_splits_is_not_held_against_a_rung(self) -> None:
        rungs = data("rungs")["rungs"]
        self.show_at("rungs", "transpose.html", 1280)
        for side, kernel in enumerate(("tma_micro_tiles", "tma_persistent")):
            self.choose(side, next(number for number, each in enumerate(rungs) if each["kernel"] == kernel))
        self.button("the first")
        self.assertIn("It has fewer warp instructions.", self.said())
        self.assertIn("in machine code it is one, and the wavefronts are 1,024.", self.texts("p.help")[0])


class Everybody(Second):
    """Who can use them."""

    def test_axe_sees_no_barrier_and_words_can_be_read_on_a_phone(self) -> None:
        axe = tools.need(requirements.AXE).read_text("utf-8")
        for page, names in PAGES.items():
            for width, dark in ((1280, False), (390, True)):
                self.browser.shape(width, dark=dark)
                self.assertEqual(self.browser.open((site() / page).as_uri()), [])
                self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('.picture')].map((p) => p.dataset.picture)"), list(names))
                self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")
                self.assertGreaterEqual(self.browser.evaluate(SMALLEST_OF_PICTURES), 11, page)
                self.assertEqual(violations(self.browser, axe, "'.picture'"), [], f"{page} {width}")


if __name__ == "__main__":
    unittest.main()
