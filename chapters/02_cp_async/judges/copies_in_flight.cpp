/// @file copies_in_flight.cpp
/// Judge of chapter 2's copies_in_flight.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 128;
constexpr std::size_t tiles = 8;

/// The weighted sum of one block's tiles, as if only the tiles below `upto` had been taken, tile 0 with the
/// weight `first_weight`.
unsigned block_sum(const std::vector<unsigned>& in, std::size_t block, std::size_t upto,
                   unsigned first_weight = 1) {
    unsigned sum = 0;
    for (std::size_t k = 0; k < upto; ++k) {
        const std::size_t start = (block * tiles + k) * tile;
        for (std::size_t i = start; i < in.size() && i < start + tile; ++i)
            sum += (static_cast<unsigned>(k) + first_weight) * in[i];
    }
    return sum;
}

std::string explain(const judge::Wrong<unsigned>& wrong, const std::vector<unsigned>& in) {
    for (std::size_t upto = 1; upto < tiles; ++upto)
        if (wrong.actual == block_sum(in, wrong.index, upto))
            return "That is the sum of the first " + std::to_string(upto) + " of the block's " +
                   std::to_string(tiles) + " tiles.";
    if (wrong.actual == block_sum(in, wrong.index, tiles, 0))
        return "The weights are one too small: tile k counts k + 1 times.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, unsigned*, std::size_t)> kernel("copies_in_flight");
    for (const std::size_t size : {1024, 1, 128, 900, 5000, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        std::vector<unsigned> sums((size + tile * tiles - 1) / (tile * tiles));
        for (std::size_t block = 0; block < sums.size(); ++block)
            sums[block] = block_sum(values, block, tiles);
        const auto in = input(values);
        auto out = output<unsigned>(sums.size());
        kernel({.grid = workbook::blocks_for(size, tiles * tile), .block = 128}, in.data(), out.data(), size);
        expect_exact<unsigned>("sums", out, sums, [&](const auto& wrong) { return explain(wrong, values); });
    }
}
