/// @file one_reduction.cu
/// Judge of chapter 5's one_reduction.
#include "judge.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_one_reduction(std::span<const int> in, std::span<int> totals);

void judge::run() {
    constexpr std::size_t columns = 256;
    for (const std::size_t rows : {1, 32, 33, 7, 500, 0}) {
        trying("with " + std::to_string(rows) + (rows == 1 ? " row" : " rows"));
        std::vector<int> values(rows * columns);
        std::vector<int> sums(columns, 1000);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<int>(i * 7919 % 1009) - 500;
            sums[i % columns] += values[i];
        }
        const auto in = input(values, 4);
        auto totals = input(std::vector<int>(columns, 1000), 8);
        launch_one_reduction(in.span(), totals.span());
        expect_exact<int>("totals", totals, sums, [](const Wrong<int>& wrong) {
            return wrong.actual == 1000 ? std::string("Nothing was added to this total.") : std::string();
        });
    }
}
