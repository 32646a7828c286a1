/// @file half_a_ring.cu
/// Exercise: find the mistakes.
///
/// Given    A kernel that counts: below[i] is how many elements of `in` are smaller than limits[i]. `in` has
///          `count` batches of 64 unsigned ints and begins at a multiple of 16 bytes. The blocks work in
///          pairs, clusters of two, and each needs every batch. The batches come through a ring of two stages
///          that the blocks of a pair fill for each other: each asks for its half of a batch, for both. In a
///          block four warps read, with a limit for each of their 128 threads, and one thread of a fifth
///          asks. On an H200 it does not end, or counts wrongly.
/// Wanted   Check it, read what the emulator reports, repair that, and check it again: there are two
///          mistakes. What a block asks for and announces is right, and so is whom a warp tells that it has
///          read a stage.
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters: half
///          of what lands in a block was asked for by the other one, and no barrier of the cluster stands
///          between the beginning and the end.
#include <cooperative_groups.h>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr unsigned blocks = 2;            ///< of a cluster
constexpr unsigned reading_threads = 128; ///< of a block
constexpr unsigned stages = 2;
constexpr unsigned batch_words = 64;
constexpr unsigned share = batch_words / blocks; ///< the words of a batch that one block asks for

/// Waits until the phase with this parity is over. The one before the first counts as over, with parity 1.
__device__ inline void wait_parity(std::uint64_t* bar, unsigned parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// Copies a share to the same place in both blocks, and counts it there on the barrier at the place of `bar`.
__device__ inline void copy_multicast(unsigned* to, const unsigned* from, std::uint64_t* bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "n"(share * sizeof(unsigned)),
                 "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(bar))), "h"(std::uint16_t{0b11})
                 : "memory");
}

/// Arrives on the barrier at the same place in the block with this rank.
__device__ inline void arrive_at(std::uint64_t* bar, unsigned rank) {
    const auto own = static_cast<std::uint32_t>(__cvta_generic_to_shared(bar));
    std::uint32_t theirs;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(own), "r"(rank));
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(theirs) : "memory");
}

__global__ void half_a_ring(const unsigned* in, unsigned count, const unsigned* limits, unsigned* below) {
    __shared__ alignas(128) unsigned batches[stages][batch_words];
    __shared__ std::uint64_t full[stages];
    __shared__ std::uint64_t empty[stages];
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < stages; ++stage) {
            ptx::mbarrier_init(&full[stage], 1);
            ptx::mbarrier_init(&empty[stage], reading_threads / 32); // the warps that read
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    if (threadIdx.x == reading_threads) {
        const unsigned mine = cluster.block_rank() * share; // where my share of a batch begins
        for (unsigned k = 0; k < count; ++k) {
            const unsigned stage = k % stages;
            wait_parity(&empty[stage], (k / stages + 1) % 2);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage],
                                           sizeof(batches[stage]));
            copy_multicast(batches[stage] + mine, in + std::size_t{k} * batch_words + mine, &full[stage]);
        }
    } else if (threadIdx.x < reading_threads) {
        const std::size_t i = std::size_t{blockIdx.x} * reading_threads + threadIdx.x;
        const unsigned limit = limits[i];
        unsigned smaller = 0;
        for (unsigned k = 0; k < count; ++k) {
            const unsigned stage = k % stages;
            wait_parity(&full[stage], k / stages % 2);
            for (const unsigned value : batches[stage])
                smaller += value < limit;
            ptx::fence_proxy_async(ptx::space_shared); // what I have read comes before what is written next
            __syncwarp();
            if (threadIdx.x % 32 < blocks)
                arrive_at(&empty[stage], threadIdx.x % 32);
        }
        below[i] = smaller;
    }
}
