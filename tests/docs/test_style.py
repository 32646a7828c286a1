"""The words that docs/pages/style.md tells writers not to use are in no page."""

import re
import unittest
from pathlib import Path

import tools

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


class Style(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
