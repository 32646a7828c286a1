/// @file swizzled_turn.cu
/// Judge of chapter 8's swizzled_turn.
#include "transposed.hpp"

#include <cstddef>
#include <span>

void launch_swizzled_turn(std::span<const float> in, std::span<float> out, std::size_t rows,
                          std::size_t columns);

void judge::run() {
    const HostMatrix shapes[] = {{32, 32, {}}, {64, 32, {}}, {32, 96, {}},
                                 {40, 56, {}}, {4, 100, {}}, {68, 4, {}}};
    expect_transposed(launch_swizzled_turn, shapes);
}
