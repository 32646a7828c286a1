/// @file tile.cuh
/// What the copying chapters do with a tile once it lies in shared memory, and the references on the host.
///
/// The second half of a copy is never the lesson, but it must betray a mistake of the first: threads use
/// elements that other threads brought, and each element's place in the result depends on its place in
/// the tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace workbook {

/// Number of elements in the tile that starts at `start`: all of `tile`, or what is left of the array.
__host__ __device__ inline int tile_count(std::size_t start, int tile, std::size_t size) {
    const std::size_t left = start < size ? size - start : 0;
    return left < static_cast<std::size_t>(tile) ? static_cast<int>(left) : tile;
}

/// The block writes `count` elements of a tile to global memory, last element first.
template <class T>
__device__ inline void store_reversed(const T* tile, T* out, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = tile[count - 1 - i];
}

/// The block writes each element of a tile plus its right neighbour; that of the last is the first.
template <class T>
__device__ inline void add_neighbour(const T* tile, T* out, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = tile[i] + tile[i + 1 < count ? i + 1 : 0];
}

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
