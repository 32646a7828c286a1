"""The site's generator on a small tree of its own."""

import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import tools

README = """# Book

See [one](chapters/01_one/README.md), [its end](chapters/01_one/README.md#the-end), [words](docs/pages/words.md#a-b_c),
[code](chapters/01_one/one.cuh#L2), [text](LICENSE), [tests](tests/) and [out](https://example.org/x).
"""

CHAPTER = """# Chapter 1: through `one`

Intro with [`f`](one.cuh).

## The end
<!-- code: one.cuh f -->
```cuda
__global__ void f(int* x) { // no "string"
    x[0] = 'c' < 1 && true; /* two
lines */
}
```
<!-- end -->

| a | b |
| --- | ---: |
| `x\\|y` | 2 |

<!-- interactive: demo -->
Elsewhere see [the figure](../../docs/figures/demo.svg).

![A demo](../../docs/figures/demo.svg)

## The end
Again.
"""


class Tree(unittest.TestCase):
    def setUp(self) -> None:
        tools.import_generator()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name).resolve()
        self.put("README.md", README)
        self.put("LICENSE", "free\n")
        self.put("tests/x", "")
        self.put("chapters/meson.build", "chapter_names = ['01_one']\n")
        self.put("chapters/01_one/README.md", CHAPTER)
        self.put("chapters/01_one/one.cuh", "#pragma once\n__global__ void f(int* x) {}\n")
        self.put("docs/pages/words.md", "# Words\n\n## A b_c!\nText.\n")
        self.put("docs/figures/demo.svg", "<svg/>")
        self.put("docs/site/pictures/picture_demo.js", "")

    def put(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def render(self):
        from generator import build

        rendered, links = build.rendered_pages(self.root)
        return {result.page.name: result for result in rendered}, links

    def problems(self, addition: str) -> str:
        from generator.pages import SiteError

        self.put("README.md", README + addition)
        with self.assertRaises(SiteError) as caught:
            self.render()
        return str(caught.exception)

    def test_links_lead_to_pages_sections_listings_and_files(self) -> None:
        pages, links = self.render()
        html = pages["index"].sections[0].html
        for target in (
            'href="one.html"',
            'href="one.html#one-the-end"',
            'href="words.html#words-a-b_c"',
            'href="source:chapters/01_one/one.cuh#2"',
            'href="files/LICENSE.txt"',
            'href="https://example.org/x"',
        ):
            self.assertIn(target, html)
        self.assertIn(", tests and", html)
        self.assertEqual(links.copied["files/LICENSE.txt"], self.root / "LICENSE")

    def test_links_that_lead_nowhere_are_errors_with_file_and_line(self) -> None:
        self.assertIn(
            "README.md:6: the link 'nothing.md' leads to nothing", self.problems("\n[x](nothing.md)\n")
        )
        self.assertIn(
            "names no heading of docs/pages/words.md", self.problems("\n[x](docs/pages/words.md#no)\n")
        )
        self.assertIn("names no line of", self.problems("\n[x](chapters/01_one/one.cuh#L99)\n"))
        self.assertIn("names no heading of README.md", self.problems("\n[x](#no)\n"))
        self.assertIn("leads to nothing", self.problems("\n[x](../outside)\n"))

    def test_a_list_of_tasks_has_boxes_and_a_measured_table_a_caption(self) -> None:
        table = "<!-- measured: t -->\n\n| a |\n| --- |\n| 1 |\n\nWhat it is.\n\n<!-- end -->\n\nAfter it.\n"
        self.put("README.md", README + f"\n- [ ] do `it`\n- [x\n\n{table}")
        html = "".join(section.html for section in self.render()[0]["index"].sections)
        self.assertIn('<li class="task">do <code>it</code></li>', html)
        self.assertIn("<li>[x</li>", html)
        self.assertIn('<p class="table-caption">What it is.</p>', html)
        self.assertIn("<p>After it.</p>", html)

    def test_a_picture_without_words_is_an_error(self) -> None:
        self.assertIn("no alternative text", self.problems("\n![](docs/figures/demo.svg)\n"))

    def test_an_unknown_interactive_picture_is_an_error(self) -> None:
        said = self.problems("\n<!-- interactive: what -->\nElsewhere.\n")
        self.assertIn("no interactive picture 'what'; there are demo", said)

    def test_headings_become_sections_with_unique_names(self) -> None:
        sections = self.render()[0]["one"].sections
        self.assertEqual([s.title for s in sections], ["", "The end", "The end"])
        self.assertEqual([s.label for s in sections], ["", "one-the-end", "one-the-end-1"])
        self.assertNotIn("<h2", "".join(s.html for s in sections))

    def test_listing_is_coloured_and_says_where_it_comes_from(self) -> None:
        html = self.render()[0]["one"].sections[1].html
        self.assertIn('<a href="source:chapters/01_one/one.cuh#2">chapters/01_one/one.cuh, line 2</a>', html)
        self.assertIn('<span class="keyword">__global__</span> <span class="keywordtype">void</span>', html)
        self.assertIn('<span class="comment">// no &quot;string&quot;</span>', html)
        self.assertIn('<span class="charliteral">&#x27;c&#x27;</span> &lt; 1 &amp;&amp;', html)
        self.assertIn(
            '<span class="comment">/* two</span></div>\n<div class="line"><span class="comment">lines */</span>',
            html,
        )
        self.assertNotIn("<!-- code", html)

    def test_table_is_in_a_box_and_keeps_its_bars(self) -> None:
        html = self.render()[0]["one"].sections[1].html
        self.assertIn('<div class="table-box">', html)
        self.assertIn("<code>x|y</code>", html)

    def test_interactive_picture_takes_the_place_of_the_next_paragraph(self) -> None:
        result = self.render()[0]["one"]
        html = result.sections[1].html
        self.assertEqual(result.pictures, ["demo"])
        self.assertIn('<div class="interactive" data-picture="demo"><noscript><p>Elsewhere see', html)
        self.assertIn('<img src="files/docs/figures/demo.svg" alt="A demo" />', html)

    def test_a_question_is_asked_once_without_its_words_for_readers_of_the_file(self) -> None:
        kernel = 'kernel = "f"\nnumber = {counter = "loads"}\nchoices = [{number = 1}, {number = 2}]\n'
        self.put("chapters/01_one/predictions.toml", f'[[prediction]]\nname = "asked"\nquestion = "How many?"\n{kernel}why = "Two."\n')
        woven = "<!-- predict: asked -->\n\n> **Predict.** How many?\n>\n> - 1\n\n<!-- end -->\n\nAfter it.\n"
        self.put("chapters/01_one/README.md", CHAPTER + "\n## Asked\n" + woven)
        html = self.render()[0]["one"].sections[-1].html
        self.assertEqual((html.count("How many?"), html.count('<form class="predict"')), (1, 1))
        self.assertIn("After it.", html)
        self.assertNotIn("blockquote", html)

    def test_navigation_and_neighbours(self) -> None:
        from generator import frame, pages

        found = pages.all_pages(self.root)
        self.assertEqual([page.name for page in found], ["index", "one", "words"])
        self.assertEqual(found[1].label, "1 · Through one")
        bar = frame.navigation(found, {"one": 3})
        self.assertIn('<li><a href="one.html" data-chapter="one" data-questions="3">1 · Through one</a></li>', bar)
        self.assertIn('<a href="one.html" aria-current="page" data-chapter="one" data-questions="3">', frame.with_current(bar, "one.html"))
        contents = frame.contents(self.render()[0]["one"])
        self.assertIn('<li><a href="#one-the-end">The end</a></li>', contents)
        links = frame.neighbours(found, found[1])
        self.assertIn('rel="prev" href="index.html"', links)
        self.assertIn('rel="next" href="words.html"', links)

    def test_headings_are_below_the_title_and_lead_to_themselves(self) -> None:
        from generator import frame

        html = '<div class="title">One </div><h1><a class="anchor" id="one-a"></a>\nA</h1><h2><a class="anchor" id="one-b"></a>\nB</h2>'
        done = frame.with_headings(html, self.render()[0]["one"])
        self.assertIn('<h1 class="title">One</h1><h2 id="one-a">A<a class="permalink" href="#one-a"', done)
        self.assertIn('<h3 id="one-b">B<a', done)

    def test_a_term_is_explained_once_and_only_where_there_is_room(self) -> None:
        from generator import frame

        terms = {"glossary.html#a": ("a", "Short."), "glossary.html#b": ("b", "Long. " * 40)}
        linked = '<p>{} <a href="glossary.html#a">a</a> <a href="glossary.html#b">b</a></p>'
        html = frame.with_notes(linked.format("x " * 80) + linked.format("x " * 900), terms)
        first, second = html.split("</p>", 1)
        self.assertTrue(first.startswith('<div class="note" role="note"><a href="glossary.html#a" tabindex="-1">a</a> Short.</div><p>'))
        self.assertNotIn(">b</a> Long", first)
        self.assertIn(">b</a> Long", second)
        self.assertEqual(html.count("Short."), 1)

    def test_machine_code_is_folded_in_chapters_and_long_tables_where_they_are_measured(self) -> None:
        rows = "| a |\n| --- |\n" + "| 1 |\n" * 17
        addition = f"\n## More\n```sass\nEXIT\n```\n\n<!-- measured: t -->\n\n{rows}\n<!-- end -->\n\n{rows}"
        self.put("chapters/01_one/README.md", CHAPTER + addition)
        self.put("README.md", README + addition)
        pages, _ = self.render()
        chapter, other = (pages[name].sections[-1].html for name in ("one", "index"))
        self.assertIn('<details class="fold"><summary>Machine code, 1 line</summary><div class="fragment">', chapter)
        self.assertNotIn("Machine code", other)
        for html in (chapter, other):
            self.assertEqual(html.count("<summary>Table of 17 rows</summary>"), 1)

    def test_reports_after_the_first_are_folded_where_their_listing_is_annotated(self) -> None:
        report = "```\nerror[race-shared] in kernel first(int*)\n  --> chapters/01_one/one.cu:1: write\n```\n<!-- end -->\n\n"
        listing = "<!-- code: one.cu first -->\n```cuda\n__global__ void first() {} // expect: race-shared\n```\n<!-- end -->\n\n"
        self.put("chapters/01_one/one.cu", "__global__ void first() {}\n")
        alone = f"\n## Alone\n<!-- mistake: zero -->\n{report}"
        mistakes = "".join(f"{listing}<!-- mistake: {name} -->\n{report}" for name in ("one", "two", "three"))
        self.put("chapters/01_one/README.md", f"{CHAPTER}{alone}\n## Wrong\n{mistakes}")
        self.put("README.md", f"{README}{alone}\n## Wrong\n{mistakes}")
        pages, _ = self.render()
        folded = '<details class="fold"><summary>The emulator\'s report, 2 lines</summary>'
        chapter = pages["one"].sections
        self.assertEqual([section.html.count(folded) for section in chapter[-2:]], [0, 2])
        self.assertLess(chapter[-1].html.index("error[race-shared]"), chapter[-1].html.index(folded))
        self.assertEqual(sum(section.html.count("<details") for section in pages["index"].sections), 0)

    def test_a_listing_that_is_asked_about_bears_no_answer(self) -> None:
        report = "<!-- mistake: one -->\n```\nerror[race-shared] in kernel first(int*)\n  --> chapters/01_one/one.cu:1: write\n      | __global__ void first() {}\n```\n<!-- end -->\n\n"
        self.put("chapters/01_one/one.cu", "__global__ void first() {}\n")
        for mark, bears in (("first", True), ("first unmarked", False)):
            listing = f"<!-- code: one.cu {mark} -->\n```cuda\n__global__ void first() {{}}\n```\n<!-- end -->\n\n"
            self.put("chapters/01_one/README.md", f"{CHAPTER}\n## Wrong\n{listing}{report}")
            pages, _ = self.render()
            html = pages["one"].sections[-1].html
            shown = html[html.index('data-mistake="one"') : html.index("error[race-shared]")]
            self.assertEqual("▲ write" in shown, bears, shown)

    def test_each_part_of_an_appendix_is_folded_and_what_is_before_it_is_not(self) -> None:
        self.put("chapters/01_one/README.md", """# Chapter 1: one

## End
### Of it
Said.

## Appendix
Look things up.

### Machine code
Text.

```sass
NOP
```

### Table
| a |
| --- |
| 1 |
""")
        self.put("README.md", "# Book\n")
        parts = {section.title: section.html for section in self.render()[0]["one"].sections}
        self.assertNotIn("<details", parts["Of it"] + parts["Appendix"])
        self.assertTrue(parts["Machine code"].startswith('<details class="fold part"><summary>Show: text, 1 listing</summary>'))
        self.assertIn('<details class="fold" open><summary>Machine code, 1 line</summary>', parts["Machine code"])
        self.assertIn("<summary>Show: text, 1 table</summary>", parts["Table"])

    def test_first_page_has_a_card_for_each_chapter(self) -> None:
        self.put("docs/pages/home.md", "# Home\n\nHere.\n\n## The chapters\n<!-- home: chapters -->\n")
        manifest = '[[exercise]]\nname = "x"\ntitle = "X"\nkind = "fill"\ntask = "Do."\nminutes = 7\nhints = ["a", "b", "c"]\nlearned = "It."\nfails_with = "no"\n'
        self.put("chapters/01_one/exercises/exercises.toml", manifest)
        self.put("chapters/01_one/solutions/x.cu", "/// @file x.cu\nint a;\n//@ hole\nint b;\n//? // YOUR CODE\n//@ end\n")
        self.put("chapters/01_one/solutions/analysis.toml", '[x]\ntext = "So."\n')
        bars = (("copy", 10, 30, 20, 30), ("wait", 10, 80, 40, 20))
        drawn = [f'<rect class="{kind}" x="{x}" y="{y}" width="{w}" height="{h}" rx="2"><title>a: 1</title></rect>' for kind, x, y, w, h in bars]
        self.put("docs/figures/demo.svg", f'<svg><title>Two bars</title><rect class="plain" x="0" y="0" width="9" height="9" rx="2"/>{"".join(drawn)}</svg>')
        pages, _ = self.render()
        html = "".join(section.html for section in pages["index"].sections)
        self.assertIn('<a class="card" href="one.html" data-chapter="one"><b>', html)
        self.assertIn('viewBox="0 0 40 70" preserveAspectRatio="none" aria-hidden="true"><rect class="copy" x="0" y="0" width="20" height="30"/>', html)
        self.assertIn('<rect class="wait" x="0" y="50" width="40" height="20"/></svg><span class="thumb-title">Two bars</span>', html)
        self.assertIn("1 exercise, 7 minutes", html)
        self.assertEqual(pages["readme"].page.source, self.root / "README.md")

    def test_chapters_that_the_glossary_names_are_links_to_where_they_speak_of_the_term(self) -> None:
        self.put("docs/pages/glossary.md", "# Glossary\n\n## tile\nIt is. (chapters\n1, 1 and 7; [chapter 1](../../chapters/01_one/README.md))\n\n## box\nIt. (chapter 1)\n")
        self.put("chapters/01_one/README.md", CHAPTER + "\nOf a [tile](../../docs/pages/glossary.md#tile).\n")
        sections = {section.title: section.html for section in self.render()[0]["glossary"].sections}
        there = '<a href="one.html#one-the-end-1">1</a>'
        self.assertIn(f'(chapters\n{there}, {there} and 7; <a href="one.html">chapter 1</a>)', sections["tile"])
        self.assertIn('(<a href="one.html">chapter 1</a>)', sections["box"])

    def test_the_glossary_begins_with_its_letters(self) -> None:
        self.put("docs/pages/glossary.md", "# Glossary\n\nWords.\n\n## bank\nIt.\n\n## box\nIt.\n\n## SM\nIt.\n\n## sector\nIt.\n")
        pages, _ = self.render()
        shown = '<p class="letters"><a href="#glossary-bank">B</a> <a href="#glossary-sm">S</a></p>\n'
        self.assertEqual(pages["glossary"].sections[0].html, f"<p>Words.</p>\n{shown}")
        self.assertNotIn("letters", "".join(section.html for section in pages["words"].sections))

    @unittest.skipUnless(shutil.which("git"), "git is not here")
    def test_a_clone_s_address_is_shown_and_where_there_is_none_it_is_said_who_has_it(self) -> None:
        self.put("README.md", f"{README}\n```\ngit clone <this repository> book\n./workbook run\n```\n\nAfter it.\n")

        def shown() -> str:
            return "".join(section.html for section in self.render()[0]["index"].sections)

        words, said = '<div class="line">git clone &lt;this repository&gt; book</div>', "</div>\n</div>\n<p>Git knew no address"
        for html in (shown(), self.with_origin(shown, "/srv/book"), self.with_origin(shown, "https://a.org/$(x)")):
            self.assertIn(words, html)
            self.assertEqual(html.count(said), 1)
            self.assertIn("<p>After it.</p>", html)
        html = self.with_origin(shown, "https://ann:secret@a.org/x/book.git")
        self.assertIn('<div class="line">git clone https://a.org/x/book.git book</div>', html)
        self.assertNotIn("Git knew", html)

    def with_origin(self, shown: Callable[[], str], address: str) -> str:
        """What `shown` returns while the tree is a clone of `address`."""
        for command in (["init", "--quiet"], ["config", "remote.origin.url", address]):
            subprocess.run(["git", "-C", str(self.root), *command], check=True)
        return shown()

    @unittest.skipUnless(shutil.which("git"), "git is not here")
    def test_a_clone_around_the_tree_is_not_the_tree_s(self) -> None:
        from generator import origin

        below = self.root / "below"
        below.mkdir()
        self.with_origin(str, "https://a.org/x")
        self.assertEqual(origin.address(self.root), "https://a.org/x")
        self.assertEqual(origin.address(below), "")

    def test_an_address_is_shown_without_user_and_password(self) -> None:
        from generator import origin

        for address, public in (
            ("https://a.org/x/y.git", "https://a.org/x/y.git"),
            ("http://ann@a.org:8080/y", "http://a.org:8080/y"),
            ("https://token:secret@a.org/y?key=secret#k", "https://a.org/y"),
            ("ssh://ann:secret@a.org:22/y", "ssh://a.org:22/y"),
            ("ssh://git@a.org/y", "ssh://git@a.org/y"),
            ("git@a.org:x/y.git", "git@a.org:x/y.git"),
            ("ann@a.org:x/y.git", "a.org:x/y.git"),
            ("ann:secret@a.org:x/y.git", "a.org:x/y.git"),
            ("https://[::1]:80/y", "https://[::1]:80/y"),
            *((none, "") for none in ("", "/srv/y", "../y", "file:///srv/y", "y.bundle", "https:///y", "https://a.org:x/y", "https://a.org/y;id", "work:y", "ann.b:secret@work:y")),
        ):
            with self.subTest(address=address):
                self.assertEqual(origin.public(address), public)

    def test_a_table_that_answers_the_picture_above_it_is_folded(self) -> None:
        table = "| a |\n| --- |\n| 1 |\n"
        picture = "\n<!-- interactive: demo -->\n\n{}\n\n" + table
        for below, folds in (("(Without the site, cover the column.)", 1), ("Elsewhere see it.", 0)):
            self.put("README.md", "# Book\n")
            self.put("chapters/01_one/README.md", "# Chapter 1: one\n" + picture.format(below) + "\nThen.\n\n" + table)
            html = self.render()[0]["one"].sections[0].html
            self.assertEqual(html.count('<details class="fold"><summary>The answers, in a table</summary>'), folds)
            self.assertEqual(html.count("<details"), folds)

    def test_names_of_the_shared_library_lead_to_the_reference_and_other_words_do_not(self) -> None:
        from generator import frame
        from generator.doxygen import Names

        page = self.render()[0]["one"].page
        shared = ["copy_all", "check", "Table", "tile_count"]
        symbols = [("function", f"workbook::{name}", f"w.html#{name}") for name in shared]
        names = Names({}, [*symbols, ("function", "one::tile_count", "one.html#t")])
        for code, linked in (
            ("copy_all", True),
            ("copy_all()", True),
            ("workbook::check", True),
            ("Table", True),
            ("check", False),
            ("tile_count", False),
            ("workbook::tile_count", True),
            ("other_name", False),
        ):
            html = frame.with_references(f"<p><code>{code}</code></p>", page, names)
            self.assertEqual("<a href=" in html, linked, code)
        inside = '<a href="x"><code>copy_all</code></a>'
        self.assertEqual(frame.with_references(inside, page, names), inside)

    def test_rates_of_a_gpu_are_those_with_one_block_on_each_sm(self) -> None:
        import json

        from generator import frame

        ids = ["kernel", "stages", "work", "blocks_per_sm", "gb_per_s"]
        rows = [["n_stages", 2, 16, 1, 3.5], ["n_stages", 2, 16, 4, 9.5], ["with_staging", 2, 16, 1, 4.5], ["n_stages", 1, 1, 1, 2.5]]
        table = {"title": "t", "columns": ids, "ids": ids, "rows": rows}
        self.put("docs/measurements/h200.json", json.dumps({"tables": {"pipeline_stages": table}}))
        self.assertEqual(
            frame.picture_data(self.root, "pipeline"), {"measured": [{"work": 1, "points": [[1, 2.5]]}, {"work": 16, "points": [[2, 3.5]]}]}
        )

    def test_titles_say_nothing_to_doxygen(self) -> None:
        from generator import build

        self.assertEqual(build._text("a::b <c> @d #e `f`"), r"a::b \<c\> \@d \#e \`f\`")

    def test_a_tree_without_list_of_chapters_is_an_error(self) -> None:
        from generator.pages import SiteError

        self.put("chapters/meson.build", "names = ['01_one']\n")
        with self.assertRaisesRegex(SiteError, "no list `chapter_names"):
            self.render()

    def test_a_page_without_title_is_an_error(self) -> None:
        from generator.pages import SiteError

        self.put("docs/pages/bare.md", "text\n")
        with self.assertRaisesRegex(SiteError, "bare.md: no heading"):
            self.render()


class Mistakes(unittest.TestCase):
    CODE = "__global__ void k() {\n    x = 1;\n    wait();\n    y = x; // expect: race-shared\n    wait();\n}"
    MESSAGE = """$ ./workbook run a --mistakes -- k
error[race-shared] in kernel k()
  --> a.cu:13: read by thread (0,0,0)
      of block (0,0,0)
      | y = x;
  --> a.cu:14: wait of thread 1
      | wait();
  --> b.cuh:11: elsewhere
      | z = 1;
  what to do: Wait."""

    def test_what_is_said_of_a_line_stands_below_it(self) -> None:
        tools.import_generator()
        from generator import mistakes

        html = mistakes.annotated("k", self.CODE, ">a.cu, line 10</a>", self.MESSAGE)
        self.assertIn('<div class="line">    y = x;</div><div class="said">▲ read by thread (0,0,0) of block (0,0,0)</div>', html)
        # Of two lines with the same text the one with the number; nothing of a line that is not there.
        self.assertRegex(html, r'wait\(\);</div>\n<div class="line">    y = x;(?s:.*)wait\(\);</div><div class="said">▲ wait of thread 1</div>')
        self.assertNotIn("elsewhere", html)
        self.assertNotIn("expect:", html)
        self.assertIn('data-mistake="k"', html)


if __name__ == "__main__":
    unittest.main()
