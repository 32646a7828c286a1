/// @file port_to_roles.cpp
/// Judge of chapter 10's port_to_roles.
#include "judge.hpp"
#include "layout.hpp"

#include "workbook/swizzle.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr unsigned panel_rows = 64;
constexpr unsigned panels_per_block = 3;
constexpr unsigned slice = 32;
constexpr unsigned threads = 96;

/// As the exercise declares it.
struct Product {
    const int* a;
    const int* x;
    int* out;
    unsigned rows;
    unsigned columns;
};

/// As the exercise declares it.
struct Layout {
    std::uint64_t dims[2];
    std::uint64_t strides[1];
    std::uint32_t box[2];
    workbook::Swizzle swizzle;
};

/// What one row after the other makes of it; `chunk(row, c)` says which four columns of a slice stand in for
/// columns 4 c to 4 c + 3.
template <class Chunk>
int row_times(const std::vector<int>& a, const std::vector<int>& x, std::size_t row, Chunk chunk) {
    int sum = 0;
    for (std::size_t column = 0; column < x.size(); ++column) {
        const std::size_t in_slice = column % slice;
        const std::size_t from = column - in_slice + chunk(row, in_slice / 4) * 4 + column % 4;
        sum += a[row * x.size() + from] * x[column];
    }
    return sum;
}

std::size_t straight(std::size_t /*row*/, std::size_t chunk) { return chunk; }
std::size_t swizzled(std::size_t row, std::size_t chunk) { return chunk ^ row % 8; }

/// The usual slip: chunks of a row that stand in for others.
std::string explain(const judge::Wrong<int>& wrong, const std::vector<int>& a, const std::vector<int>& x) {
    if (wrong.actual == row_times(a, x, wrong.index, swizzled))
        return "That is the sum with chunk c ^ row % 8 of each slice in the place of chunk c: what the "
               "tensor map "
               "swizzles and what the threads read must be the same pattern, from a multiple of 1024 bytes "
               "on.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(Product, Layout*)> layout("layout");
    const Kernel<void(CUtensorMap, Product)> kernel("port_to_roles");
    struct Case {
        unsigned rows;
        unsigned columns;
    };
    for (const auto [rows, columns] : {Case{64, 256}, {64, 32}, {100, 96}, {1, 64}, {384, 160}, {700, 320}}) {
        trying("with " + std::to_string(rows) + " rows of " + std::to_string(columns) + " columns");
        const auto a_values =
            workbook::random_integers<int>(std::size_t{rows} * columns, rows + columns, -1000, 1000);
        const auto x_values = workbook::random_integers<int>(columns, columns + 1, -1000, 1000);
        const auto a = input(a_values, 4);
        const auto x = input(x_values, 8);
        auto out = output<int>(rows, 1);
        const Product product{a.data(), x.data(), out.data(), rows, columns};
        auto described = output<Layout>(1);
        layout({}, product, described.data());
        kernel({.grid = workbook::blocks_for(rows, std::size_t{panels_per_block} * panel_rows),
                .block = threads},
               map_of(a.data(), described.download().front()), product);
        std::vector<int> expected;
        for (std::size_t row = 0; row < rows; ++row)
            expected.push_back(row_times(a_values, x_values, row, straight));
        expect_exact<int>("out", out, expected,
                          [&](const auto& wrong) { return explain(wrong, a_values, x_values); });
    }
}
