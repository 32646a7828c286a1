/// @file last_group.cpp
/// Judge of chapter 2's last_group.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 256;
constexpr std::size_t tiles = 4; // of a block

std::string explain(const judge::Wrong<float>& wrong) {
    const std::size_t number = wrong.index / tile;
    return "This is tile " + std::to_string(number % tiles) + " of the four tiles of block " +
           std::to_string(number / tiles) + ".";
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("last_group");
    for (const std::size_t size : {1024, 1, 700, 5000, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        const auto in = input(values);
        auto out = output<float>(size);
        kernel({.grid = workbook::blocks_for(size, tiles * tile), .block = 256}, in.data(), out.data(), size);
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile), explain);
    }
}
