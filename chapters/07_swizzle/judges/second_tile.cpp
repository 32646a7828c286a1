/// @file second_tile.cpp
/// Judge of chapter 7's second_tile.
#include "judge.hpp"

#include "workbook/tensor_map.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr int tile_columns = 32;
constexpr int tile_rows = 8;
constexpr std::size_t room = 2304; ///< bytes: both tiles and a barrier, and no gap of nearly a pattern

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

/// The map of a matrix for swizzled tiles.
CUtensorMap map_of(const int* data, std::size_t width, std::size_t height) {
    return workbook::make_tensor_map(data, workbook::TensorLayout<2>{.dims = {width, height},
                                                                     .strides = {width * sizeof(int)},
                                                                     .box = {tile_columns, tile_rows},
                                                                     .swizzle = workbook::Swizzle::bytes128});
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap, int*, int)> kernel("second_tile");
    struct Case {
        std::size_t width;
        std::size_t height;
    };
    for (const auto [width, height] : {Case{32, 8}, {64, 24}, {160, 40}, {32, 104}}) {
        trying("matrices of " + std::to_string(width) + " × " + std::to_string(height));
        const std::size_t size = width * height;
        const auto first_values = workbook::random_integers<int>(size, width, -1'000'000, 1'000'000);
        const auto second_values = workbook::random_integers<int>(size, height, -1'000'000, 1'000'000);
        const auto first = input(first_values, 4);
        const auto second = input(second_values, 8);
        auto out = output<int>(size);
        const dim3 grid(workbook::blocks_for(width, tile_columns), workbook::blocks_for(height, tile_rows));
        kernel({.grid = grid, .block = tile_columns * tile_rows, .dynamic_shared = room},
               map_of(first.data(), width, height), map_of(second.data(), width, height), out.data(),
               static_cast<int>(width));
        std::vector<int> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = first_values[i] - second_values[i];
        expect_exact<int>("out", out, expected, [&](const auto& wrong) {
            return explain(wrong, first_values, second_values, width);
        });
    }
}
