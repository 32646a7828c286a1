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
    const Kernel<void(const float*, const float*, float*, std::size_t)> kernel("last_group");
    for (const std::size_t size : {1024, 1, 700, 5000, 0}) {
        trying(with_elements(size));
        const std::vector<float> a_values = workbook::random_values<float>(size, size + 1);
        const std::vector<float> b_values = workbook::random_values<float>(size, size + 2);
        std::vector<float> products(size);
        for (std::size_t i = 0; i < size; ++i)
            products[i] = a_values[i] * b_values[i];
        const auto a = input(a_values);
        const auto b = input(b_values);
        auto out = output<float>(size);
        kernel({.grid = workbook::blocks_for(size, tiles * tile), .block = 256}, a.data(), b.data(),
               out.data(), size);
        expect_exact<float>("out", out, workbook::reversed_tiles(products, tile), explain);
    }
}
