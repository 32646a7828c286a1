/// @file ragged_end.cpp
/// Judge of chapter 5's ragged_end.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

void judge::run() {
    const Kernel<void(const int*, int*, std::size_t)> kernel("ragged_end");
    constexpr std::size_t tile = 512;
    constexpr std::size_t many = 40 * tile; // more than shared memory has room for
    for (const std::size_t size : {3 * tile, 3 * tile - 3, tile - 1, 6 * tile - 1, 12 * tile + 2, tile + 1,
                                   many + 2, std::size_t{3}, std::size_t{1}, std::size_t{0}}) {
        const bool in_one_block = size >= many;
        trying(with_elements(size) + (in_one_block ? " for one block" : ""));
        std::vector<int> values = workbook::random_integers<int>(size, size + 9, -1'000'000, 1'000'000);
        const auto in = input(values, 4);
        auto out = output<int>(size, 8);
        kernel({.grid = in_one_block ? 1 : workbook::blocks_for(size, 3 * tile), .block = 128}, in.data(),
               out.data(), size);
        for (int& value : values)
            value *= 3;
        expect_exact<int>("out", out, values, [&](const auto& wrong) -> std::string {
            return wrong.index < size / 4 * 4
                       ? ""
                       : "It comes after the last multiple of 16 bytes: no bulk copy takes it.";
        });
    }
}
