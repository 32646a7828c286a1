"""The Markdown files themselves: links, anchors, pictures and the words."""

import re
import subprocess
import unittest
from collections.abc import Iterator
from pathlib import Path

import tools
from cli import requirements
from weaving.weaver import all_files

WORDS = Path(__file__).resolve().parent / "words.txt"


class Links(unittest.TestCase):
    def test_every_link_anchor_and_picture_of_every_page_leads_somewhere(self) -> None:
        tools.import_generator()
        from generator import build, pages

        try:
            rendered, _ = build.rendered_pages(tools.ROOT)
        except pages.SiteError as error:
            self.fail("\n".join(error.problems))
        self.assertGreaterEqual(len(rendered), 10)

    def test_every_page_is_in_the_navigation_once(self) -> None:
        tools.import_generator()
        from generator import pages

        sources = [page.source for page in pages.all_pages(tools.ROOT)]
        self.assertEqual(len(sources), len(set(sources)))
        self.assertEqual(sorted(sources), all_files(tools.ROOT))


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a Markdown file without code, addresses and comments."""
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(r"\s*(`{3,})", line):
            fence = None if fence and match[1].startswith(fence) else fence or match[1]
            continue
        if fence is None:
            line = re.sub(r"<!--.*?-->|`[^`]*`|\]\([^)]*\)|<[^>]*>|https?://\S+", " ", line)
            # Names of files, kernels and the like are no words.
            line = re.sub(
                r"\S*[_\d/=:]\w\S*|\b[\w-]+\.(?:cu|cuh|hpp|cpp|md|py|svg|json|toml|build)\b|\b\d\w*",
                " ",
                line,
            )
            yield number, line


class Spelling(unittest.TestCase):
    def test_prose_is_spelt_as_the_dictionary_and_the_word_list_say(self) -> None:
        hunspell, _ = tools.need(requirements.SPELLER), tools.need(requirements.DICTIONARY)
        wrong = []
        for path in all_files(tools.ROOT):
            lines = dict(prose(path.read_text("utf-8")))
            for word in misspelt(hunspell, "\n".join(lines.values())):
                place = next(
                    (n for n, line in lines.items() if re.search(rf"\b{re.escape(word)}\b", line)), 0
                )
                wrong.append(f"{path.relative_to(tools.ROOT)}:{place}: {word}")
        self.assertEqual(wrong, [], f"\nunknown words; if they are right, add them to {WORDS.name}")

    def test_a_wrong_word_is_found_and_a_listed_one_is_not(self) -> None:
        hunspell, _ = tools.need(requirements.SPELLER), tools.need(requirements.DICTIONARY)
        self.assertEqual(misspelt(hunspell, "The barrier recieves bytes, says mbarrier."), ["recieves"])

    def test_the_word_list_is_sorted_and_has_no_word_twice(self) -> None:
        words = WORDS.read_text("utf-8").split()
        self.assertEqual(words, sorted(set(words), key=lambda word: (word.lower(), word)))

    def test_code_is_no_prose(self) -> None:
        text = "a `b`\n```\nc\n```\n[d](e) <!-- f -->\n````\n```\ng\n````\nh\n"
        self.assertEqual([line.split() for _, line in prose(text) if line.strip()], [["a"], ["[d"], ["h"]])


def misspelt(hunspell: Path, text: str) -> list[str]:
    """The words that neither the dictionary nor our list knows."""
    done = subprocess.run(
        [str(hunspell), "-d", "en_GB", "-i", "utf-8", "-p", str(WORDS), "-l"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(set(done.stdout.split()))


if __name__ == "__main__":
    unittest.main()
