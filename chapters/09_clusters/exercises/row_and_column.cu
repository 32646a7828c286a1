/// @file row_and_column.cu
/// Exercise: a multicast to some of the blocks.
///
/// Given    Vectors `x` of `rows` floats and `y` of `columns` floats, at multiples of 16 bytes; both numbers
///          are multiples of 128. In clusters of four blocks of 256 threads a block makes 64 × 64 products,
///          a quarter of the cluster's tile: block `rank` in row rank / 2 and column rank % 2. The two blocks
///          of a row need the same 64 floats of x, the two of a column the same of y. copy_multicast(…, mask)
///          copies to the same place of every block whose bit is set in `mask`, and the bytes count there on
///          the barrier at the same place.
/// Wanted   out[m][n] = x[m] · y[n]. Each cluster reads each part of x and y once, for the two blocks that
///          need it and no other.
/// Missing  1. What every block does before a copy to it may be issued. How many bytes does it announce?
///          2. The copies: which block issues which, and to whom.
///          3. The wait.
/// Judged   By results; by counters: half of the bytes that arrive, arrive at the second of two blocks, and
///          no float of x or y comes by a thread's load.
#include <cooperative_groups.h>
#include <cuda/ptx>

#include <cstdint>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int block_threads = 256;
constexpr int part_floats = 64;                              ///< of x and of y, for one block
constexpr int part_bytes = part_floats * int{sizeof(float)}; ///< a multiple of 16

/// Copies `bytes` bytes (a multiple of 16) from global memory to the place of `to` in the shared memory of
/// all blocks in `mask`, to be counted there on the barrier at the place of `bar`. PTX ISA, cp.async.bulk.
__device__ inline void copy_multicast(void* to, const void* from, std::uint32_t bytes, std::uint64_t* bar,
                                      std::uint16_t mask) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes),
                 "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(bar))), "h"(mask)
                 : "memory");
}

/// Waits for the first phase of the block's barrier.
__device__ inline void wait(std::uint64_t* bar) {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, 0)) {
    }
}

__global__ void row_and_column(const float* x, const float* y, int columns, float* out) {
    __shared__ alignas(16) float of_x[part_floats];
    __shared__ alignas(16) float of_y[part_floats];
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    const int rank = static_cast<int>(cluster.block_rank());
    const int tile = static_cast<int>(blockIdx.x) / 4;
    const int across = columns / (2 * part_floats);
    const int row = (tile / across * 2 + rank / 2) * part_floats;
    const int column = (tile % across * 2 + rank % 2) * part_floats;
    // YOUR CODE: 1 to 3.
    for (int i = static_cast<int>(threadIdx.x); i < part_floats * part_floats; i += block_threads) {
        const int m = i / part_floats;
        const int n = i % part_floats;
        out[(row + m) * columns + column + n] = of_x[m] * of_y[n];
    }
}
