/// @file sizes.hpp
/// The sizes and base offsets at which every kernel is tested.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstddef>

/// Empty, one element, around every boundary that the kernels have (vector, warp, block, tile), and several
/// tiles.
inline constexpr std::array<std::size_t, 22> test_sizes{
    0, 1, 2, 3, 4, 5, 15, 16, 31, 32, 33, 127, 128, 255, 256, 257, 1023, 1024, 1025, 4096, 12'345, 70'001};

/// Elements of 4 bytes between a 256-byte aligned base and the data.
inline constexpr std::array<std::size_t, 5> test_offsets{0, 1, 2, 3, 4};

/// Calls `test(size, offset)` for all of them; a failure names both.
template <class Test>
void for_each_place(Test test) {
    for (const std::size_t size : test_sizes)
        for (const std::size_t offset : test_offsets) {
            INFO("size " << size << ", offset " << offset);
            test(size, offset);
        }
}
