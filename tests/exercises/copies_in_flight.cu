/// @file copies_in_flight.cu
/// Judge of chapter 2's copies_in_flight.
#include "overlap.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_copies_in_flight(std::span<const unsigned> in, std::span<unsigned> sums,
                             std::span<unsigned> asked);

namespace {

constexpr std::size_t tile = 128;
constexpr std::size_t tiles = 8;
constexpr std::size_t stages = 3;

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

/// Fails unless every tile was added up while the next two, where there are any, were on their way. Tile t of
/// the array is tile t % 8 of block t / 8.
void expect_two_ahead(const std::vector<unsigned>& asked, std::size_t size) {
    const std::size_t all_tiles = (size + tile - 1) / tile;
    for (std::size_t t = 0; t < all_tiles; ++t) {
        const std::size_t all = std::min(tiles, all_tiles - t / tiles * tiles);
        judge::expect_asked(t / tiles, t % tiles, asked[t], std::min(t % tiles + stages, all), all);
    }
}

} // namespace

void judge::run() {
    for (const std::size_t size : {1024, 1, 128, 900, 5000, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        std::vector<unsigned> sums((size + tile * tiles - 1) / (tile * tiles));
        for (std::size_t block = 0; block < sums.size(); ++block)
            sums[block] = block_sum(values, block, tiles);
        const auto in = input(values);
        auto out = output<unsigned>(sums.size());
        auto asked = output<unsigned>(sums.size() * tiles);
        launch_copies_in_flight(in.span(), out.span(), asked.span());
        expect_exact<unsigned>("sums", out, sums, [&](const auto& wrong) { return explain(wrong, values); });
        expect_two_ahead(asked.download(), size);
    }
}
