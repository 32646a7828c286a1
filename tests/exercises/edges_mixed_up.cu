/// @file edges_mixed_up.cu
/// Judge of chapter 8's edges_mixed_up.
#include "transposed.hpp"

#include <cstddef>
#include <span>

void launch_edges_mixed_up(std::span<const float> in, std::span<float> out, std::size_t rows,
                           std::size_t columns);

void judge::run() {
    const HostMatrix shapes[] = {{32, 32, {}}, {96, 64, {}}, {40, 56, {}}, {33, 32, {}},
                                 {32, 33, {}}, {1, 70, {}},  {101, 3, {}}};
    expect_transposed(launch_edges_mixed_up, shapes);
}
