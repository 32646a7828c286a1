/// @file row_and_column.cpp
/// Judge of chapter 9's row_and_column.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 128;

struct Size {
    std::size_t rows;
    std::size_t columns;
};

} // namespace

void judge::run() {
    const Kernel<void(const float*, const float*, int, float*)> kernel("row_and_column");
    for (const auto& [rows, columns] : {Size{128, 128}, Size{128, 384}, Size{256, 128}, Size{256, 256}}) {
        trying("with " + std::to_string(rows) + " x " + std::to_string(columns) + " products");
        const auto x_values = workbook::random_values<float>(rows, rows + 5, {.specials = true});
        const auto y_values = workbook::random_values<float>(columns, columns + 6);
        const auto x = input(x_values, 4);
        const auto y = input(y_values, 4);
        auto out = output<float>(rows * columns, 3);
        const auto clusters = static_cast<unsigned>(rows / tile * (columns / tile));
        kernel({.grid = 4 * clusters, .block = 256, .cluster = 4}, x.data(), y.data(),
               static_cast<int>(columns), out.data());
        std::vector<float> expected;
        for (const float factor : x_values)
            for (const float value : y_values)
                expected.push_back(factor * value);
        expect_near<float>("out", out, expected, {});
    }
}
