"""What one rung changes of another."""

import tempfile
import unittest
from pathlib import Path

from weaving import differences

OLD = """/// @file one.cuh
/// The first.
#pragma once

namespace a::one {

/// Copies.
__global__ void one_gemm(int count, const float* in,
                         float* out) {
    out[0] = in[0];
    one::helper();
}

} // namespace a::one
"""


class Differences(unittest.TestCase):
    def differences(self, new: str, context: int = 1) -> list[str]:
        with tempfile.TemporaryDirectory() as directory:
            paths = [Path(directory) / name for name in ("one.cuh", "two.cuh")]
            paths[0].write_text(OLD, "utf-8")
            paths[1].write_text(new, "utf-8")
            return differences.differences(*paths, context)

    def test_a_name_and_a_head_alone_are_no_difference(self) -> None:
        new = OLD.replace("one", "second").replace("The first.", "Something else.")
        self.assertEqual(self.differences(new), [])

    def test_where_a_head_breaks_is_no_difference(self) -> None:
        self.assertEqual(self.differences(OLD.replace("in,\n                         float", "in, float")), [])

    def test_a_changed_line_is_shown_with_its_neighbours(self) -> None:
        lines = self.differences(OLD.replace("in[0]", "in[1]"))
        self.assertEqual(lines[1:3], ["-    out[0] = in[0];", "+    out[0] = in[1];"])
        self.assertEqual(lines[3], "     rung::helper();")

    def test_places_apart_are_parted(self) -> None:
        new = OLD.replace("/// Copies.", "/// Copies one.").replace("    one::helper();\n", "")
        self.assertIn("…", self.differences(new, 0))

    def test_two_definitions_of_one_file_differ_in_what_is_not_their_name(self) -> None:
        text = "void one(int a) {\n    a += 1;\n    one_more(a);\n}\n\nvoid two(int a) {\n    a += 2;\n    one_more(a);\n}\n"
        lines = differences.between_definitions(text, "one", "two")
        self.assertEqual(lines, [" void kernel(int a) {", "-    a += 1;", "+    a += 2;", "     one_more(a);"])
        self.assertEqual(differences.between_definitions(text.replace("2", "1"), "one", "two"), [])


if __name__ == "__main__":
    unittest.main()
