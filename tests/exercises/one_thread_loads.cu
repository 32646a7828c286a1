/// @file one_thread_loads.cu
/// Judge of chapter 5's one_thread_loads.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <vector>

void launch_one_thread_loads(std::span<const float> in, std::span<float> out);

void judge::run() {
    constexpr std::size_t tile = 1024;
    for (const std::size_t size :
         {tile, std::size_t{4}, tile - 4, 3 * tile, 20 * tile + 500, std::size_t{0}}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 7, {.specials = true});
        const auto in = input(values, 4);
        auto out = output<float>(size, 8);
        launch_one_thread_loads(in.span(), out.span());
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile));
    }
}
