/// @file one_load_for_all.cpp
/// Judge of chapter 9's one_load_for_all.
#include "judge.hpp"

#include <cstddef>
#include <vector>

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t, const float*)> kernel("one_load_for_all");
    constexpr std::size_t block = 256;
    constexpr std::size_t table_floats = 512;
    for (const std::size_t size : {1024, 4096, 1, 300, 20'000, 0}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 13, {.specials = true});
        const auto table_values = workbook::random_values<float>(table_floats, size + 12);
        const auto table = input(table_values, 4);
        const auto in = input(values, 1);
        auto out = output<float>(size, 3);
        kernel({.grid = 4 * workbook::blocks_for(size, 4 * block), .block = block, .cluster = 4}, in.data(),
               out.data(), size, table.data());
        std::vector<float> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = values[i] * table_values[i % table_floats];
        expect_near<float>("out", out, expected, {});
    }
}
