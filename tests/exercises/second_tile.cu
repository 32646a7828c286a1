/// @file second_tile.cu
/// Judge of chapter 7's second_tile.
#include "judge.hpp"

#include "workbook/matrix.hpp"

#include <cstddef>
#include <string>
#include <vector>

void launch_second_tile(workbook::Matrix<const int> first, workbook::Matrix<const int> second,
                        workbook::Matrix<int> out);

namespace {

/// Recognises a second tile that begins inside the pattern of the swizzle, and one that is read without the
/// swizzle: only then is row 0 right.
std::string explain(const judge::Wrong<int>& wrong, const std::vector<int>& first,
                    const std::vector<int>& second, std::size_t width) {
    const std::size_t column = wrong.index % width;
    const std::size_t row = wrong.index / width % 8;
    const std::size_t in_row = wrong.index - column % 32;
    const auto second_chunk_is = [&](std::size_t chunk) {
        return wrong.actual == first[wrong.index] - second[in_row + chunk * 4 + column % 4];
    };
    if (row > 0 && second_chunk_is(column % 32 / 4 ^ row))
        return "The first tile is right. The second is read as if it were not swizzled: its row 0 is right, "
               "for chunks of row 0 are XORed with 0.";
    for (std::size_t begin = 1; begin < 8; ++begin) {
        if (second_chunk_is(column % 32 / 4 ^ row ^ (row + begin) % 8))
            return "The first tile is right. The second seems to begin in row " + std::to_string(begin) +
                   " of the pattern of the swizzle, which repeats every 1024 bytes: it is the absolute "
                   "address that counts, and swizzled_index wants a tile at a multiple of 1024.";
    }
    return "";
}

} // namespace

void judge::run() {
    struct Case {
        std::size_t width;
        std::size_t height;
    };
    for (const auto [width, height] : {Case{32, 8}, {64, 24}, {160, 40}}) {
        trying("matrices of " + std::to_string(width) + " × " + std::to_string(height));
        const auto first_values =
            workbook::random_integers<int>(width * height, width, -1'000'000, 1'000'000);
        const auto second_values =
            workbook::random_integers<int>(width * height, height, -1'000'000, 1'000'000);
        const auto first = input(first_values, 4);
        const auto second = input(second_values, 8);
        auto out = output<int>(width * height);
        launch_second_tile({first.data(), width, height, width}, {second.data(), width, height, width},
                           {out.data(), width, height, width});
        std::vector<int> expected(width * height);
        for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] = first_values[i] - second_values[i];
        expect_exact<int>("out", out, expected, [&](const auto& wrong) {
            return explain(wrong, first_values, second_values, width);
        });
    }
}
