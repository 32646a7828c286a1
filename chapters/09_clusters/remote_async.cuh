/// @file remote_async.cuh
/// Chapter 9, second half: asynchronous operations between the blocks of a cluster, completed on mbarriers.
///
/// A barrier that another block uses must be initialised where that block can see it: the thread that
/// initialises barriers executes `fence.mbarrier_init.release.cluster` once, after the last of them, and then
/// comes a barrier of the cluster (PTX ISA, 'membar / fence').
#pragma once

#include "clusters.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <span>

namespace clusters {

namespace ptx = cuda::ptx;

/// Lets the other blocks see the barriers that this thread has initialised: one fence for all of them, after
/// the last, and cluster.sync() by all threads after it.
__device__ inline void publish_barriers() { ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }

/// Waits for the first phase. What other blocks did before they arrived is then visible: scope cluster.
__device__ inline void wait_for_cluster(std::uint64_t* bar) {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, 0)) {
    }
}

// ---- arrive on another block's mbarrier ----

/// The sum of cluster_sum, pushed instead of pulled: each block writes its sum to rank 0 and arrives on rank
/// 0's barrier. Only rank 0 waits, all others are done. Nobody exits too early: rank 0 cannot leave before
/// all have arrived, and nobody touches the memory of the others.
__global__ void remote_arrive(const unsigned* in, unsigned* sums, std::size_t size) {
    __shared__ unsigned parts[largest_cluster];
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    const auto [start, count] = chunk_of(cluster, size);
    const int i = static_cast<int>(cluster.thread_rank());
    if (cluster.thread_rank() == 0) {
        ptx::mbarrier_init(&bar, cluster.num_blocks());
        publish_barriers();
    }
    cluster.sync(); // rank 0 runs, and its barrier is initialised
    const unsigned sum = block_sum(i < count ? in[start + i] : 0);
    if (threadIdx.x == 0) {
        cluster.map_shared_rank(parts, 0)[cluster.block_rank()] = sum;
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&bar, 0));
    }
    if (cluster.thread_rank() == 0) {
        wait_for_cluster(&bar);
        unsigned total = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
            total += parts[rank];
        sums[blockIdx.x / cluster.num_blocks()] = total;
    }
}

/// sums[c] = the sum modulo 2^32 of chunk c. `sums` has cluster_count() elements.
inline void launch_remote_arrive(std::span<const unsigned> in, std::span<unsigned> sums, int cluster_size) {
    workbook::launch(remote_arrive, cluster_shape(in.size(), cluster_size), in.data(), sums.data(),
                     in.size());
}

// ---- st.async: a store that counts on the receiver's mbarrier ----

/// Each block gets the tile of its left neighbour. A thread stores one element there and does not wait; the
/// receiver's barrier counts the bytes. Nobody exits too early: a block leaves after its last byte has come.
__global__ void store_async(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ alignas(16) unsigned inbox[block_threads];
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    const auto [start, count] = chunk_of(cluster, size);
    const int i = static_cast<int>(cluster.thread_rank());
    const unsigned right = (cluster.block_rank() + 1) % cluster.num_blocks();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        publish_barriers();
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(inbox));
    }
    cluster.sync(); // the receiver runs and counts
    ptx::st_async(cluster.map_shared_rank(inbox, right) + threadIdx.x, i < count ? in[start + i] : 0u,
                  cluster.map_shared_rank(&bar, right));
    wait_for_cluster(&bar);
    if (i < count)
        out[start + i] = inbox[threadIdx.x];
}

/// In chunks of cluster_size · block_threads elements: every tile moves one block to the right, the last to
/// the front; elements beyond the end of the array count as 0.
inline void launch_store_async(std::span<const unsigned> in, std::span<unsigned> out, int cluster_size) {
    workbook::launch(store_async, cluster_shape(in.size(), cluster_size), in.data(), out.data(), in.size());
}

// ---- a bulk copy from shared memory to another block's ----

/// The same by one thread and one copy per block. Its source is this block's shared memory, which must live
/// until it was read: hence the last barrier of the cluster, after every block has received.
__global__ void bulk_to_neighbour(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ alignas(16) unsigned outbox[block_threads];
    __shared__ alignas(16) unsigned inbox[block_threads];
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    const auto [start, count] = chunk_of(cluster, size);
    const int i = static_cast<int>(cluster.thread_rank());
    const unsigned right = (cluster.block_rank() + 1) % cluster.num_blocks();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        publish_barriers();
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(inbox));
    }
    outbox[threadIdx.x] = i < count ? in[start + i] : 0;
    ptx::fence_proxy_async(ptx::space_shared); // each writer: the async proxy must see what I wrote
    cluster.sync();
    if (threadIdx.x == 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(inbox, right),
                           outbox, sizeof(outbox), cluster.map_shared_rank(&bar, right));
    wait_for_cluster(&bar);
    if (i < count)
        out[start + i] = inbox[threadIdx.x];
    cluster.sync();
}

/// What launch_store_async does.
inline void launch_bulk_to_neighbour(std::span<const unsigned> in, std::span<unsigned> out,
                                     int cluster_size) {
    workbook::launch(bulk_to_neighbour, cluster_shape(in.size(), cluster_size), in.data(), out.data(),
                     in.size());
}

// ---- TMA multicast: one read, a tile in every block ----

inline constexpr int tile_elements = 1024; // 4 KiB

/// Copies `bytes` from global memory to the same place in the shared memory of every block whose bit is set
/// in `mask`, and completes them on the barrier at the same place in each. PTX ISA, cp.async.bulk: any sm_90
/// has it, but only 90a promises its speed on later targets, so the assembler advises sm_90a, and cuda::ptx
/// offers this form for 90a only.
__device__ inline void copy_multicast(void* tile, const void* from, std::uint32_t bytes, std::uint64_t* bar,
                                      std::uint16_t mask) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(tile))),
        "l"(__cvta_generic_to_global(from)), "r"(bytes),
        "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(bar))), "h"(mask)
        : "memory");
}

/// Part of a tile that a bulk copy can take, in elements: a multiple of 16 bytes, nothing if misaligned.
__device__ inline int bulk_part(const unsigned* from, int count) {
    return reinterpret_cast<std::uintptr_t>(from) % 16 == 0 ? count / 4 * 4 : 0;
}

/// What every block does with the tile: copy `rank` of it, turned left by `rank` elements. What no bulk copy
/// could take is read from global memory.
__device__ inline void store_turned(const unsigned* tile, int in_tile, const unsigned* from, int count,
                                    unsigned rank, unsigned* out) {
    for (int i = threadIdx.x; i < count; i += block_threads) {
        const int source = static_cast<int>((i + rank) % count);
        out[i] = source < in_tile ? tile[source] : from[source];
    }
}

/// What a block knows of the tile that its cluster takes.
struct ClusterTile {
    unsigned blocks; ///< of the cluster
    unsigned rank;
    std::size_t start;   ///< its first element
    int count;           ///< elements; the last tile of an array is shorter
    int in_tile;         ///< of these, what a bulk copy can bring
    std::uint32_t bytes; ///< that this is
};

__device__ inline ClusterTile tile_of_cluster(const unsigned* in, std::size_t size) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned blocks = cluster.num_blocks();
    const unsigned rank = cluster.block_rank();
    const std::size_t start = std::size_t{blockIdx.x / blocks} * tile_elements;
    const int count = tile_count(start, tile_elements, size);
    const int in_tile = bulk_part(in + start, count);
    const std::uint32_t bytes = in_tile * sizeof(unsigned);
    return {blocks, rank, start, count, in_tile, bytes};
}

/// Every block asks for the tile itself, and L2 delivers it as often. Each block stores a copy, turned by its
/// rank.
__global__ void tile_for_each(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ alignas(16) unsigned tile[tile_elements];
    __shared__ std::uint64_t bar;
    const auto [blocks, rank, start, count, in_tile, bytes] = tile_of_cluster(in, size);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        publish_barriers();
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
    }
    __syncthreads();
    if (threadIdx.x == 0 && bytes > 0)
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, in + start, bytes, &bar);
    wait_for_cluster(&bar);
    store_turned(tile, in_tile, in + start, count, rank, out + rank * size + start);
}

/// Rank 0 asks for it once, and it lands in every block, whose own barrier expects its bytes.
__global__ void multicast_tile(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ alignas(16) unsigned tile[tile_elements];
    __shared__ std::uint64_t bar;
    const auto [blocks, rank, start, count, in_tile, bytes] = tile_of_cluster(in, size);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        publish_barriers();
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
    }
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
    ptx::barrier_cluster_wait(); // all blocks run, and their barriers are initialised
    if (threadIdx.x == 0 && rank == 0 && bytes > 0)
        copy_multicast(tile, in + start, bytes, &bar, static_cast<std::uint16_t>((1u << blocks) - 1));
    wait_for_cluster(&bar);
    store_turned(tile, in_tile, in + start, count, rank, out + rank * size + start);
}

/// Launches either of the two. `out` has cluster_size times as many elements as `in`: copy r of the array
/// begins at r · size, and in it every tile of tile_elements is turned left by r elements. Throws
/// std::invalid_argument if it has not.
inline void launch_same_tile(void (*kernel)(const unsigned*, unsigned*, std::size_t),
                             std::span<const unsigned> in, std::span<unsigned> out, int cluster_size) {
    workbook::LaunchShape shape = cluster_shape(in.size(), cluster_size);
    if (out.size() != in.size() * static_cast<std::size_t>(cluster_size))
        throw std::invalid_argument("multicast: out must have one copy of in per block of a cluster");
    shape.grid.x = workbook::blocks_for(in.size(), tile_elements) * static_cast<unsigned>(cluster_size);
    workbook::launch(kernel, shape, in.data(), out.data(), in.size());
}

inline void launch_multicast_tile(std::span<const unsigned> in, std::span<unsigned> out, int cluster_size) {
    launch_same_tile(multicast_tile, in, out, cluster_size);
}
inline void launch_tile_for_each(std::span<const unsigned> in, std::span<unsigned> out, int cluster_size) {
    launch_same_tile(tile_for_each, in, out, cluster_size);
}

} // namespace clusters
