/// @file mistakes.cu
/// Chapter 9, wrong on purpose: blocks that reach into shared memory which is not there yet, no longer there,
/// or never was.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"

#include <cooperative_groups.h>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int blocks = 4;
constexpr int block_threads = 128;

/// Nothing makes a thread wait until the neighbour runs and has initialised its tile: __syncthreads() speaks
/// for the own block only.
__global__ void first_sync_missing(const int* in, int* out) {
    __shared__ int tile[block_threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int i = static_cast<int>(cluster.thread_rank());
    tile[threadIdx.x] = in[i]; // expect: race-shared
    __syncthreads();           // should be cluster.sync()
    const int neighbour = static_cast<int>(cluster.block_rank() + 1) % blocks;
    out[i] = cluster.map_shared_rank(tile, neighbour)[threadIdx.x]; // expect: race-shared
    cluster.sync();
}

/// The last block to read finds that its neighbour is gone, and its shared memory with it.
__global__ void last_sync_missing(const int* in, int* out) {
    __shared__ int tile[block_threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int i = static_cast<int>(cluster.thread_rank());
    tile[threadIdx.x] = in[i];
    cluster.sync();
    const int neighbour = static_cast<int>(cluster.block_rank() + 1) % blocks;
    out[i] = cluster.map_shared_rank(tile, neighbour)[threadIdx.x]; // expect: remote-block-exited
}

/// The right neighbour of the last block is not block_rank() + 1.
__global__ void rank_out_of_range(const int* in, int* out) {
    __shared__ int tile[block_threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const int i = static_cast<int>(cluster.thread_rank());
    tile[threadIdx.x] = in[i];
    cluster.sync();
    const int neighbour = static_cast<int>(cluster.block_rank() + 1); // should start again at 0
    const int* theirs = cluster.map_shared_rank(tile, neighbour);     // expect: rank-out-of-range
    out[i] = theirs[threadIdx.x];
    cluster.sync();
}

/// A mask of eight blocks, in a cluster of four.
__global__ void mask_outside_cluster(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(tile));
    }
    cluster.sync();
    if (cluster.thread_rank() == 0) {
        const std::uint16_t mask = 0xff; // should be (1 << blocks) - 1
        const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile));
        const auto on = static_cast<std::uint32_t>(__cvta_generic_to_shared(&bar));
        const std::size_t src = __cvta_generic_to_global(in);
        constexpr std::size_t size = sizeof(tile);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%0], [%1], %2, [%3], %4;"
                     :
                     : "r"(to), "l"(src), "n"(size), "r"(on), "h"(mask) // expect: multicast-mask-out-of-range
                     : "memory");
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {
    }
    out[cluster.thread_rank()] = tile[threadIdx.x];
}

/// The arrival on rank 0's barrier is relaxed: it counts, but publishes nothing that was written before.
__global__ void relaxed_arrive(const int* in, int* out) {
    __shared__ int slots[blocks];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    cluster.sync();
    if (threadIdx.x == 0)
        cluster.map_shared_rank(slots, 0)[rank] = in[rank]; // expect: race-shared
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);          // should be sem_release
    ptx::barrier_cluster_wait();
    if (rank == 0 && threadIdx.x < blocks)
        out[threadIdx.x] = slots[threadIdx.x]; // expect: race-shared
}

/// Launches one cluster of four blocks over as many tiles of different numbers.
void run(void (*kernel)(const int*, int*)) {
    std::vector<int> numbers(blocks * block_threads);
    std::iota(numbers.begin(), numbers.end(), 1);
    const workbook::DeviceBuffer<int> in(numbers);
    workbook::DeviceBuffer<int> out(numbers.size());
    workbook::launch(kernel, {.grid = blocks, .block = block_threads, .cluster = blocks}, in.data(),
                     out.data());
    workbook::synchronize();
}

constexpr workbook::Mistake mistakes[] = {
    {"first_sync_missing", "a tile is read before its block has written it", [] { run(first_sync_missing); }},
    {"last_sync_missing", "a block exits while its neighbour still reads its tile",
     [] { run(last_sync_missing); }},
    {"rank_out_of_range", "an address is mapped to a block that is not there",
     [] { run(rank_out_of_range); }},
    {"mask_outside_cluster", "a multicast names blocks outside the cluster",
     [] { run(mask_outside_cluster); }},
    {"relaxed_arrive", "the cluster's barrier is passed without publishing a write",
     [] { run(relaxed_arrive); }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
