/// @file mixed_tiles.cu
/// Judge of chapter 4's mixed_tiles.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <vector>

void launch_mixed_tiles(std::span<const float> in, std::span<float> out);

void judge::run() {
    constexpr std::size_t tile = 1024;
    for (const std::size_t size :
         {4 * tile, tile, std::size_t{4}, 3 * tile + 20, 30 * tile + 4, std::size_t{0}}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 5, {.specials = true});
        const auto in = input(values, 4);
        auto out = output<float>(size, 8);
        launch_mixed_tiles(in.span(), out.span());
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile));
    }
}
