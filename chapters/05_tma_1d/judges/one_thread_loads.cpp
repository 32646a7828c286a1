/// @file one_thread_loads.cpp
/// Judge of chapter 5's one_thread_loads.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

void judge::run() {
    const Kernel<void(const int*, int*, std::size_t)> kernel("one_thread_loads");
    constexpr std::size_t tile = 1024;
    for (const std::size_t size :
         {tile, std::size_t{4}, tile - 4, 3 * tile, 20 * tile + 500, std::size_t{0}}) {
        trying(with_elements(size));
        const auto values = workbook::random_integers<int>(size, size + 7, -1'000'000, 1'000'000);
        std::vector<int> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = (i + 1 < size ? values[i + 1] : 0) - (i > 0 ? values[i - 1] : 0);
        const auto in = input(values);
        auto out = output<int>(size, 8);
        kernel({.grid = workbook::blocks_for(size, tile), .block = 128}, in.data(), out.data(), size);
        expect_exact<int>("out", out, expected, [&](const auto& wrong) -> std::string {
            const bool left = wrong.index % tile == 0 && wrong.index != 0;
            const bool right = wrong.index % tile == tile - 1 && wrong.index + 1 != size;
            return left || right ? "It has a neighbour in another block's tile: has that come?" : "";
        });
    }
}
