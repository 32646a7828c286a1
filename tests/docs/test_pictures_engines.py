"""The pictures of clusters, roles, wgmma and the ladder: their states, driven in a browser, against values computed here.

Where a rule is known, as the one that says which thread holds which accumulator, it is written down here once more and
compared with all of what the emulator said.
"""

import json
import re
import unittest
from itertools import product
from math import ceil

import tools
from cli import requirements
from test_access import violations
from test_pictures import SMALLEST_WORDS, Pictures, data

PAGES = {
    "clusters.html": ("cluster_window", "cluster_lifetime", "cluster_multicast", "cluster_push"),
    "roles.html": ("ring_roles", "register_budget"),
    "wgmma.html": ("wgmma_accumulators", "wgmma_descriptor", "wgmma_order"),
    "gemm.html": ("gemm_order", "gemm_ladder", "gemm_waves"),
}
PART = 1 << 24
"""Bytes of a block's part of the shared address window."""
EVERY, EVER, UNANNOUNCED = "every block gets what it waits for", "a block waits for ever", "bytes come that nobody announced"
WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def swizzled(address: int, width: int) -> int:
    """Bits 7 and up of an address, as many as the mode has, are XORed into those from bit 4 on (CUDA guide, swizzle modes)."""
    return address ^ (address >> 7 & {0: 0, 32: 1, 64: 3, 128: 7}[width]) << 4


def chunk(case: dict, outer: int, group: int) -> int:
    """The chunk of 16 bytes that a descriptor leads to (PTX ISA, 'Strides'): K-major by row and half of k, else by k and 8 rows."""
    width, leading, stride = case["swizzle"], case["leading"], case["stride"]
    if not width:
        along, across = (leading, stride) if case["major"] == "K" else (stride, leading)
        return (case["start"] + outer // 8 * across + group * along + outer % 8 * 16) // 16
    panel = group * 16 // width
    return swizzled(case["start"] + outer // 8 * stride + outer % 8 * width + group * 16 % width + panel * leading, width) // 16


def holder(row: int, column: int) -> tuple[int, int]:
    """Thread and accumulator of an element of D (PTX ISA, 'Register Fragments' of wgmma)."""
    return row // 16 * 32 + row % 8 * 4 + column % 8 // 2, column // 8 * 4 + row % 16 // 8 * 2 + column % 2


def multicast_end(mask: int, armed: int) -> str:
    return EVER if armed & ~mask else UNANNOUNCED if mask & ~armed else EVERY


class Engines(Pictures):
    def answer(self, text: str | float) -> None:
        """Gives the answer to the picture's question: presses a button, or types a number."""
        self.browser.evaluate(
            f"(() => {{ const form = document.querySelector('{self.box} .question'), words = {json.dumps(str(text))};"
            "const one = [...form.querySelectorAll('.answers button')].find((b) => b.textContent === words);"
            "if (one) return one.click();"
            "form.querySelector('[type=number]').value = words; form.querySelector('[type=submit]').click(); })()"
        )

    def all_of(self, selector: str) -> list[str]:
        return self.browser.evaluate(f"[...document.querySelectorAll('{self.box} {selector}')].map((node) => node.textContent)")

    def tick(self, number: int) -> None:
        self.browser.evaluate(f"document.querySelectorAll('{self.box} .controls [type=checkbox]')[{number}].click()")

    # ---- clusters

    def test_addresses_are_the_rank_and_the_offset(self) -> None:
        self.show("cluster_window", "clusters.html")
        given = data("cluster_window")
        for by, rank, place in ((1, 3, 1), (0, 0, 0), (3, 2, 3), (2, 1, 2)):
            for number, value in enumerate((by, rank, place)):
                self.choose(number, value)
            variable, element = [(0, 0), (0, 5), (0, given["tile_size"] - 1), (1, 0)][place]
            address = rank * PART + given["blocks"][0]["own"][variable] % PART + 4 * element
            self.assertIn("?", self.all_of(".card .mono"), "nothing is shown before the answer")
            self.answer(f"0x{address:07x}")
            self.assertIn(f"mapa gives 0x{address:07x}: {rank} times", self.said())
            self.assertIn(f"says {rank}.", self.said())
            self.assertIn("That is what you said", self.said())
            self.assertEqual(self.all_of(".card.chosen strong")[0].removesuffix(", asks"), f"rank {rank}")
        for block, one in enumerate(given["blocks"]):
            self.assertEqual([address // PART for address in one["own"]], [block, block])

    def test_multicasts_end_as_mask_and_announcements_say(self) -> None:
        cases = data("cluster_multicast")["cases"]
        names = {"deadlock": EVER, "tx-count-mismatch": UNANNOUNCED}
        for mask, armed in product(range(16), repeat=2):
            case = cases[mask << 4 | armed]
            self.assertEqual(names.get((case["found"] or [""])[0], EVERY), multicast_end(mask, armed), (mask, armed))
            if not case["found"]:
                self.assertEqual(case["read"], 256 if mask else 0)
                self.assertEqual([block[:2] for block in case["blocks"]], [[256 * (mask >> rank & 1)] * 2 for rank in range(4)])
        self.show("cluster_multicast", "clusters.html")
        mask, armed = 0b0111, 0b0011
        for rank, which in ((2, 1), (1, 0), (1, 1), (3, 1), (3, 0)):
            end = multicast_end(mask, armed)
            self.answer(EVERY)
            self.assertIn(f"The mask is 0b{mask:04b}:", self.said())
            self.assertIn(f"The end: {end}", self.said())
            self.assertEqual("That is what you said" in self.said(), end == EVERY)
            self.browser.evaluate(f"document.querySelectorAll('{self.box} .card')[{rank}].querySelectorAll('button')[{which}].click()")
            mask, armed = (mask ^ 1 << rank, armed) if which == 0 else (mask, armed ^ 1 << rank)

    def test_a_multicast_with_two_mistakes_accepts_either(self) -> None:
        self.show("cluster_multicast", "clusters.html")
        for out, answer in ((False, EVER), (True, UNANNOUNCED), (False, UNANNOUNCED), (True, EVERY)):  # Mask 0b0111 or, with rank 1 out of it, 0b0101.
            self.answer(answer)
            self.assertEqual("That is what you said" in self.said(), not out and answer == UNANNOUNCED)
            self.assertEqual("That is true too" in self.said(), out and answer == UNANNOUNCED)
            self.browser.evaluate(f"document.querySelectorAll('{self.box} .card')[1].querySelectorAll('button')[0].click()")

    def test_barriers_of_the_cluster_that_are_left_out(self) -> None:
        early, gone = "memory is used before it is ready", "memory is used after its block has left"
        ends = {("cluster_lifetime", True, True): "nothing", ("cluster_lifetime", False, True): early,
                ("cluster_lifetime", True, False): gone, ("cluster_lifetime", False, False): early,
                ("cluster_push", True, True): "nothing", ("cluster_push", False, True): early,
                ("cluster_push", True, False): "nothing", ("cluster_push", False, False): early}
        for name in ("cluster_lifetime", "cluster_push"):
            self.show(name, "clusters.html")
            for ticked, (entry, leave) in ((1, (True, True)), (1, (True, False)), (0, (False, False)), (1, (False, True)), (0, (True, True))):
                self.tick(ticked)
                self.answer("nothing")
                end = ends[name, entry, leave]
                self.assertIn(f"What is wrong: {end}.", self.said())
                blamed = self.all_of(".codelines .blamed")
                self.assertEqual(bool(blamed), end != "nothing")
                self.assertTrue(end == "nothing" or any("map_shared_rank" in line for line in blamed))
                self.assertEqual(len(self.all_of(".codelines s")), 2 - entry - leave)

    # ---- roles

    def waits(self, role: str, at: int) -> str:
        """By hand: what has come to the barrier that the role's next step needs."""
        given = data("ring_roles")
        after = given["steps"][at:]
        following = next((step for step in after if step["by"] == role), None)
        if following is None or following["step"] != "observed":
            return "nobody"
        past = [step for step in given["steps"][:at] if step["barrier"] == following["barrier"] and step["phase"] == following["phase"]]
        if any(step["step"] == "complete" for step in past):
            return "nobody"
        if following["barrier"].startswith("empty"):
            return "a consumer"
        return "a copy" if any(step["by"] == "producer" for step in past) else "the producer"

    def test_who_waits_for_whom_at_every_tenth_step_and_at_all_in_the_data(self) -> None:
        given = data("ring_roles")
        roles = given["roles"]
        seen = {self.waits(role, at) for role in roles for at in range(len(given["steps"]))}
        self.assertEqual(seen, {"nobody", "the producer", "a copy", "a consumer"})
        self.show("ring_roles", "roles.html")
        for at in (0, 1, 3, 5, 8, 10, 20, 30, len(given["steps"])):
            self.browser.evaluate(f"(() => {{ const s = document.querySelector('{self.box} input[type=range]'); s.value = {at}; s.dispatchEvent(new Event('input')); }})()")
            for number, role in enumerate(roles):
                self.choose(0, number)
                self.answer("a copy")
                self.assertIn(f"{role} waits for {self.waits(role, at)}.", self.said(), (role, at))
        self.button("Back")
        self.assertIn(f"step {len(given['steps']) - 1} of", self.text(f"{self.box} .controls"))

    def test_registers_fit_or_do_not(self) -> None:
        self.show("register_budget", "roles.html")
        for consumers, keep, take in ((2, 40, 232), (2, 40, 240), (2, 24, 240), (3, 24, 160), (3, 32, 168), (2, 40, 160), (2, 24, 256), (3, 136, 160)):
            for number, value in enumerate((consumers, keep, take)):
                self.choose(number, value)
            each = 65536 // ((consumers + 1) * 128) // 8 * 8
            spare = (consumers + 1) * each - keep - consumers * take
            end = "a number is not allowed" if keep > each or take < each else "yes" if spare >= 0 else "no, one waits for ever"
            self.answer(end)
            self.assertIn(f"gives each thread {each}.", self.said())
            self.assertIn("That is what you said", self.said(), (consumers, keep, take, end))
        row = dict(self.table("roles_by_registers"))
        self.assertIn(f"{row['registers_as_launched'][-1]:.2f} ms with registers as launched, {row['registers_moved'][-1]:.2f} ms", self.text(f"{self.box} .help"))

    # ---- wgmma

    def test_every_accumulator_is_where_the_manual_says(self) -> None:
        given = data("wgmma_accumulators")["element"]
        self.assertEqual(len(given), 64 * 64)
        for row, column in product(range(64), repeat=2):
            thread, sum_ = holder(row, column)
            self.assertEqual(given[thread * 32 + sum_], 64 * row + column)
        self.show("wgmma_accumulators", "wgmma.html")
        row, column = 25, 13
        for keys in ((), ("ArrowDown",) * 3, ("ArrowLeft",) * 20, ("ArrowUp",) * 40):
            self.press(*keys)
            row = min(63, max(0, row + keys.count("ArrowDown") - keys.count("ArrowUp")))
            column = max(0, column - keys.count("ArrowLeft"))
            thread, sum_ = holder(row, column)
            self.answer(thread)
            self.assertIn(f"Row {row}, column {column}: thread {thread}, accumulator {sum_}. That is what you said.", self.said())
            self.assertIn(f"That is warp {thread // 32}, which has rows {row // 16 * 16} to {row // 16 * 16 + 15}, and lane {thread % 32}.", self.said())
            self.assertEqual(len(self.all_of("svg .wanted")), 32)
        self.browser.evaluate(
            f"(() => {{ const svg = document.querySelector('{self.box} svg'), box = svg.getBoundingClientRect();"
            "svg.dispatchEvent(new MouseEvent('click', {clientX: box.right - 4, clientY: box.bottom - 5})); })()"
        )
        self.answer(0)
        thread, sum_ = holder(63, 63)
        self.assertIn(f"Row 63, column 63: thread {thread}, accumulator {sum_}. You said 0.", self.said())

    def test_every_descriptor_leads_where_the_rules_say(self) -> None:
        given = data("wgmma_descriptor")
        for case in given["cases"]:
            across = case["major"] == "M"
            wanted = [chunk(case, outer, group) for outer in range(16 if across else 64) for group in range(8 if across else 2)]
            self.assertEqual(given["lists"][case["chunks"]], wanted, case)
        self.show("wgmma_descriptor", "wgmma.html")
        for major, swizzle, leading, stride, start, piece in (
            ("K", 128, 128, 1024, 0, 19), ("K", 0, 1024, 128, 0, 42), ("K", 64, 128, 512, 32, 5), ("M", 128, 128, 1024, 0, 42), ("M", 32, 1024, 256, 0, 127),
        ):
            for number, value in enumerate((major, swizzle, leading, stride, start, piece)):
                self.choose(number, value)
            groups = 2 if major == "K" else 8
            byte = 16 * chunk({"major": major, "swizzle": swizzle, "leading": leading, "stride": stride, "start": start}, piece // groups, piece % groups)
            self.answer(byte)
            outer = f"Row {piece // groups}, k" if major == "K" else f"K = {piece // groups}, rows"
            self.assertIn(f"{outer} = " if major == "K" else outer, self.said())
            self.assertIn(f": byte {byte}, in chunk {byte // 16 % 8} of its line of 128 bytes. That is what you said.", self.said())
            self.assertEqual(len(self.all_of("svg .wait")), 8)

    def test_fence_commit_and_wait_that_are_left_out(self) -> None:
        self.show("wgmma_order", "wgmma.html")
        answers = ["nothing", "it may begin with old sums", "sums are read too early", "both"]
        now = [True, False, True]
        for tick in (None, 1, 0, 2, 0, 1, 0, 2, 0):
            if tick is not None:
                self.tick(tick)
                now[tick] = not now[tick]
            fence, commit, wait = now
            end = answers[(not fence) + 2 * (not commit or not wait)]
            self.answer(end)
            self.assertIn(f"What is wrong: {end}. That is what you said.", self.said())
            self.assertEqual(bool(self.all_of(".codelines .blamed")), end != "nothing")
            ending = "observed by wait_group" if commit and wait else "never seen to end: the cluster's end"
            self.assertEqual(self.all_of(".order .product"), [f"product, {ending}"])
            self.assertEqual(self.all_of(".order s"), [name for name, there in zip(("fence", "commit", "wait"), now, strict=True) if not there])

    # ---- the ladder

    def table(self, name: str) -> list[tuple[str, list]]:
        """The rows of a table of the measurement file, by what their first cell says."""
        found = json.loads((tools.ROOT / "docs/measurements/h200.json").read_text("utf-8"))["tables"][name]
        return [(row[0], row[1:]) for row in found["rows"]]

    def test_rungs_have_what_was_measured(self) -> None:
        for pace, table in (("with pauses", "gemm_cool"), ("without pauses", "gemm_hot")):
            measured = dict(self.table(table))
            self.show("gemm_ladder", "gemm.html")
            self.choose(0, "4096 x 4096 x 4096")
            self.choose(1, pace)
            for _ in range(12):
                self.button("Next rung")
            for name in ("tuned", "overlapped", "stored", "multicast"):
                before = self.all_of(".rows .value")
                self.assertIn("?", before)
                self.answer(50)
                self.assertTrue(self.said().startswith(f"{name} has {measured[name][1]:.1f} %,"), self.said())
                self.assertIn(f"{measured[name][1]:.1f} %", self.all_of(".rows .chosen .value"))
                self.button("Rung below")

    def test_strips_of_tiles_that_run_together(self) -> None:
        self.show("gemm_order", "gemm.html")
        measured = {row[1][0]: row[1][1] for row in self.table("gemm_bands_read") if row[0] == "128x256 alone"}
        for band, first in ((1, 0), (8, 0), (16, 3), (64, 0), (4, 15)):
            self.choose(0, band)
            self.choose(1, first)
            order = [(top + row, column) for top in range(0, 64, band) for column in range(32) for row in range(min(band, 64 - top))]
            running = order[first * 132 : first * 132 + 132]
            a, b = ({tile[axis] for tile in running} for axis in (0, 1))
            self.answer(len(a) + len(b))
            self.assertIn(f"They need {len(a)} strips of a and {len(b)} of b, {len(a) + len(b)} in all. That is what you said.", self.said())
            self.assertIn(f"bands of {band}, without pauses, {round(measured[band], 1)} %", self.said())
            self.assertEqual(len(self.all_of("svg .copy")), len(running))

    def test_waves_and_their_last_one(self) -> None:
        self.show("gemm_waves", "gemm.html")
        tflops = {(row[0], row[1][1]): row[1][7] for row in self.table("gemm_ladder") if row[1][0] == "with pauses"}
        for extent, tile in (("8192 x 8192 x 8192", "128 x 256"), ("4096 x 4096 x 4096", "128 x 256"), ("4352 x 4352 x 4096", "256 x 256"), ("2304 x 2304 x 4096", "128 x 256")):
            self.choose(0, extent)
            self.choose(1, tile)
            (m, n, _), (high, wide) = ([int(word) for word in text.split(" x ")] for text in (extent, tile))
            tiles = ceil(m / high) * ceil(n / wide)
            waves = ceil(tiles / 132)
            self.answer(round(100 * tiles / (132 * waves)))
            self.assertIn(f"{tiles} tiles of the result", self.said())
            self.assertIn(f"{waves} waves, the last with {tiles - 132 * (waves - 1)}: at most {100 * tiles / (132 * waves):.1f} %", self.said())
            self.assertIn("That is what you said", self.said())
            self.assertEqual(self.all_of(".wave .value"), [f"{count} of 132 SMs" for count in ([132] if waves > 1 else []) + [tiles - 132 * (waves - 1)]])
            for kernel, words in (("overlapped", "rung 12 {} TFLOP/s"), ("cuBLAS", "cuBLAS {}.")):
                if (extent, kernel) in tflops:
                    self.assertIn(words.format(round(tflops[extent, kernel])), self.said())

    # ---- all of them

    def test_phone_shows_words_that_can_be_read_and_an_answer_moves_nothing(self) -> None:
        for page, names in PAGES.items():
            self.open(page, width=390)
            self.browser.evaluate("new Promise((done) => setTimeout(done, 150))")
            self.assertGreaterEqual(self.browser.evaluate(SMALLEST_WORDS), 11, page)
            self.assertIs(self.browser.evaluate(WIDE), False, page)
            for name in names:
                self.box = f'.picture[data-picture="{name}"]'
                height = f"document.querySelector('{self.box}').offsetHeight"
                before = self.browser.evaluate(height)
                for answer in self.all_of(".answers button")[::-1] if name not in ("wgmma_accumulators", "wgmma_descriptor", "gemm_order", "gemm_ladder", "gemm_waves") else ("7",):
                    self.answer(answer)
                    self.assertLessEqual(abs(self.browser.evaluate(height) - before), 1, name)
                for step in range(45 if name == "ring_roles" else 0):
                    self.button("Next")
                    self.assertLessEqual(abs(self.browser.evaluate(height) - before), 1, f"{name}, step {step}")

    def test_axe_sees_no_barrier_in_a_picture(self) -> None:
        axe = tools.need(requirements.AXE).read_text("utf-8")
        for page in PAGES:
            self.open(page)
            for name in PAGES[page]:
                self.box = f'.picture[data-picture="{name}"]'
                self.answer(next(iter(self.all_of(".answers button[aria-pressed]")), "7"))
            for dark in (False, True):
                self.browser.evaluate(f"document.documentElement.classList.toggle('dark-mode', {json.dumps(dark)})")
                self.assertEqual(violations(self.browser, axe, "{include: ['.picture']}"), [], (page, dark))

    def test_readers_who_do_not_want_to_be_asked_are_not(self) -> None:
        self.show("cluster_window", "clusters.html")
        self.assertNotIn("mapa gives", self.said())
        self.browser.evaluate(f"document.querySelector('{self.box} .question [type=checkbox]').click()")
        self.assertIn("mapa gives", self.said())
        self.choose(1, 0)
        self.assertRegex(self.said(), re.compile("mapa gives 0x0[0-9a-f]{6}: 0 times"))


del Pictures  # Its own tests are in its own file.

if __name__ == "__main__":
    unittest.main()
