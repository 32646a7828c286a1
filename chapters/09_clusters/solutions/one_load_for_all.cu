/// @file one_load_for_all.cu
/// Exercise: write a multicast.
///
/// Given    A table of 512 floats, at a multiple of 16 bytes, and an array `in` of `size` floats anywhere.
///          Every block of 256 threads takes the 256 elements from 256 · blockIdx.x on, and writes out[i] =
///          in[i] · table[k], where k is i modulo 512. The judge launches clusters of four blocks; a block
///          may find no element. copy_multicast(…, mask) lets one thread copy from global memory to the same
///          place in the shared memory of every block whose bit is set in `mask`; in each of them the bytes
///          count on the barrier at the same place.
/// Wanted   The kernel. The table lies in the shared memory of every block, but each cluster loads it once:
///          1. thread 0 of every block initialises its barrier for one arrival, makes that visible to the
///             cluster, arrives, and announces the bytes that will come to its own block;
///          2. nobody issues a copy before all barriers of the cluster are initialised;
///          3. one thread of the cluster copies the table to all blocks;
///          4. every block waits for its own barrier, and computes.
/// Judged   By the result for several sizes; by counters: one copy for every four blocks, and no float of
///          the table that a thread loads from global memory.
#include <cooperative_groups.h>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr unsigned blocks_per_cluster = 4;
constexpr unsigned block_threads = 256;
constexpr unsigned table_floats = 512;

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

__global__ void one_load_for_all(const float* in, float* out, std::size_t size, const float* table) {
    __shared__ alignas(16) float values[table_floats];
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    //@ hole
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(values));
    }
    cluster.sync();
    if (cluster.thread_rank() == 0)
        copy_multicast(values, table, sizeof(values), &bar, (1u << blocks_per_cluster) - 1);
    wait(&bar);
    //? // YOUR CODE: steps 1 to 4.
    //@ end
    if (i < size)
        out[i] = in[i] * values[i % table_floats];
}
