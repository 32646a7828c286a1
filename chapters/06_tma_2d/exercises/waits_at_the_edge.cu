/// @file waits_at_the_edge.cu
/// Exercise: find the mistake.
///
/// Given    A kernel that adds to each element of a matrix of `width` columns the one 32 columns to its
///          right: out(x, y) = in(x, y) + in(x + 32, y), where columns beyond the matrix count as 0. A block
///          of 128 threads takes a tile of 32 × 16 and loads two boxes, its own and the next one to the
///          right, on one barrier. `from` and `to` are the tensor maps of `in` and `out` for boxes of
///          32 × 16. The blocks of the last column of tiles never end: not on a GPU, and not on the
///          emulator, which says who waits for what.
/// Wanted   Check it, read how many bytes the barrier still waits for, and repair the kernel. The sum needs
///          no special case for the last column of tiles, and no size of the matrix; leave `width` among the
///          parameters.
/// Judged   By the result for matrices of several shapes; by counters: two loads and one store of a whole box
///          for each tile.
#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_width = 32;
constexpr int tile_height = 16;
constexpr int tile_ints = tile_width * tile_height;

__global__ void waits_at_the_edge(const __grid_constant__ CUtensorMap from,
                                  const __grid_constant__ CUtensorMap to, int width) {
    __shared__ alignas(128) int tile[tile_ints];
    __shared__ alignas(128) int right[tile_ints];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * tile_width,
                               static_cast<int>(blockIdx.y) * tile_height};
    const std::int32_t beside[] = {at[0] + tile_width, at[1]};
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(tile) + sizeof(right));
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &from, at, &bar);
        if (beside[0] < width) // beyond the last column there is nothing to load
            ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, right, &from, beside, &bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    for (int i = threadIdx.x; i < tile_ints; i += blockDim.x)
        tile[i] += right[i];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
