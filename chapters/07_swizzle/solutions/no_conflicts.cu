/// @file no_conflicts.cu
/// Exercise: columns without bank conflicts.
///
/// Given    Two kernels. `no_conflicts`: a block of 256 threads loads a tile of 32 × 32 unsigned ints by a
///          tensor copy and writes the sum of each of its columns, modulo 2^32, to sums[(row of tiles) *
///          width + column]. Warp w adds the columns 4w … 4w + 3, which are one chunk of 16 bytes in each
///          row; lane r reads the chunk of row r. What lies outside of the matrix counts as 0. `layout` hands
///          the judge what layout_of says, and the judge makes the tensor map of it. The rows of the matrix
///          are a multiple of 16 bytes apart.
/// Wanted   The results are right. But the chunks of a column lie below each other, in the same four banks,
///          and the lanes of a warp take turns. Let the tensor copy spread them with the 128-byte swizzle,
///          and find them where it has put them.
/// Judged   By the result for matrices of several shapes; by counters: no bank conflict in any load from
///          shared memory, a tile of 4096 bytes, and each of its chunks read once.
#include "workbook/matrix.hpp"
#include "workbook/swizzle.hpp"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 256;
constexpr int tile_columns = 32;
constexpr int tile_rows = 32;
constexpr int chunks_per_row = 8;

/// A tensor in global memory, the box that one copy moves, and where it puts the chunks.
struct Layout {
    std::uint64_t dims[2];
    std::uint64_t strides[1];
    std::uint32_t box[2];
    workbook::Swizzle swizzle;
};

/// The layout of the tensor map.
__host__ __device__ inline Layout layout_of(workbook::Matrix<const unsigned> matrix) {
    return {.dims = {matrix.width, matrix.height},
            .strides = {matrix.pitch * sizeof(unsigned)},
            .box = {tile_columns, tile_rows},
            //@ hole
            .swizzle = workbook::Swizzle::bytes128};
    //? .swizzle = workbook::Swizzle::none}; // YOUR CODE
    //@ end
}

/// For the judge; one thread.
__global__ void layout(workbook::Matrix<const unsigned> matrix, Layout* result) {
    *result = layout_of(matrix);
}

/// Where chunk number `chunk` (0 to 7) of row `row` lies, counted in chunks from the start of the tile.
__device__ inline int place(int row, int chunk) {
    //@ hole
    return row * chunks_per_row + (chunk ^ (row % chunks_per_row));
    //? return row * chunks_per_row + chunk; // YOUR CODE
    //@ end
}

__global__ void no_conflicts(const __grid_constant__ CUtensorMap map, unsigned* sums, int width) {
    __shared__ alignas(1024) uint4 tile[tile_rows * chunks_per_row];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * tile_columns,
                               static_cast<int>(blockIdx.y) * tile_rows};
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
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const uint4 four = tile[place(lane, warp)];
    const unsigned values[] = {four.x, four.y, four.z, four.w};
    for (int i = 0; i < 4; ++i) {
        const unsigned sum = __reduce_add_sync(0xffffffffu, values[i]);
        const int column = at[0] + 4 * warp + i;
        if (lane == 0 && column < width)
            sums[blockIdx.y * width + column] = sum;
    }
}
