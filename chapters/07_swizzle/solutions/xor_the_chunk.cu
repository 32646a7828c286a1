/// @file xor_the_chunk.cu
/// Exercise: find the elements of swizzled tiles.
///
/// Given    The tensor map of a matrix of 16-bit integers, for boxes of 10 rows of 32, 64 bytes a row, with
///          the 64-byte mode. One block of 320 threads loads three tiles, below each other in the matrix from
///          (x, y) on, to shared memory, one right behind the other: tile 0 begins at a multiple of 1024,
///          tile 1 640 bytes later. It writes them to `out`, row after row, and asks place(tile, row, column)
///          where in shared memory each element is.
/// Wanted   The function place: the index of element (row, column) of a tile, counted in elements from the
///          start of tile 0.
/// Missing  One expression, made of tile, row, column and constants. The chapter's function is for one tile
///          that begins where the pattern begins.
/// Judged   By the tiles at several places of several matrices; by counters: three tensor copies bring the
///          tiles, and each thread reads one element of each.
#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int tiles = 3;
constexpr int tile_columns = 32;
constexpr int tile_rows = 10;
constexpr int tile_elements = tile_columns * tile_rows;
constexpr int chunk_elements = 8; // 16 bytes

/// The index of element (row, column) of a tile, from the start of tile 0.
__device__ inline int place(int tile, int row, int column) {
    //@ hole
    const int index = tile * tile_elements + row * tile_columns;
    const int line = index / 64; // of 128 bytes, counted from where the pattern begins
    return index + ((column / chunk_elements) ^ (line % 4)) * chunk_elements + column % chunk_elements;
    //? return tile * tile_elements + row * tile_columns + column; // YOUR CODE: here nothing is swizzled
    //@ end
}

__global__ void xor_the_chunk(const __grid_constant__ CUtensorMap map, int x, int y, std::uint16_t* out) {
    __shared__ alignas(1024) std::uint16_t all[tiles * tile_elements];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(all));
        for (int tile = 0; tile < tiles; ++tile) {
            const std::int32_t at[] = {x, y + tile * tile_rows};
            ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, all + tile * tile_elements, &map,
                                      at, &bar);
        }
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    const int row = static_cast<int>(threadIdx.x) / tile_columns;
    const int column = static_cast<int>(threadIdx.x) % tile_columns;
    for (int tile = 0; tile < tiles; ++tile)
        out[tile * tile_elements + threadIdx.x] = all[place(tile, row, column)];
}
