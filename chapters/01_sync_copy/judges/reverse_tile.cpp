/// @file reverse_tile.cpp
/// Judge of chapter 1's reverse_tile.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 256;

/// The usual slip: a block index left out, so that every block brings the first tile.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& in) {
    const std::size_t start = wrong.index - wrong.index % tile;
    const std::size_t count = std::min(tile, in.size() - start);
    const std::size_t place = start + count - 1 - wrong.index; // in the tile
    if (start > 0 && wrong.actual == in[place])
        return "Tile " + std::to_string(start / tile) +
               " has the elements of tile 0: the index into `in` must count from `start`.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("reverse_tile");
    for (const std::size_t size : {256, 300, 1, 255, 4096, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        const auto in = input(values, 1);
        auto out = output<float>(size, 1);
        kernel({.grid = workbook::blocks_for(size, tile), .block = 256}, in.data(), out.data(), size);
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile),
                            [&](const auto& wrong) { return explain(wrong, values); });
    }
}
