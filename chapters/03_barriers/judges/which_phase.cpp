/// @file which_phase.cpp
/// Judge of chapter 3's which_phase.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 32;
constexpr std::size_t tiles = 8; // of a block

std::string explain(const judge::Wrong<unsigned>& wrong) {
    const std::size_t k = wrong.index / tile % tiles;
    return "This is tile " + std::to_string(k) + " of its block, use number " + std::to_string(k / 2) +
           " of buffer " + std::to_string(k % 2) + ".";
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, unsigned*, std::size_t)> kernel("which_phase");
    for (const std::size_t size : {256, 1, 100, 1500, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        const auto in = input(values);
        auto out = output<unsigned>(size);
        kernel({.grid = workbook::blocks_for(size, tiles * tile), .block = 64}, in.data(), out.data(), size);
        expect_exact<unsigned>("out", out, workbook::reversed_tiles(values, tile), explain);
    }
}
