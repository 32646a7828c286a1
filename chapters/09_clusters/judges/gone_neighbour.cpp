/// @file gone_neighbour.cpp
/// Judge of chapter 9's gone_neighbour.
#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

void judge::run() {
    const Kernel<void(const unsigned*, unsigned*)> kernel("gone_neighbour");
    constexpr std::size_t chunk = 512;
    constexpr std::size_t block = 128;
    for (const std::size_t size : {chunk, 4 * chunk, 60 * chunk, std::size_t{0}}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<unsigned>(size, size + 11);
        const auto in = input(values, 1);
        auto out = output<unsigned>(size);
        kernel({.grid = workbook::blocks_for(size, block), .block = block, .cluster = 4}, in.data(),
               out.data());
        std::vector<unsigned> expected(size);
        for (std::size_t first = 0; first < size; first += block) {
            const auto tile = values.begin() + static_cast<std::ptrdiff_t>(first);
            const unsigned least = *std::min_element(tile, tile + block);
            for (std::size_t i = first; i < first + block; ++i)
                expected[i / chunk * chunk + (i + block) % chunk] = values[i] - least;
        }
        expect_exact<unsigned>("out", out, expected);
    }
}
