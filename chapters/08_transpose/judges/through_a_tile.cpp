/// @file through_a_tile.cpp
/// Judge of chapter 8's through_a_tile.
#include "transposed.hpp"

#include <cstddef>

namespace {

constexpr unsigned edge = 32; // of a tile

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t, std::size_t)> kernel("through_a_tile");
    const auto launch = [&](const float* in, float* out, std::size_t rows, std::size_t columns) {
        const dim3 grid(workbook::blocks_for(columns, edge), workbook::blocks_for(rows, edge));
        kernel({.grid = grid, .block = {edge, 8}}, in, out, rows, columns);
    };
    const HostMatrix shapes[] = {{32, 32, {}}, {64, 32, {}}, {32, 96, {}}, {40, 56, {}},
                                 {37, 61, {}}, {1, 1, {}},   {3, 100, {}}};
    expect_transposed(launch, shapes);
}
