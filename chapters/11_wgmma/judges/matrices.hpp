/// @file matrices.hpp
/// What the judges of chapter 11 share: operands of small integers, whose products are exact, and their maps.
#pragma once

#include "workbook/matrix.hpp"
#include "workbook/panels.hpp"
#include "workbook/random.hpp"

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace judge {

inline constexpr std::size_t depth = 64; ///< elements of k in a row

/// Rows of 64 small integers.
inline std::vector<__nv_bfloat16> small_integers(std::size_t rows, std::uint64_t seed) {
    std::vector<__nv_bfloat16> values;
    for (const int value : workbook::random_integers<int>(rows * depth, seed, -5, 5))
        values.emplace_back(static_cast<float>(value));
    return values;
}

/// A times B, whose columns are rows.
inline std::vector<float> product(const std::vector<__nv_bfloat16>& a, const std::vector<__nv_bfloat16>& b) {
    std::vector<float> sums;
    for (std::size_t row = 0; row < a.size(); row += depth)
        for (std::size_t column = 0; column < b.size(); column += depth) {
            float sum = 0;
            for (std::size_t k = 0; k < depth; ++k)
                sum += static_cast<float>(a[row + k]) * static_cast<float>(b[column + k]);
            sums.push_back(sum);
        }
    return sums;
}

/// The map of such rows for one tile of all of them, in panels as wide as the mode.
inline CUtensorMap tile_map(const __nv_bfloat16* data, std::size_t rows, workbook::Swizzle mode) {
    const std::uint32_t width = workbook::swizzle_width(mode) / sizeof(__nv_bfloat16);
    return workbook::make_tensor_map(
        data, workbook::panel_layout(workbook::Matrix<const __nv_bfloat16>{data, depth, rows, depth},
                                     {.panel = width,
                                      .rows = static_cast<std::uint32_t>(rows),
                                      .panels = static_cast<std::uint32_t>(depth) / width,
                                      .swizzle = mode}));
}

} // namespace judge
