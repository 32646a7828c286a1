"""The pictures of orders: of the pixels of an im2col copy, and of the blocks of a transposition. What they show is compared
with what is computed here, in another way.
"""

import json
import re

import tools
from cli import requirements
from test_access import violations
from test_pictures import SMALLEST_OF_PICTURES, Pictures, data

ORDERS = {
    "along rows": lambda r, c: (r, c),
    "down columns": lambda r, c: (c, r),
    "strips 128 wide": lambda r, c: (c // 2, r, c),
    "strips 512 wide": lambda r, c: (c // 8, r, c),
    "strips 2048 wide": lambda r, c: (c // 32, r, c),
    "strips 512 high": lambda r, c: (r // 8, c, r),
}
"""By what tiles of 64 x 64 are sorted in each of the tuner's orders."""
TOGETHER, TILES, TILE = 132, 64, 64


def stretches(tiles: list[tuple[int, int]]) -> int:
    """Runs of neighbouring pieces of 64 floats: a matrix of 4096 x 4096 has 64 of them in a row."""
    pieces = {(row * TILE + y) * TILES + column for row, column in tiles for y in range(TILE)}
    return sum(piece - 1 not in pieces for piece in pieces)


class Orders(Pictures):
    def show_at(self, name: str, page: str, width: int) -> None:
        self.open(page, width=width)
        self.box = f'.picture[data-picture="{name}"]'
        self.browser.evaluate("new Promise((done) => setTimeout(done, 100))")

    def answer(self, value: object) -> None:
        form = f"document.querySelector('{self.box} .question')"
        if isinstance(value, str):
            self.button(value)
        else:
            self.browser.evaluate(f"{form}.querySelector('input[type=number]').value = {value}; {form}.requestSubmit()")


class Im2row(Orders):
    def expected(self, tap: int, run: int) -> list[int]:
        """For each output pixel the number of its neighbour, 0 where it has none."""
        found = []
        for output in range(16 * run, 16 * (run + 1)):
            x, y = output % 8 + tap % 3 - 1, output // 8 + tap // 3 - 1
            found.append(8 * y + x + 1 if 0 <= x < 8 and 0 <= y < 6 else 0)
        return found

    def test_copies_brought_the_neighbours(self) -> None:
        columns = data("im2row")["columns"]
        self.assertEqual(columns, [self.expected(tap, run) for tap in range(9) for run in range(3)])

    def test_a_copy_is_stepped_through_after_the_answer(self) -> None:
        for width in (1280, 390):
            self.show_at("im2row", "tma_2d.html", width)
            heights = {self.height()}
            for tap, run in ((0, 0), (4, 1), (8, 2), (5, 0)):
                self.choose(0, tap)
                self.choose(1, run)
                values = self.expected(tap, run)
                self.assertNotIn("zeros", self.said())
                self.assertEqual(self.count("rect[data-row].copy") + self.count("rect[data-row].wait"), 0)
                self.answer(4)
                zeros = values.count(0)
                self.assertIn(f"{zeros} of its rows are zeros. You said {'so' if zeros == 4 else '4'}.", self.said())
                for step, value in enumerate(values[:9], 1):
                    self.assertRegex(self.said(), rf"Row {step - 1}: {f'pixel {value}' if value else '.*outside of the image: 0'}\.$")
                    self.assertEqual(self.count("rect[data-row].copy"), sum(each > 0 for each in values[:step]))
                    self.assertEqual(self.count("rect[data-row].wait"), values[:step].count(0))
                    self.button("Next pixel")
                heights.add(self.height())
                self.button("To the end")
                self.assertEqual(self.count("rect.chosen"), 2)
                heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)


class WalkOrder(Orders):
    def running(self, order: str, wave: int) -> list[tuple[int, int]]:
        tiles = sorted(((r, c) for r in range(TILES) for c in range(TILES)), key=lambda tile: ORDERS[order](*tile))
        return tiles[TOGETHER * wave : TOGETHER * (wave + 1)]

    def drawn(self) -> set[tuple[int, int]]:
        found = self.browser.evaluate(f"[...document.querySelectorAll('{self.box} [data-tile]')].map((each) => each.dataset.tile)")
        return {tuple(map(int, each.split(","))) for each in found}

    def test_tiles_that_run_together_and_their_memory(self) -> None:
        table = json.loads((tools.ROOT / "docs/measurements/h200.json").read_text("utf-8"))["tables"]["transpose_limits_32768_32768"]
        rates = {row[0]: row for row in table["rows"]}
        kernel, reads, writes = (table["ids"].index(name) for name in ("registers 64x64/256, ld.nc, st", "reads only 64x64/256", "writes only 64x64/256"))
        for width in (1280, 390):
            self.show_at("walk_order", "transpose.html", width)
            heights = {self.height()}
            for number, order in enumerate(ORDERS):
                self.choose(0, number)
                for wave in (0, 1):
                    if wave:
                        self.button("the next blocks")
                    tiles = self.running(order, wave)
                    self.assertEqual(self.drawn(), set(tiles), order)
                    self.assertNotIn("stretches", self.said())
                    self.answer("of the output")
                    self.assertEqual(self.drawn(), set(tiles) | {(c, r) for r, c in tiles})
                    read, written = stretches(tiles), stretches([(c, r) for r, c in tiles])
                    self.assertIn(f"They read {read:,} stretches of memory and write {written:,}.", self.said())
                    self.assertIn("That is what you said." if written < read else "You said: of the output.", self.said())
                    measured = [f"{round(rates[order][at]):,} GB/s" for at in (kernel, reads, writes)]
                    self.assertEqual(re.findall(r"[\d,]+ GB/s", self.said()), measured)
                    heights.add(self.height())
            self.assertEqual(len(heights), 1, heights)

    def test_the_last_blocks_are_fewer(self) -> None:
        self.show_at("walk_order", "transpose.html", 1280)
        for _ in range(40):
            self.button("the next blocks")
        self.assertEqual(self.drawn(), set(self.running("along rows", 31)))
        self.assertIn("Blocks 4092 to 4095", self.said())


class Everyone(Orders):
    def test_words_are_large_enough_and_nobody_is_kept_out(self) -> None:
        axe = tools.need(requirements.AXE).read_text("utf-8")
        for page, name in (("tma_2d.html", "im2row"), ("transpose.html", "walk_order")):
            self.show_at(name, page, 390)
            self.assertGreaterEqual(self.browser.evaluate(SMALLEST_OF_PICTURES), 11)
            for dark in (False, True):
                self.browser.shape(390, dark=dark)
                self.assertEqual(violations(self.browser, axe, json.dumps(self.box)), [])
