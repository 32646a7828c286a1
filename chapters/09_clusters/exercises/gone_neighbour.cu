/// @file gone_neighbour.cu
/// Exercise: find the mistakes.
///
/// Given    A kernel that passes tiles on, and what is smallest in them: clusters of four blocks of 128
///          threads take 512 elements each. Every block gets the 128 elements of its left neighbour, the
///          first block those of the last, and subtracts the smallest of them. A tile goes by a bulk copy
///          from `outbox` to the neighbour's `inbox`. The smallest element of each warp goes by a store, and
///          an arrival at the neighbour's `bar` says that it is there. `size` is a multiple of 512. On a GPU
///          it may pass.
/// Wanted   Check it, read what the emulator reports, repair that, and check it again: there are two
///          mistakes. What a block announces and counts is right, and so is what is sent to whom.
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters: each
///          element passes by a bulk copy between blocks, four words for each block by stores, and the
///          cluster meets at most twice.
#include <cooperative_groups.h>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr unsigned blocks_per_cluster = 4;
constexpr unsigned block_threads = 128;
constexpr unsigned warps = block_threads / 32;

/// Arrives on the barrier at the same place in the block with this rank.
__device__ inline void arrive_at(std::uint64_t* bar, unsigned rank) {
    const auto own = static_cast<std::uint32_t>(__cvta_generic_to_shared(bar));
    std::uint32_t theirs;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(own), "r"(rank));
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(theirs) : "memory");
}

/// Waits for the first phase of the block's barrier.
__device__ inline void wait(std::uint64_t* bar) {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, 0)) {
    }
}

__global__ void gone_neighbour(const unsigned* in, unsigned* out) {
    __shared__ alignas(16) unsigned outbox[block_threads];
    __shared__ alignas(16) unsigned inbox[block_threads];
    __shared__ unsigned smallest[warps]; ///< of the left neighbour's warps
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    const unsigned right = (cluster.block_rank() + 1) % blocks_per_cluster;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1 + warps); // this announcement, and an arrival of each warp on the left
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(inbox));
    }
    outbox[threadIdx.x] = in[i];
    const unsigned least = __reduce_min_sync(~0u, outbox[threadIdx.x]);
    ptx::fence_proxy_async(ptx::space_shared); // the copy sees what I wrote
    cluster.sync();                            // all run and count, and every outbox is written
    if (threadIdx.x == 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(inbox, right),
                           outbox, sizeof(outbox), cluster.map_shared_rank(&bar, right));
    if (threadIdx.x % 32 == 0) {
        cluster.map_shared_rank(smallest, right)[threadIdx.x / 32] = least;
        arrive_at(&bar, right);
    }
    wait(&bar);
    unsigned floor = ~0u;
    for (const unsigned of : smallest)
        floor = min(floor, of);
    out[i] = inbox[threadIdx.x] - floor;
}
