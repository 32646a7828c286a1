/// @file tile.cuh
/// What the copying chapters do with a tile once it lies in shared memory.
///
/// The second half of a copy is never the lesson, but it must betray a mistake of the first: threads use
/// elements that other threads brought, and each element's place in the result depends on its place in
/// the tile.
#pragma once

#ifndef __CUDACC_RTC__ // device code that is compiled alone has no host
#include "tile_reference.hpp"
#endif

#include <cstddef>

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

} // namespace workbook
