"""Who includes what at the public edge of the emulator: users of the library see its public headers, and nothing below."""

import re
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

EMULATOR = Path(__file__).resolve().parents[3] / "common/emulator"
PUBLIC = EMULATOR / "include/hopper_emulator"
# Who uses the library, and what is theirs besides its headers.
USERS = {"cuda": ("cuda/", "images/"), "images": ("images/",), "tools": (), "examples": ()}
STANDARD = re.compile(r"^[a-z_]+$")


def includes(file: Path) -> Iterator[str]:
    for match in re.finditer(r'^\s*#\s*include\s*(["<][^">]+)[">]', file.read_text("utf-8"), re.MULTILINE):
        yield match[1]


def sources(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.suffix in (".hpp", ".cpp"))


def below(files: list[Path], own: tuple[str, ...]) -> list[str]:
    """The includes of the emulator's own files that are neither public nor the user's own."""
    inner = {path.relative_to(EMULATOR).parts[0] for path in sources(EMULATOR)} - {"include"}
    found = []
    for file in files:
        for name in includes(file):
            path = name[1:]
            if path.split("/")[0] in inner and not path.startswith(own):
                found.append(f"{file.relative_to(EMULATOR)}: {path}")
            elif ".." in path.split("/"):
                found.append(f"{file.relative_to(EMULATOR)}: {path}")
    return found


class Edge(unittest.TestCase):
    def test_users_of_the_library_include_its_public_headers_and_nothing_below(self) -> None:
        for user, own in USERS.items():
            with self.subTest(user):
                files = sources(EMULATOR / user)
                self.assertGreater(len(files), 0)
                self.assertEqual(below(files, own), [])

    def test_an_include_from_below_is_found(self) -> None:
        self.assertIn("cuda/state.hpp: hopper_emulator/device.hpp", [
            f"cuda/state.hpp: {name[1:]}" for name in includes(EMULATOR / "cuda/state.hpp")])
        self.assertNotEqual(below(sources(EMULATOR / "machine"), ()), [])

    def test_public_headers_include_the_standard_library_and_each_other(self) -> None:
        headers = sorted(PUBLIC.glob("*.hpp"))
        self.assertGreater(len(headers), 10)
        for header in headers:
            for name in includes(header):
                path = name[1:]
                with self.subTest(f"{header.name}: {path}"):
                    if name[0] == "<":
                        self.assertRegex(path, STANDARD)
                    else:
                        self.assertTrue(path.startswith("hopper_emulator/"))

    def test_what_public_headers_declare_is_visible_and_what_is_not_theirs_is_not(self) -> None:
        """Names of classes that stay inside stand in front of the visible part, and have no definition."""
        for header in sorted(PUBLIC.glob("*.hpp")):
            with self.subTest(header.name):
                text = header.read_text("utf-8")
                self.assertEqual(text.count("#pragma GCC visibility push(default)"), 1)
                before, visible = text.split("#pragma GCC visibility push(default)")
                self.assertTrue(visible.rstrip().endswith("#pragma GCC visibility pop"))
                self.assertNotRegex(visible, re.compile(r"^(?:class|struct) \w+;", re.MULTILINE))
                self.assertNotRegex(before, re.compile(r"^(?:class|struct|enum) .*\{", re.MULTILINE))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
