/// @file xor_the_chunk.cpp
/// Judge of chapter 7's xor_the_chunk.
#include "judge.hpp"

#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr int columns = 32;
constexpr int rows = 16;

/// Says which element of the tile came instead of the one that was wanted.
std::string explain(const judge::Wrong<int>& wrong, const std::vector<int>& tile) {
    const int row = static_cast<int>(wrong.index) / columns;
    const int column = static_cast<int>(wrong.index) % columns;
    const auto here = std::find(tile.begin(), tile.end(), wrong.actual);
    if (here == tile.end() || judge::is_poison(wrong.actual) || wrong.actual == 0)
        return ""; // 0 stands for all that lies outside of the matrix
    const auto found = here - tile.begin();
    const int from_row = static_cast<int>(found) / columns;
    const int from = static_cast<int>(found) % columns;
    const std::string place = "place(" + std::to_string(row) + ", " + std::to_string(column) +
                              ") leads to element (" + std::to_string(from_row) + ", " +
                              std::to_string(from) + "). ";
    const int read = from_row * columns + (from / 4 ^ from_row % 8) * 4 + from % 4;
    if (read == ((row * columns + column / 4) ^ (row % 8 * 4 + column % 4)))
        return place + "In C++ ^ comes after * and +: put parentheses around the whole XOR of the chunk.";
    if (from_row != row)
        return place + "The swizzle never leaves the row.";
    if (from % 4 != column % 4)
        return place + "Within a chunk of 4 ints nothing moves.";
    if (from / 4 == (column / 4 ^ row % 8))
        return place + "Chunk " + std::to_string(column / 4) +
               " was not XORed with the row: it lies at chunk " + std::to_string(column / 4) + " XOR " +
               std::to_string(row % 8) + " = " + std::to_string(column / 4 ^ row % 8) + " of its row.";
    return place + "Chunk " + std::to_string(column / 4) + " of row " + std::to_string(row) +
           " lies at chunk " + std::to_string(column / 4 ^ row % 8) + " of its row.";
}

/// What the tile at (x, y) holds: 0 where the matrix has ended.
std::vector<int> tile_at(workbook::Matrix<const int> matrix, std::size_t x, std::size_t y) {
    std::vector<int> tile;
    for (std::size_t row = y; row < y + rows; ++row)
        for (std::size_t column = x; column < x + columns; ++column)
            tile.push_back(
                row < matrix.height && column < matrix.width ? matrix.data[row * matrix.pitch + column] : 0);
    return tile;
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, int, int, int*)> kernel("xor_the_chunk");
    struct Case {
        std::size_t width;
        std::size_t height;
        std::size_t x;
        std::size_t y;
    };
    for (const auto [width, height, x, y] : {Case{100, 61, 0, 0},
                                             {100, 61, 32, 16},
                                             {100, 61, 4, 3},
                                             {32, 16, 0, 0},
                                             {100, 61, 68, 45},
                                             {75, 33, 56, 25},
                                             {3, 2, 0, 0}}) {
        trying("the tile at (" + std::to_string(x) + ", " + std::to_string(y) + ") of a matrix of " +
               std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = workbook::row_pitch<int>(width);
        const std::vector<int> values = workbook::random_values<int>(pitch * height, width + x);
        const auto in = input(values, 4);
        auto out = output<int>(columns * rows);
        const workbook::TensorLayout<2> layout{.dims = {width, height},
                                               .strides = {pitch * sizeof(int)},
                                               .box = {columns, rows},
                                               .swizzle = workbook::Swizzle::bytes128};
        kernel({.block = columns * rows}, workbook::make_tensor_map(in.data(), layout), static_cast<int>(x),
               static_cast<int>(y), out.data());
        const std::vector<int> expected = tile_at({values.data(), width, height, pitch}, x, y);
        expect_exact<int>("out", out, expected, [&](const auto& wrong) { return explain(wrong, expected); });
    }
}
