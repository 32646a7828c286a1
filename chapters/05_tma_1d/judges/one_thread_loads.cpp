/// @file one_thread_loads.cpp
/// Judge of chapter 5's one_thread_loads.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <vector>

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("one_thread_loads");
    constexpr std::size_t tile = 1024;
    for (const std::size_t size :
         {tile, std::size_t{4}, tile - 4, 3 * tile, 20 * tile + 500, std::size_t{0}}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 7, {.specials = true});
        const auto in = input(values, 4);
        auto out = output<float>(size, 8);
        kernel({.grid = workbook::blocks_for(size, tile), .block = 128}, in.data(), out.data(), size);
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile));
    }
}
