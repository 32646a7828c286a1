/// @file reverse_tile.cu
/// Judge of chapter 1's reverse_tile.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_reverse_tile(std::span<const float> in, std::span<float> out);

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
    for (const std::size_t size : {256, 300, 1, 255, 4096, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        const auto in = input(values, 1);
        auto out = output<float>(size, 1);
        launch_reverse_tile(in.span(), out.span());
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile),
                            [&](const auto& wrong) { return explain(wrong, values); });
    }
}
