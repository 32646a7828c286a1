/// @file lost_writes.cpp
/// Judge of chapter 5's lost_writes.
#include "judge.hpp"

#include <cstddef>
#include <vector>

void judge::run() {
    const Kernel<void(const int*, int*, std::size_t)> kernel("lost_writes");
    constexpr std::size_t tile = 512;
    constexpr std::size_t many = 40 * tile; // more than shared memory has room for
    for (const std::size_t size :
         {tile, 3 * tile, std::size_t{4}, 2 * tile - 4, 20 * tile + 60, many, std::size_t{0}}) {
        const bool in_one_block = size >= many;
        trying(with_elements(size) + (in_one_block ? " for one block" : ""));
        std::vector<int> values = workbook::random_integers<int>(size, size + 8, -1'000'000, 1'000'000);
        const auto in = input(values, 4);
        auto out = output<int>(size, 8);
        kernel({.grid = in_one_block ? 1 : workbook::blocks_for(size, 3 * tile), .block = 128}, in.data(),
               out.data(), size);
        for (int& value : values)
            value *= 3;
        expect_exact<int>("out", out, values);
    }
}
