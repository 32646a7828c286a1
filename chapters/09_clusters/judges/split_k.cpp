/// @file split_k.cpp
/// Judge of chapter 9's split_k.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

struct Extent {
    int rows;
    int columns;
    int depth;
};

struct Case {
    Extent extent;
    unsigned clusters; ///< fewer than tiles, except in the first
};

/// What one loop after the other makes of it; sums wrap round.
std::vector<unsigned> product(const std::vector<unsigned>& a, const std::vector<unsigned>& b, Extent extent) {
    std::vector<unsigned> out;
    for (int row = 0; row < extent.rows; ++row)
        for (int column = 0; column < extent.columns; ++column) {
            unsigned sum = 0;
            for (int k = 0; k < extent.depth; ++k)
                sum += a[row * extent.depth + k] * b[k * extent.columns + column];
            out.push_back(sum);
        }
    return out;
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, const unsigned*, Extent, unsigned*)> kernel("split_k");
    for (const auto& [extent, clusters] : {Case{{16, 16, 8}, 1}, Case{{16, 48, 32}, 1}, Case{{48, 64, 37}, 4},
                                           Case{{32, 48, 64}, 2}, Case{{16, 96, 3}, 2}}) {
        trying("with " + std::to_string(extent.rows) + " x " + std::to_string(extent.columns) +
               " elements, each a sum of " + std::to_string(extent.depth) + " products, and " +
               std::to_string(clusters) + " clusters");
        const auto rows = static_cast<std::size_t>(extent.rows);
        const auto columns = static_cast<std::size_t>(extent.columns);
        const auto depth = static_cast<std::size_t>(extent.depth);
        const auto a_values = workbook::random_values<unsigned>(rows * depth, depth + 1);
        const auto b_values = workbook::random_values<unsigned>(depth * columns, depth + 2);
        const auto a = input(a_values);
        const auto b = input(b_values);
        auto out = output<unsigned>(rows * columns);
        kernel({.grid = 4 * clusters, .block = 256, .cluster = 4}, a.data(), b.data(), extent, out.data());
        expect_exact("out", out, product(a_values, b_values, extent));
    }
}
