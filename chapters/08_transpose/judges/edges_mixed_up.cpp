/// @file edges_mixed_up.cpp
/// Judge of chapter 8's edges_mixed_up.
#include "transposed.hpp"

#include <cstddef>

namespace {

constexpr unsigned edge = 32; // of a tile

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t, std::size_t)> kernel("edges_mixed_up");
    const auto launch = [&](const float* in, float* out, std::size_t rows, std::size_t columns) {
        kernel({.grid = workbook::blocks_for(columns, edge), .block = {edge, 8}}, in, out, rows, columns);
    };
    const HostMatrix shapes[] = {{32, 32, {}}, {96, 64, {}}, {40, 56, {}}, {33, 32, {}},
                                 {32, 33, {}}, {1, 70, {}},  {101, 3, {}}};
    expect_transposed(launch, shapes);
}
