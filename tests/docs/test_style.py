"""The words that docs/pages/style.md tells writers not to use are in no page."""

import re
import unittest
from pathlib import Path

import tools
from weaving.marks import KINDS

ROOT = tools.ROOT
RULES = ROOT / "docs/pages/style.md"
_ROW = re.compile(r"^\| (?P<left>\*.+?) \| .+ \|$", re.MULTILINE)
_PHRASE = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
_NO_PROSE = re.compile(r"```.*?```|<!--.*?-->|`[^`\n]*`|\]\([^)\s]*\)|(?<!\w)\"[^\"\n]*\"", re.DOTALL)
"""Code, marks, targets of links, and what is quoted of others."""


def phrases(rules: str) -> list[str]:
    """What stands in italics in the first column of the table."""
    return [phrase for row in _ROW.finditer(rules) for phrase in _PHRASE.findall(row["left"])]


def found(phrase: str, text: str) -> list[int]:
    """The lines of the prose of `text` on which the phrase begins, which may go on in the next line."""
    prose = _NO_PROSE.sub(lambda match: "\n" * match[0].count("\n"), text)
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    ignored = re.IGNORECASE if phrase == phrase.lower() else 0
    return [prose.count("\n", 0, match.start()) + 1 for match in re.finditer(rf"(?<!\w){words}(?!\w)", prose, ignored)]


LONGEST = 4000
_WOVEN = re.compile(rf"<!-- (?:{'|'.join(KINDS)}): .*?<!-- end -->", re.DOTALL)
_ASIDE = re.compile(r"```.*?```|<!--.*?-->|</?[a-z][^>\n]*>|!\[[^\]]*\]\([^)]*\)|\]\([^)\s]*\)|^[> ]*\|[^\n]*", re.DOTALL | re.MULTILINE)


def length(text: str) -> int:
    """The words of a chapter before its appendix: the running text and the answers in its folds, without listings, tables, figures
    and what is woven in (predictions, too)."""
    prose = _ASIDE.sub(" ", _WOVEN.sub(" ", text.partition("\n## Appendix")[0]))
    return len(re.findall(r"[A-Za-z][\w'’-]*", re.sub(r"`[^`]*`", "x", prose)))


_NO_LIST = re.compile(r"^ *(?:\+ |\* |\d{3,}[.)] )")


def broken_into_lists(text: str) -> list[int]:
    """Lines of prose that Markdown takes for an item of a list: a sum or a number that a new line begins with. Our lists have hyphens."""
    prose = re.sub(r"```.*?```", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    return [number for number, line in enumerate(prose.split("\n"), 1) if _NO_LIST.match(line)]


class Style(unittest.TestCase):
    def test_no_line_of_prose_becomes_a_list(self) -> None:
        pages = [ROOT / "README.md", *ROOT.glob("chapters/*/README.md"), *ROOT.glob("docs/pages/*.md"), *ROOT.glob("common/**/*.md")]
        self.assertGreater(len(pages), 25)
        self.assertEqual([f"{page.relative_to(ROOT)}:{line}" for page in pages for line in broken_into_lists(page.read_text("utf-8"))], [])

    def test_a_sum_or_a_number_at_the_beginning_of_a_line_is_found(self) -> None:
        self.assertEqual(broken_into_lists("bank (row\n+ column) mod 32, a multiple of\n1024. Row 5\n```\n+ 1\n```\n* x\n- y\n1. z\n"), [2, 3, 7])

    def test_no_page_has_a_word_of_the_list(self) -> None:
        listed = phrases(RULES.read_text("utf-8"))
        self.assertGreater(len(listed), 15)
        pages = [ROOT / "README.md", *ROOT.glob("chapters/*/README.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("common/**/*.md")]
        self.assertGreater(len(pages), 25)
        wrong = [
            f"{page.relative_to(ROOT)}:{line}: '{phrase}'"
            for page in pages
            if page != RULES
            for phrase in listed
            for line in found(phrase, page.read_text("utf-8"))
        ]
        self.assertEqual(wrong, [])

    def test_a_phrase_is_found_across_lines_and_not_in_code_or_quotations(self) -> None:
        self.assertEqual(found("but for", "All\nright, But\nfor one."), [2])
        self.assertEqual(found("but for", "`but for` \"but for\" [x](but-for) butter forms"), [])
        self.assertEqual(phrases("| not | but |\n|---|---|\n| *a b*, *c* | *d* |\n"), ["a b", "c"])

    def test_no_chapter_is_longer_than_its_limit_before_the_appendix(self) -> None:
        texts = {page.parent.name: page.read_text("utf-8") for page in ROOT.glob("chapters/*/README.md")}
        self.assertGreater(len(texts), 11)
        self.assertEqual({name: words for name, text in texts.items() if (words := length(text)) > LONGEST}, {})
        self.assertTrue(all("\n## Appendix" in text and length(text) > 2000 for text in texts.values()))

    def test_a_chapter_s_words_are_those_of_its_running_text(self) -> None:
        text = "One `two three` [four](five.md).\n\n| six |\n\n<!-- code: a b -->\n```\nseven\n```\n<!-- end -->\n\n<details><summary>Eight</summary>\n\nnine\n"
        self.assertEqual(length(text + "\n## Appendix\nten\n"), 5)


if __name__ == "__main__":
    unittest.main()
