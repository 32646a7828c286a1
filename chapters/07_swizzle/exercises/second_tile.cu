/// @file second_tile.cu
/// Exercise: find the mistake.
///
/// Given    The tensor maps of two matrices of ints of one shape, whose sides are multiples of 32 and 8, for
///          boxes of 8 rows of 32 ints with the 128-byte swizzle. A block of 256 threads loads the same tile
///          of both and writes out = first - second, element by element; the rows of out are `pitch`
///          elements apart. The index function is right. The block has 2,304 bytes of dynamic shared memory,
///          which begin at a multiple of 1024.
/// Wanted   Check it, read what the emulator reports, and repair the kernel so that the report is gone and
///          the result right. A kernel without a report can still be wrong. And a repair may take more
///          memory than there is: then decide what has to lie elsewhere.
/// Judged   By the result for matrices of several shapes; by counters: two tensor copies for each tile of
///          out, which are under way together, and no int that a thread writes to shared memory.
#include "workbook/swizzle.hpp"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int tile_columns = 32; // 128 bytes
constexpr int tile_rows = 8;
constexpr int tile_ints = tile_columns * tile_rows;

/// What a block has in shared memory.
struct Tiles {
    alignas(1024) int first[tile_ints];
    std::uint64_t bar;
    alignas(16) int second[tile_ints];
};

__global__ void second_tile(const __grid_constant__ CUtensorMap first,
                            const __grid_constant__ CUtensorMap second, int* out, int pitch) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Tiles& tiles = *reinterpret_cast<Tiles*>(memory);
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * tile_columns,
                               static_cast<int>(blockIdx.y) * tile_rows};
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&tiles.bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &tiles.bar,
                                       sizeof(tiles.first) + sizeof(tiles.second));
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tiles.first, &first, at, &tiles.bar);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tiles.second, &second, at,
                                  &tiles.bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&tiles.bar, 0)) {
    }
    const int row = static_cast<int>(threadIdx.x) / tile_columns;
    const int column = static_cast<int>(threadIdx.x) % tile_columns;
    const std::uint32_t place = workbook::swizzled_index<int>(row, column, workbook::Swizzle::bytes128);
    out[(at[1] + row) * pitch + at[0] + column] = tiles.first[place] - tiles.second[place];
}
