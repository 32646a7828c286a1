/// @file tile_reference.hpp
/// What the functions of tile.cuh leave in an array, computed on the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace workbook {

/// What store_reversed leaves in an array that is taken in tiles of `tile` elements.
template <class T>
[[nodiscard]] std::vector<T> reversed_tiles(std::vector<T> values, std::size_t tile) {
    for (std::size_t start = 0; start < values.size(); start += tile) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(start);
        std::reverse(first, first + static_cast<std::ptrdiff_t>(std::min(tile, values.size() - start)));
    }
    return values;
}

/// What add_neighbour leaves in an array that is taken in tiles of `tile` elements.
template <class T>
[[nodiscard]] std::vector<T> neighbour_sums(std::span<const T> values, std::size_t tile) {
    std::vector<T> sums(values.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::size_t start = i - i % tile;
        const std::size_t count = std::min(tile, values.size() - start);
        sums[i] = values[i] + values[start + (i - start + 1) % count];
    }
    return sums;
}

} // namespace workbook
