/// @file mixed_tiles.cpp
/// Judge of chapter 4's mixed_tiles.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <vector>

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("mixed_tiles");
    constexpr std::size_t tile = 1024;
    for (const std::size_t size :
         {4 * tile, tile, std::size_t{4}, 3 * tile + 20, 30 * tile + 4, std::size_t{0}}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 5, {.specials = true});
        const auto in = input(values, 4);
        auto out = output<float>(size, 8);
        kernel({.grid = workbook::blocks_for(size, 4 * tile), .block = 128}, in.data(), out.data(), size);
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile));
    }
}
