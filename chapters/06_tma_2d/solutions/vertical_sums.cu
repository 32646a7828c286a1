/// @file vertical_sums.cu
/// Exercise: choose a tile, and write a filter whose edge comes from the tensor map.
///
/// Given    Two matrices of `width` × `height` unsigned ints. A block of 128 threads takes a tile of 1,024
///          elements. `shape` tells the judge how wide and how high it is, and what you count; the judge
///          makes the maps: `from` of `in`, for the tile with one row more above and below; `to` of `out`,
///          for the tile. What a load finds outside of the matrix is 0.
/// Wanted   First the tile: the one whose loads read the fewest sectors of 32 bytes of a matrix of 128 × 128,
///          each row of which begins in the middle of a sector. A load cuts each row of its box into pieces
///          of 128 bytes, and of each piece it reads all sectors that it touches. (A row outside of the
///          matrix counts as many sectors as it fills: four for 128 bytes.) The width divides 1,024, is a
///          multiple of 4, leaves a box of at most 256 rows, and is not more than the matrix has. Write how
///          many sectors the loads of all tiles read, into `sectors_read`. Then the kernel:
///          out(x, y) = in(x, y - 1) + in(x, y) + in(x, y + 1) modulo 2^32, where rows outside of the matrix
///          count as 0. One tensor load and one tensor store per tile; no test for the matrix's edge.
/// Judged   By the result for matrices of several shapes, and by your count of the sectors; by counters: one
///          load of a halo and one store of a tile for each block, the sectors loaded from the matrix of
///          128 × 128, and that whole warps add: their stores to shared memory write at least 120 bytes each,
///          on average.
#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_elements = 1024;
//@ hole
constexpr int tile_width = 32;
constexpr int sectors_read = 2712; // 16 boxes of 34 rows of five, less one for each of 8 rows outside
//? constexpr int tile_width = 128; // YOUR CODE: how wide?
//? constexpr int sectors_read = 0; // YOUR CODE: how many sectors do the loads of all tiles read?
//@ end
constexpr int tile_height = tile_elements / tile_width;
constexpr int halo_height = tile_height + 2;

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

struct Shape {
    int tile_width;
    int tile_height;
    int sectors_read;
};

/// For the judge; one thread.
__global__ void shape(Shape* result) { *result = {tile_width, tile_height, sectors_read}; }

__global__ void vertical_sums(const __grid_constant__ CUtensorMap from,
                              const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(128) unsigned halo[halo_height * tile_width];
    __shared__ alignas(128) unsigned sums[tile_elements];
    __shared__ std::uint64_t bar;
    const int x = static_cast<int>(blockIdx.x) * tile_width;
    const int y = static_cast<int>(blockIdx.y) * tile_height;
    //@ hole
    const std::int32_t above[] = {x, y - 1};
    const std::int32_t at[] = {x, y};
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(halo));
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, halo, &from, above, &bar);
    }
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < tile_elements; i += blockDim.x)
        sums[i] = halo[i] + halo[i + tile_width] + halo[i + 2 * tile_width];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at, sums);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    //? // YOUR CODE:
    //? // 1. thread 0: set the barrier up and load the box of `from` that begins one row above the tile;
    //? // 2. all threads: wait, and write the sums of three rows;
    //? // 3. let the async proxy see the sums; thread 0 stores them at (x, y) through `to`.
    //@ end
}
