/// @file swizzled_turn.cu
/// Exercise: turn a picture by 90 degrees, with tensor copies on both sides.
///
/// Given    A matrix of `rows` × `columns` floats in `in`, and room in `out` for the same matrix after a
///          quarter turn clockwise, as a photo is turned: element (r, c) of `in` becomes element
///          (c, rows - 1 - r) of `out`, which has `columns` rows of `rows` elements. Both sides are
///          multiples of 4, so that tensor maps take them, but not always of 32. A block has 256 threads,
///          and there are as many blocks as tiles of 32 × 32: blockIdx.x counts tiles along the columns of
///          `in`, blockIdx.y along its rows. `from` and `to` are the maps of `in` and `out` for boxes of
///          32 × 32 floats, both with the 128-byte swizzle: both tiles are read and written by place().
///          place(r, c) is the index of element (r, c) in such a tile, if it lies at a multiple of 1024
///          bytes.
/// Wanted   The kernel, as a chain of four steps:
///          1. one thread loads a tile into `loaded`;
///          2. all threads wait, and write the turned tile into `turned`: four elements each. A warp
///             reads a column of `loaded` and writes a row of `turned`;
///          3. a fence orders what was written before the async proxy's reads;
///          4. one thread stores `turned` and waits until it has been read.
///          Where the load begins and where the store begins is for you to decide. If `rows` is no
///          multiple of 32, the tiles of `in` and those of `out` cannot both begin at multiples of 32.
/// Judged   By the result for matrices of several shapes; by counters: one load and one store per tile, no
///          byte by a thread, no bank conflict where `turned` is written, and at most 3 where a column is
///          read.
#include "workbook/swizzle.hpp"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 256;
constexpr int edge = 32; // of a tile; 128 bytes

/// The index of element (row, column) in a swizzled tile.
__device__ inline int place(int row, int column) {
    return static_cast<int>(workbook::swizzled_index<float>(row, column, workbook::Swizzle::bytes128));
}

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

__global__ void swizzled_turn(const __grid_constant__ CUtensorMap from,
                              const __grid_constant__ CUtensorMap to, int rows) {
    __shared__ alignas(1024) float loaded[edge * edge];
    __shared__ alignas(1024) float turned[edge * edge];
    __shared__ std::uint64_t bar;
    // YOUR CODE: the four steps.
}
