/// @file xor_the_chunk.cpp
/// Judge of chapter 7's xor_the_chunk.
#include "judge.hpp"

#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Element = std::uint16_t;

constexpr int tiles = 3;
constexpr int columns = 32;
constexpr int rows = 10;
constexpr int elements = rows * columns;
constexpr int chunk = 8; ///< elements

/// Element (row, column) of a tile.
struct At {
    int tile;
    int row;
    int column;
};

/// Where the start of an element's row is, and which line of 128 bytes that is.
constexpr int start(At at) { return at.tile * elements + at.row * columns; }
constexpr int line(At at) { return start(at) / 64; }

constexpr int swizzled(At at, int by) {
    return start(at) + (at.column / chunk ^ by) * chunk + at.column % chunk;
}
constexpr int place(At at) { return swizzled(at, line(at) % 4); }

/// A wrong function that learners write, and what to say of it.
struct Wrong {
    int (*place)(At at);
    const char* says;
};

/// The one that gives the whole result is told: one element may be what several of them give.
constexpr Wrong wrong_places[] = {
    {[](At at) { return swizzled(at, at.row / 2 % 4); },
     "It seems to count lines from the start of the tile. But the pattern begins at multiples of 512 bytes, "
     "and a tile of 640 bytes ends inside it."},
    {[](At at) { return swizzled(at, start(at) / 128 % 4); },
     "It seems to count lines of 128 elements. But a line has 128 bytes, which are 64 elements of 16 bits."},
    {[](At at) { return start(at) + at.column; },
     "It seems to XOR nothing. But the copy has moved the chunk."},
    {[](At at) { return swizzled(at, at.row % 4); },
     "It seems to XOR with the row. But two rows of 64 bytes share a line of 128, and get the same number."},
    {[](At at) { return swizzled(at, (at.tile * rows + at.row) % 4); },
     "It seems to XOR with the row. But two rows of 64 bytes share a line of 128, and get the same number."},
    {[](At at) { return (start(at) + at.column / chunk) ^ (line(at) % 4 * chunk + at.column % chunk); },
     "In C++ ^ comes after * and +: put parentheses around the whole XOR of the chunk."},
    {[](At at) { return start(at) + (at.column ^ line(at) % 4); },
     "Within a chunk of 8 elements nothing moves."},
};

/// The element that `out` has at an index.
constexpr At at_index(int index) { return {index / elements, index % elements / columns, index % columns}; }

/// True if a place function gives this result from these shared elements.
bool gives(int (*place)(At at), const std::vector<Element>& shared, const std::vector<Element>& result) {
    for (int i = 0; i < tiles * elements; ++i)
        if (const int found = place(at_index(i)); found >= tiles * elements || shared[found] != result[i])
            return false;
    return true;
}

/// Says which mistake leads to this result.
std::string explain(const judge::Wrong<Element>& wrong, const std::vector<Element>& result,
                    const std::vector<Element>& expected) {
    const At at = at_index(static_cast<int>(wrong.index));
    std::vector<Element> shared(expected.size());
    for (int i = 0; i < tiles * elements; ++i)
        shared[place(at_index(i))] = expected[i];
    const std::string asked = "place(" + std::to_string(at.tile) + ", " + std::to_string(at.row) + ", " +
                              std::to_string(at.column) + ") leads elsewhere. ";
    for (const Wrong& one : wrong_places)
        if (gives(one.place, shared, result))
            return asked + one.says;
    return asked + "Chunk " + std::to_string(at.column / chunk) + " is in line " + std::to_string(line(at)) +
           " of the pattern, so it is at place " + std::to_string(at.column / chunk ^ line(at) % 4) +
           " of its row.";
}

/// What the tiles from (x, y) on hold: 0 where the matrix has ended.
std::vector<Element> tiles_at(workbook::Matrix<const Element> matrix, std::size_t x, std::size_t y) {
    std::vector<Element> all;
    for (std::size_t row = y; row < y + tiles * rows; ++row)
        for (std::size_t column = x; column < x + columns; ++column)
            all.push_back(
                row < matrix.height && column < matrix.width ? matrix.data[row * matrix.pitch + column] : 0);
    return all;
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, int, int, Element*)> kernel("xor_the_chunk");
    struct Case {
        std::size_t width;
        std::size_t height;
        std::size_t x;
        std::size_t y;
    };
    for (const auto [width, height, x, y] : {Case{100, 61, 0, 0},
                                             {100, 61, 32, 16},
                                             {100, 61, 8, 3},
                                             {32, 30, 0, 0},
                                             {100, 61, 72, 45},
                                             {75, 33, 56, 25},
                                             {3, 2, 0, 0}}) {
        trying("the tiles from (" + std::to_string(x) + ", " + std::to_string(y) + ") on of a matrix of " +
               std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = workbook::row_pitch<Element>(width);
        std::vector<Element> values(pitch * height);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<Element>((i + 1) * 40'503); // odd, so no value comes twice
        const auto in = input(values, 8);
        auto out = output<Element>(tiles * elements);
        const workbook::TensorLayout<2> layout{.dims = {width, height},
                                               .strides = {pitch * sizeof(Element)},
                                               .box = {columns, rows},
                                               .swizzle = workbook::Swizzle::bytes64};
        kernel({.block = elements}, workbook::make_tensor_map(in.data(), layout), static_cast<int>(x),
               static_cast<int>(y), out.data());
        const std::vector<Element> expected = tiles_at({values.data(), width, height, pitch}, x, y);
        expect_exact<Element>("out", out, expected,
                              [&](const auto& wrong) { return explain(wrong, out.download(), expected); });
    }
}
