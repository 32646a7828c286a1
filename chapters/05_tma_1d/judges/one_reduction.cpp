/// @file one_reduction.cpp
/// Judge of chapter 5's one_reduction.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t columns = 256;
constexpr std::size_t block_rows = 32;

/// The usual slip: totals that were written over, or left as they were.
std::string explain(const judge::Wrong<int>& wrong, int before, bool one_block) {
    if (wrong.actual == before)
        return "Nothing was added to this total.";
    if (one_block && wrong.actual == wrong.expected - before)
        return "The total had a value before: the sum must be added to it and not stored over it.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const int*, int*, int)> kernel("one_reduction");
    for (const std::size_t rows : {1, 32, 33, 7, 500, 0}) {
        trying("with " + std::to_string(rows) + (rows == 1 ? " row" : " rows"));
        const auto values = workbook::random_integers<int>(rows * columns, rows + 3, -1'000'000, 1'000'000);
        const auto before = workbook::random_integers<int>(columns, rows + 4, -1'000'000, 1'000'000);
        std::vector<int> sums = before;
        for (std::size_t i = 0; i < values.size(); ++i)
            sums[i % columns] += values[i];
        const auto in = input(values, 4);
        auto totals = input(before, 8);
        kernel({.grid = workbook::blocks_for(rows, block_rows), .block = columns}, in.data(), totals.data(),
               static_cast<int>(rows));
        expect_exact<int>("totals", totals, sums, [&](const Wrong<int>& wrong) {
            return explain(wrong, before[wrong.index], rows <= block_rows);
        });
    }
}
