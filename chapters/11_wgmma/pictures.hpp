/// @file pictures.hpp
/// What chapter 11's program prints of fragments and of sums.
#pragma once

#include "fragments.cuh"
#include "numerics.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace wgmma {

/// The text of a format and its values.
template <class... Values>
std::string formatted(const char* format, Values... values) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

/// The bits of a number that bf16 has.
inline std::uint16_t bf16_bits(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

/// Element (row, k) of the A and (k, column) of the B that read_fragments gets: each its own number, and no
/// two elements of their product are equal.
inline float fragment_a(int row, int k) { return static_cast<float>(16 * row + k); }
inline float fragment_b(int k, int column) { return static_cast<float>(8 * k + column); }
inline float fragment_d(int row, int column) {
    float sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += fragment_a(row, k) * fragment_b(k, column);
    return sum;
}

/// Two neighbours along k in one register.
inline std::uint32_t pair_of(float first, float second) {
    return bf16_bits(first) | std::uint32_t{bf16_bits(second)} << 16;
}

/// ' lane.register' of the first register of a kind for which `holds` is true, ' ?' if none does.
template <class Holds>
std::string holder(int registers, Holds holds) {
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < registers; ++i)
            if (holds(lane, i))
                return formatted(" %2d.%d", lane, i);
    return "    ?";
}

/// Which lane holds which element, found by their values: 'lane.register'.
inline std::string fragment_picture(std::span<const LaneFragments> lanes) {
    std::string text = "lane.register of A, 16 rows of 16, two columns in a register\n";
    for (int row = 0; row < 16; ++row, text += '\n')
        for (int k = 0; k < 16; k += 2)
            text += holder(4, [&](int lane, int i) {
                return lanes[lane].a[i] == pair_of(fragment_a(row, k), fragment_a(row, k + 1));
            });
    text += "of B, 16 rows of 8, two rows in a register\n";
    for (int k = 0; k < 16; k += 2, text += '\n')
        for (int column = 0; column < 8; ++column)
            text += holder(2, [&](int lane, int i) {
                return lanes[lane].b[i] == pair_of(fragment_b(k, column), fragment_b(k + 1, column));
            });
    text += "of D, 16 rows of 8\n";
    for (int row = 0; row < 16; ++row, text += '\n')
        for (int column = 0; column < 8; ++column)
            text += holder(4, [&](int lane, int i) { return lanes[lane].d[i] == fragment_d(row, column); });
    return text;
}

/// Which thread of the warpgroup holds D(row, column) = 64 · row + column as which accumulator: some rows,
/// the first columns.
inline std::string accumulator_picture(std::span<const float> sums) {
    constexpr int per_thread = tile_columns / 2;
    std::string text = "thread.accumulator of D, 64 rows of 64: the first 12 columns\n";
    for (const int row : {0, 1, 7, 8, 9, 15, 16, 63}) {
        text += formatted("row %2d", row);
        for (int column = 0; column < 12; ++column) {
            std::size_t at = 0;
            while (at < sums.size() && sums[at] != static_cast<float>(64 * row + column))
                ++at;
            text += formatted(" %3zu.%zu", at / per_thread, at % per_thread);
        }
        text += '\n';
    }
    return text;
}

/// A table of sums: by the tensor core, by fused multiply-adds, in double precision.
inline std::string sum_table(std::span<const DirectedSum> sums, std::span<const float> results) {
    std::string text = formatted("  %-16s %-16s %s\n", "tensor core", "f32, one by one", "f64, then f32");
    for (std::size_t i = 0; i < sums.size(); ++i)
        text +=
            formatted("%s\n", sums[i].shows) + formatted("  %-16.9g %-16.9g %.9g\n", double{results[i]},
                                                         double{fma_sum(sums[i].a, sums[i].b, sums[i].c)},
                                                         double{double_sum(sums[i].a, sums[i].b, sums[i].c)});
    return text;
}

} // namespace wgmma
