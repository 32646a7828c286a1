/// @file xor_the_chunk.cu
/// Judge of chapter 7's xor_the_chunk.
#include "judge.hpp"

#include "workbook/matrix.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_xor_the_chunk(workbook::Matrix<const int> matrix, int x, int y, std::span<int> out);

namespace {

constexpr int columns = 32;
constexpr int rows = 16;

/// Says which element of the tile came instead of the one that was wanted.
std::string explain(const judge::Wrong<int>& wrong, const std::vector<int>& tile) {
    const int row = static_cast<int>(wrong.index) / columns;
    const int column = static_cast<int>(wrong.index) % columns;
    std::size_t found = 0;
    while (found < tile.size() && tile[found] != wrong.actual)
        ++found;
    if (found == tile.size())
        return "place(" + std::to_string(row) + ", " + std::to_string(column) + ") leads out of the tile.";
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

} // namespace

void judge::run() {
    constexpr std::size_t width = 100;
    constexpr std::size_t height = 61;
    std::vector<int> values(width * height);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<int>(i) + 1;
    const auto in = input(values, 4);
    struct Corner {
        std::size_t x;
        std::size_t y;
    };
    for (const auto [x, y] : {Corner{0, 0}, {32, 16}, {4, 3}, {68, 45}}) {
        trying("the tile at (" + std::to_string(x) + ", " + std::to_string(y) + ")");
        auto out = output<int>(columns * rows);
        launch_xor_the_chunk({in.data(), width, height, width}, static_cast<int>(x), static_cast<int>(y),
                             out.span());
        std::vector<int> expected;
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; ++column)
                expected.push_back(values[(y + row) * width + x + column]);
        expect_exact<int>("out", out, expected, [&](const auto& wrong) { return explain(wrong, expected); });
    }
}
