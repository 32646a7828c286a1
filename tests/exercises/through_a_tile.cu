/// @file through_a_tile.cu
/// Judge of chapter 8's through_a_tile.
#include "transposed.hpp"

#include <cstddef>
#include <span>

void launch_through_a_tile(std::span<const float> in, std::span<float> out, std::size_t rows,
                           std::size_t columns);

void judge::run() {
    const HostMatrix shapes[] = {{32, 32, {}}, {64, 32, {}}, {32, 96, {}}, {40, 56, {}},
                                 {37, 61, {}}, {1, 1, {}},   {3, 100, {}}};
    expect_transposed(launch_through_a_tile, shapes);
}
