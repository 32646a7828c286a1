"""What `watch` shows, and lists of any width, without a terminal."""

import unittest
from dataclasses import replace

from cli import listing, output, screen, terminal
from cli.chapters import Chapter
from cli.exercises import Exercise
from cli.listing import Choice
from cli.records import Record
from cli.screen import Line, State, Style, View
from cli.verdict import Paragraph

CHAPTERS = (Chapter("01_sync_copy"), Chapter("05_tma_1d"))
TITLES = {CHAPTERS[0]: "through the registers", CHAPTERS[1]: "one thread moves a kilobyte, and all the others wait for it"}
RECORDS = {"four_sectors": Record(solved="2024-01-01")}


def exercise(name: str, title: str, chapter: Chapter = CHAPTERS[0]) -> Exercise:
    return Exercise(name, title, "fill", "do", 10, ("a", "b", "c"), "learned", "wrong", chapter)


TASKS = (
    exercise("reverse_tile", "One element per thread"),
    exercise("four_sectors", "Ask for the next tile before you wait for this one, and for no other"),
    exercise("one_barrier_for_all", "Producers and consumers", CHAPTERS[1]),
)
VERDICT = (
    Paragraph("reverse_tile: not yet."),
    Paragraph("out[0] should be 1 and is 0: " + "nobody wrote to it " * 12),
    Paragraph("    a line of a compiler that is as long as it is, and longer than any screen of eighty columns would like", is_laid_out=True),
    Paragraph("Press h for a hint."),
)


def state(**change: object) -> State:
    first = State(TASKS[0], "workspace/reverse_tile.cu", TASKS, RECORDS, verdict=VERDICT, passed=False)
    return replace(first, **change)  # type: ignore[arg-type]


def text(lines: list[Line]) -> str:
    return "\n".join(line.text for line in lines)


class Screens(unittest.TestCase):
    def test_every_state_fits_every_size(self) -> None:
        many = tuple(Paragraph(f"line {n}") for n in range(100))
        for now in (
            state(),
            state(verdict=many),
            state(verdict=many, scroll=50),
            state(verdict=(), passed=None, busy="Checking reverse_tile ...  12 s  [3/9] compiling something"),
            state(notes=("Hint 1 of 3: " + "words " * 60,)),
            state(question="Begin reverse_tile anew? " + "Your file is kept. " * 5),
            state(view=View.LIST, cursor=2),
            state(view=View.LIST, choice=Choice("nothing"), searching=True),
        ):
            for rows in (1, 2, 3, 5, 8, 13, 14, 24, 60):
                for columns in (1, 10, 40, 80, 200):
                    with self.subTest(view=now.view, rows=rows, columns=columns):
                        lines = screen.lines(now, rows, columns)
                        self.assertTrue(lines)
                        self.assertLessEqual(len(lines), rows)
                        self.assertLessEqual(max(len(line.text) for line in lines), columns)
                        if rows >= 14 and columns >= 40:
                            self.assertEqual(len(lines), rows)

    def test_the_verdict_is_laid_out_for_the_width(self) -> None:
        for columns in (40, 60, 80, 110):
            shown = " ".join(text(screen.lines(state(), 40, columns)).split())
            self.assertIn("nobody wrote to it " * 11 + "nobody wrote to it", shown)

    def test_head_and_foot(self) -> None:
        lines = screen.lines(state(), 24, 80)
        self.assertEqual(lines[0], Line("reverse_tile: One element per thread (fill, 10 min)", Style.BOLD))
        self.assertEqual(lines[1].text, "Edit and save workspace/reverse_tile.cu")
        self.assertEqual(lines[-1].text, screen.KEYS.replace("   ", "  "))
        self.assertRegex(lines[-2].text, r"^\[#{16}\.{32}\] 1 of 3 solved$")
        self.assertEqual([line for line in lines if line.text == "reverse_tile: not yet."][0].style, Style.BAD)
        solved = screen.lines(state(passed=True), 24, 80)
        self.assertEqual([line for line in solved if line.text == "reverse_tile: not yet."][0].style, Style.GOOD)

    def test_what_is_done_stands_above_the_key_that_ends_it(self) -> None:
        lines = screen.lines(state(busy="Checking reverse_tile ...  2 s"), 24, 80)
        self.assertEqual([line.text for line in lines[-2:]], ["Checking reverse_tile ...  2 s", "q quit"])

    def test_scrolling_reaches_every_line(self) -> None:
        now = state(verdict=tuple(Paragraph(f"line {n}.") for n in range(50)))
        most = screen.farthest(now, 24, 80)
        seen = "\n".join(text(screen.lines(replace(now, scroll=at), 24, 80)) for at in range(most + 1))
        for n in range(50):
            self.assertIn(f"line {n}.", seen)
        self.assertIn("line 49.", text(screen.lines(replace(now, scroll=most), 24, 80)))
        self.assertEqual(screen.lines(replace(now, scroll=most + 7), 24, 80), screen.lines(replace(now, scroll=most), 24, 80))
        self.assertEqual(screen.farthest(state(), 40, 80), 0)

    def test_the_cursor_stays_on_its_exercise_when_the_choice_changes(self) -> None:
        now = state(view=View.LIST, cursor=2)
        self.assertEqual(now.narrowed(only="open").chosen, TASKS[2])
        self.assertEqual(now.narrowed(only="solved").chosen, TASKS[1])
        self.assertIsNone(now.narrowed(search="nothing like it").chosen)
        self.assertEqual(now.moved(5).cursor, 2)
        self.assertEqual(now.moved(-5).cursor, 0)

    def test_the_list_shows_the_cursor(self) -> None:
        many = tuple(exercise(f"task_{n}", f"Title {n}", CHAPTERS[n // 30]) for n in range(60))
        for cursor in (0, 29, 30, 59):
            for columns in (40, 80):
                lines = screen.lines(state(view=View.LIST, tasks=many, cursor=cursor), 20, columns)
                chosen = [line for line in lines if line.style is Style.CURSOR]
                self.assertIn(f"> [ ] task_{cursor}", chosen[0].text)

    def test_the_last_words(self) -> None:
        last = screen.farewell(state(), 80)
        self.assertEqual(last[0], "reverse_tile: not yet.")
        self.assertIn("1 of 3 solved", last[-1])


class Lists(unittest.TestCase):
    def whole(self, width: int, choice: Choice = Choice()) -> list[str]:
        return listing.whole(CHAPTERS, TITLES, TASKS, RECORDS, choice, width)

    def test_lists_and_progress_fit(self) -> None:
        for width in (40, 60, 80, 110):
            marks = [line for c in CHAPTERS for line in listing.marks(c, TASKS * 3, RECORDS, 9, width)]
            for line in (*self.whole(width), *marks):
                self.assertLessEqual(len(line), width, line)
            joined = " ".join(" ".join(self.whole(width)).split())
            for task in TASKS:
                self.assertIn(task.name, joined)
                self.assertIn(f"{task.title} (10 min)", joined)
            self.assertIn(TITLES[CHAPTERS[1]], joined)
            self.assertEqual(" ".join(marks).count("[x] four_sectors"), 6)
            self.assertNotIn("[ ] four_sectors", " ".join(marks))

    def test_what_is_chosen(self) -> None:
        for choice, names in (
            (Choice("barrier"), [2]),
            (Choice("TILE ask"), [1]),
            (Choice("tma"), [2]),
            (Choice(only="open"), [0, 2]),
            (Choice(only="solved"), [1]),
            (Choice(chapter=CHAPTERS[0]), [0, 1]),
            (Choice("tile", "open", CHAPTERS[0]), [0]),
        ):
            self.assertEqual([n for n, e in enumerate(TASKS) if choice.takes(e, RECORDS)], names, choice)
        self.assertEqual(self.whole(80, Choice("nothing")), ["No exercise is like that."])
        self.assertNotIn("sync_copy", " ".join(self.whole(80, Choice(chapter=CHAPTERS[1]))))

    def test_a_bar_is_full_at_the_end(self) -> None:
        self.assertEqual(listing.bar(0, 2, 30), "[..............] 0 of 2 solved")
        self.assertEqual(listing.bar(1, 2, 30), "[#######.......] 1 of 2 solved")
        self.assertEqual(listing.bar(2, 2, 30), "[##############] 2 of 2 solved")
        self.assertLessEqual(len(listing.bar(10, 32, 40)), 40)


class Terminals(unittest.TestCase):
    def test_keys_have_names(self) -> None:
        for typed, keys in (
            ("hN", ["h", "N"]),
            ("\x1b[A\x1bOB\x1b[5~", ["up", "down", "page up"]),
            ("\x1b", ["escape"]),
            ("\x1b[1;5Cq", ["q"]),
            ("\r\x7f\x04\x0c", ["enter", "backspace", "end of input", "redraw"]),
            ("é\x01", ["é"]),
        ):
            self.assertEqual(terminal.keys_in(typed), keys)

    def test_a_frame_without_colour_still_shows_the_cursor(self) -> None:
        lines = [Line("a", Style.BAD), Line("b", Style.CURSOR), Line("c")]
        self.assertEqual(terminal.frame(lines, colour=False).count("m"), 2)
        self.assertIn("\x1b[1;31ma", terminal.frame(lines, colour=True))

    def test_ascii_is_enough(self) -> None:
        self.assertEqual(output.plain("3 × 3 … – “a” ↓ λ"), '3 x 3 ... - "a" v ?')


if __name__ == "__main__":
    unittest.main()
