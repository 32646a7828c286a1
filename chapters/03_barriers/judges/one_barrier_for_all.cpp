/// @file one_barrier_for_all.cpp
/// Judge of chapter 3's one_barrier_for_all.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 96;
constexpr std::size_t tiles = 8; // of a block
constexpr std::size_t stages = 3;

std::string explain(const judge::Wrong<unsigned>& wrong) {
    const std::size_t k = wrong.index / tile % tiles;
    return "This is tile " + std::to_string(k) + " of its block, use number " + std::to_string(k / stages) +
           " of stage " + std::to_string(k % stages) + ".";
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, unsigned*, std::size_t)> kernel("one_barrier_for_all");
    for (const std::size_t size : {768, 4, 100, 764, 9000, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        const auto in = input(values);
        auto out = output<unsigned>(size);
        kernel({.grid = workbook::blocks_for(size, tiles * tile), .block = 128}, in.data(), out.data(), size);
        expect_exact<unsigned>("out", out, workbook::neighbour_sums<unsigned>(values, tile), explain);
    }
}
