"""Cutting definitions and regions out of source files."""

import unittest

from weaving import code
from weaving.errors import WeaveError

SOURCE = """\
#include <vector>
#define OPEN {
namespace a {

/// Doc comment with a brace {.
inline constexpr int tile = 1'000; // the width
constexpr char brace = '{';
const char* text() { return "} \\" {"; /* } */ }

/// Nested templates.
template <template <class> class Outer, class T = std::vector<std::vector<int>>>
    requires(sizeof(T) > 4)
struct Box {
    Box(int size) : first{size}, second(size) { first += 1; }
    int area() const noexcept { return first * second; }
    int first;
    int second = tile;
};

int calls(int x);
int calls(int x) {
    if (x > tile) { // }
        return text()[0] + x;
    }
    return R"(}}})"[0];
}

template <int N>
__global__ void __launch_bounds__(128) kernel(const int* in, int* out) {
    out[0] = calls(in[0]) + N;
}

void over(int x) { calls(x); }
void over(float x) { calls(int(x)); }

enum class Mode : unsigned { plain, fancy };
using Alias = Box<std::vector, int>;
constexpr int table[] = {1, 2, tile};

    __device__ int indented(int x) {
        return x;
    }
} // namespace a
"""


class Definitions(unittest.TestCase):
    def setUp(self) -> None:
        self.source = code.Source(SOURCE)

    def test_function_ends_at_its_own_brace(self) -> None:
        self.assertEqual(
            self.source.definition("calls"),
            'int calls(int x) {\n    if (x > tile) { // }\n        return text()[0] + x;\n    }\n    return R"(}}})"[0];\n}',
        )

    def test_braces_in_literals_and_comments_do_not_count(self) -> None:
        self.assertEqual(self.source.definition("text"), 'const char* text() { return "} \\" {"; /* } */ }')
        self.assertEqual(self.source.definition("brace"), "constexpr char brace = '{';")

    def test_constant_keeps_its_comment_and_loses_its_doc_comment(self) -> None:
        self.assertEqual(self.source.definition("tile"), "inline constexpr int tile = 1'000; // the width")

    def test_template_line_belongs_to_the_definition(self) -> None:
        box = self.source.definition("Box")
        self.assertTrue(box.startswith("template <template <class> class Outer"), box)
        self.assertTrue(box.endswith("int second = tile;\n};"), box)
        self.assertTrue(self.source.definition("kernel").startswith("template <int N>\n__global__"))

    def test_members_by_their_outer_name(self) -> None:
        self.assertEqual(
            self.source.definition("Box::area"), "int area() const noexcept { return first * second; }"
        )
        self.assertEqual(
            self.source.definition("Box::Box"), "Box(int size) : first{size}, second(size) { first += 1; }"
        )

    def test_enum_alias_and_array(self) -> None:
        self.assertEqual(self.source.definition("Mode"), "enum class Mode : unsigned { plain, fancy };")
        self.assertEqual(self.source.definition("Alias"), "using Alias = Box<std::vector, int>;")
        self.assertEqual(self.source.definition("table"), "constexpr int table[] = {1, 2, tile};")

    def test_indented_definition_is_dedented(self) -> None:
        self.assertEqual(
            self.source.definition("indented"), "__device__ int indented(int x) {\n    return x;\n}"
        )

    def test_overloads_need_a_number(self) -> None:
        with self.assertRaisesRegex(WeaveError, r"'over' has 2 definitions \(lines 33, 34\)"):
            self.source.definition("over")
        self.assertEqual(self.source.definition("over#2"), "void over(float x) { calls(int(x)); }")
        with self.assertRaisesRegex(WeaveError, "there are 2"):
            self.source.definition("over#3")

    def test_unknown_symbols_and_mere_uses_are_errors(self) -> None:
        for symbol in ("missing", "first", "OPEN", "Nowhere::x", "N"):
            with self.subTest(symbol), self.assertRaises(WeaveError):
                self.source.definition(symbol)

    def test_unbalanced_file_is_an_error(self) -> None:
        with self.assertRaisesRegex(WeaveError, "line 1: '{' is never closed"):
            code.Source("void f() {\n").definition("f")
        with self.assertRaisesRegex(WeaveError, "line 2: '}' closes nothing"):
            code.Source("void f() {}\n}\n").definition("f")


class Regions(unittest.TestCase):
    TEXT = "a\n    // [one]\n    b\n    // [two]\n      c\n    // [/two]\n    // [/one]\nd\n"

    def test_region_is_dedented_and_without_other_tags(self) -> None:
        self.assertEqual(code.region(self.TEXT, "one"), "b\n  c")
        self.assertEqual(code.region(self.TEXT, "two"), "c")

    def test_tags(self) -> None:
        self.assertEqual(code.tags(self.TEXT), [(2, "one"), (4, "two")])

    def test_errors(self) -> None:
        for text, message in (
            ("x\n", "there is no region"),
            ("// [t]\nx\n", "has no end"),
            ("// [t]\n// [/t]\n// [t]\n// [/t]\n", "twice"),
            ("// [/t]\n", "twice"),
        ):
            with self.subTest(text), self.assertRaisesRegex(WeaveError, message):
                code.region(text, "t")


if __name__ == "__main__":
    unittest.main()
