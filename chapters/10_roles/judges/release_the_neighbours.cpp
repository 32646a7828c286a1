/// @file release_the_neighbours.cpp
/// Judge of chapter 10's release_the_neighbours.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t, const float*)> kernel("release_the_neighbours");
    constexpr std::size_t tile = 256;
    constexpr unsigned threads = 160;
    const std::vector<float> factors{3, -7};
    for (const std::size_t tiles :
         {std::size_t{12}, std::size_t{1}, std::size_t{2}, std::size_t{61}, std::size_t{0}}) {
        const std::size_t size = tiles * tile;
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 3, {.low = -100, .high = 100});
        const auto in = input(values, 4);
        const auto by = input(factors);
        auto out = output<float>(2 * size, 1);
        kernel({.grid = 2, .block = threads, .cluster = 2}, in.data(), out.data(), size, by.data());
        std::vector<float> expected(2 * size);
        for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] = values[i % size] * factors[i / size];
        expect_near<float>("out", out, expected, {});
    }
}
