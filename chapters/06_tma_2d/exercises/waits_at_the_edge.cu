/// @file waits_at_the_edge.cu
/// Exercise: find the mistake.
///
/// Given    A kernel that adds one to every element of a matrix of `width` × `height` ints, in place; a
///          block of 128 threads takes a tile of 32 × 16. `map` is the tensor map of the matrix for boxes of
///          32 × 16. The kernel works for matrices whose sides are multiples of 32 and 16, and never ends for
///          others: not on a GPU, and not on the emulator, which says who waits for what.
/// Wanted   Run it, read how many bytes the barrier still waits for, and repair the kernel. What a store
///          does at the edge is right as it is.
/// Judged   By the result for matrices of several shapes, with padding behind the rows left alone where the
///          hardware leaves it alone (a width that is a multiple of 4); by counters: one load and one store
///          of the whole box per tile.
#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_width = 32;
constexpr int tile_height = 16;
constexpr int tile_ints = tile_width * tile_height;

__global__ void waits_at_the_edge(const __grid_constant__ CUtensorMap map, int width, int height) {
    __shared__ alignas(128) int tile[tile_ints];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * tile_width,
                               static_cast<int>(blockIdx.y) * tile_height};
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        const int columns = min(tile_width, width - at[0]); // of the tile that lie in the matrix
        const int rows = min(tile_height, height - at[1]);
        const std::uint32_t bytes = columns * rows * sizeof(int);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, &bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    for (int i = threadIdx.x; i < tile_ints; i += blockDim.x)
        tile[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
