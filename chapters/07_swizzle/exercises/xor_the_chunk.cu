/// @file xor_the_chunk.cu
/// Exercise: find the elements of a swizzled tile.
///
/// Given    The tensor map of a matrix of ints, for boxes of 16 rows of 32 ints, 128 bytes a row, with the
///          128-byte swizzle. One block of 512 threads loads the tile whose first element is (x, y) to an
///          address that is a multiple of 1024. It writes the tile to `out` row after row, out[row * 32 +
///          column], and asks place(row, column) where in shared memory each element lies.
/// Wanted   The function place: the index, in ints, of element (row, column) of the tile. A row is 8 chunks
///          of 16 bytes; the swizzle moves whole chunks, and only within their row.
/// Missing  One expression, made of row, column and constants.
/// Judged   By the tiles at several places of several matrices; by counters: one tensor copy brings the
///          tile, and each thread reads one int of it.
#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int tile_columns = 32;
constexpr int tile_rows = 16;
constexpr int tile_ints = tile_columns * tile_rows;
constexpr int chunk_ints = 4; // 16 bytes

/// The index of element (row, column) in the swizzled tile.
__device__ inline int place(int row, int column) {
    return row * tile_columns + column; // YOUR CODE: this is a tile without swizzle
}

__global__ void xor_the_chunk(const __grid_constant__ CUtensorMap map, int x, int y, int* out) {
    __shared__ alignas(1024) int tile[tile_ints];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {x, y};
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(tile));
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, &bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    const int row = static_cast<int>(threadIdx.x) / tile_columns;
    const int column = static_cast<int>(threadIdx.x) % tile_columns;
    out[threadIdx.x] = tile[place(row, column)];
}
