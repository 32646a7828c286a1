/// @file one_load_for_all.cu
/// Judge of chapter 9's one_load_for_all.
#include "judge.hpp"

#include <cstddef>
#include <span>
#include <vector>

void launch_one_load_for_all(std::span<const float> in, std::span<float> out, std::span<const float> table);

void judge::run() {
    constexpr std::size_t table_floats = 512;
    const auto table_values = workbook::random_values<float>(table_floats, 12);
    const auto table = input(table_values, 4);
    for (const std::size_t size : {1024, 4096, 1, 300, 20'000, 0}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 13, {.specials = true});
        const auto in = input(values, 1);
        auto out = output<float>(size, 3);
        launch_one_load_for_all(in.span(), out.span(), table.span());
        std::vector<float> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = values[i] * table_values[i % table_floats];
        expect_near<float>("out", out, expected, {});
    }
}
