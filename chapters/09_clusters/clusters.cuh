/// @file clusters.cuh
/// Chapter 9: blocks of a cluster run together and reach into each other's shared memory (DSMEM).
///
/// Two rules hold in every kernel here. No block touches another's shared memory before all blocks of the
/// cluster run, and no block exits while another may still touch its own. `cluster.sync()` gives both; where
/// something else gives them, a comment says what. (CUDA C++ Programming Guide, 'Distributed Shared Memory')
///
/// remote_async.cuh has the asynchronous half: mbarriers of other blocks, st.async, bulk copies, multicast.
#pragma once

#include "workbook/buffer.hpp"
#include "workbook/device.hpp"
#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cooperative_groups.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace clusters {

namespace cg = cooperative_groups;
using workbook::tile_count;

inline constexpr int block_threads = 256;
inline constexpr int portable_cluster = 8; ///< every device with clusters can run this many blocks
inline constexpr int largest_cluster = 16; ///< an H100 or H200 can, if the kernel opts in

/// Clusters of `cluster_size` blocks, enough of them for `size` elements. Throws std::invalid_argument unless
/// cluster_size is from 1 to 16.
inline workbook::LaunchShape cluster_shape(std::size_t size, int cluster_size,
                                           int elements_per_block = block_threads) {
    if (cluster_size < 1 || cluster_size > largest_cluster)
        throw std::invalid_argument("a cluster has 1 to 16 blocks, not " + std::to_string(cluster_size));
    const auto blocks = static_cast<unsigned>(cluster_size);
    const std::size_t elements = std::size_t{blocks} * static_cast<std::size_t>(elements_per_block);
    return {.grid = workbook::blocks_for(size, elements) * blocks,
            .block = block_threads,
            .cluster = blocks,
            .non_portable_cluster = cluster_size > portable_cluster};
}

/// What one cluster takes of an array: block_threads elements for each of its blocks.
struct Chunk {
    std::size_t start;
    int count; ///< fewer only at the end of the array
};

__device__ inline Chunk chunk_of(const cg::cluster_group& cluster, std::size_t size) {
    const int elements = static_cast<int>(cluster.num_blocks()) * block_threads;
    const std::size_t start = std::size_t{blockIdx.x / cluster.num_blocks()} * elements;
    return {start, tile_count(start, elements, size)};
}

// ---- write to the neighbour's variable and read it back ----

/// What one block saw.
struct Exchange {
    unsigned received;  ///< what the left neighbour wrote into this block's variable
    unsigned read_back; ///< what the right neighbour's variable held after this block wrote to it
    unsigned rank;      ///< rank of the block that owns the mapped address, by query_shared_rank
};

inline constexpr int exchange_blocks = 4;

/// Block b writes values[b] to the variable of its right neighbour in a cluster of four. The cluster's size
/// is part of the kernel: `__cluster_dims__` needs no launch attribute.
__global__ void __cluster_dims__(exchange_blocks, 1, 1)
    neighbour_variable(const unsigned* values, Exchange* seen, std::size_t size) {
    __shared__ unsigned variable;
    const cg::cluster_group cluster = cg::this_cluster();
    const std::size_t block = blockIdx.x;
    unsigned* theirs = cluster.map_shared_rank(&variable, (cluster.block_rank() + 1) % cluster.num_blocks());
    cluster.sync(); // the neighbour runs, and its variable exists
    if (threadIdx.x == 0)
        *theirs = block < size ? values[block] : 0;
    cluster.sync(); // all have written
    if (threadIdx.x == 0 && block < size)
        seen[block] = {variable, *theirs, cluster.query_shared_rank(theirs)};
    cluster.sync(); // the neighbour has read; its variable may go
}

/// One block per element; both arrays have the same size.
inline void launch_neighbour_variable(std::span<const unsigned> values, std::span<Exchange> seen) {
    const unsigned grid = workbook::blocks_for(values.size(), exchange_blocks) * exchange_blocks;
    workbook::launch(neighbour_variable, {.grid = grid, .block = 32}, values.data(), seen.data(),
                     values.size());
}

// ---- initialise, sync, use, sync ----

/// Reverses the cluster's whole chunk: almost every element comes from another block's tile.
__global__ void initialise_sync_use_sync(const float* in, float* out, std::size_t size) {
    __shared__ float tile[block_threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const auto [start, count] = chunk_of(cluster, size);
    const int i = static_cast<int>(cluster.thread_rank());
    if (i < count)
        tile[threadIdx.x] = in[start + i];
    cluster.sync(); // all blocks run, and all tiles are written
    if (i < count) {
        const int from = count - 1 - i;
        const float* theirs = cluster.map_shared_rank(tile, from / block_threads);
        out[start + i] = theirs[from % block_threads];
    }
    cluster.sync(); // all have read, so the tiles may go
}

/// Reverses chunks of cluster_size · block_threads elements.
inline void launch_initialise_sync_use_sync(std::span<const float> in, std::span<float> out,
                                            int cluster_size) {
    workbook::launch(initialise_sync_use_sync, cluster_shape(in.size(), cluster_size), in.data(), out.data(),
                     in.size());
}

/// The same, plus y: sums[i] = reversed x + y. Between arriving and waiting a thread does what needs no other
/// block: it loads y before the tiles are used, and stores its sum before the tiles go.
__global__ void split_arrive_wait(const float* x, const float* y, float* sums, std::size_t size) {
    __shared__ float tile[block_threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const auto [start, count] = chunk_of(cluster, size);
    const int i = static_cast<int>(cluster.thread_rank());
    if (i < count)
        tile[threadIdx.x] = x[start + i];
    auto written = cluster.barrier_arrive(); // releases what this thread wrote
    float sum = i < count ? y[start + i] : 0;
    cluster.barrier_wait(std::move(written)); // acquires what the others wrote
    if (i < count) {
        const int from = count - 1 - i;
        sum += cluster.map_shared_rank(tile, from / block_threads)[from % block_threads];
    }
    auto read = cluster.barrier_arrive();
    if (i < count)
        sums[start + i] = sum;
    cluster.barrier_wait(std::move(read));
}

/// sums = x, reversed in chunks of cluster_size · block_threads, plus y. All three have one size.
inline void launch_split_arrive_wait(std::span<const float> x, std::span<const float> y,
                                     std::span<float> sums, int cluster_size) {
    workbook::launch(split_arrive_wait, cluster_shape(x.size(), cluster_size), x.data(), y.data(),
                     sums.data(), x.size());
}

// ---- ring exchange ----

inline constexpr unsigned ring_factor = 3; ///< makes the order in which tiles arrive visible in the result

/// Every block sees every tile of its cluster: in each step it passes the tile it holds to its right
/// neighbour. out = ((own · 3 + left) · 3 + left of left) · 3 …, modulo 2^32. Two buffers take turns, so that
/// one barrier per step is enough: what is written now was last read before the previous barrier.
__global__ void ring_exchange(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ unsigned buffers[2][block_threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const auto [start, count] = chunk_of(cluster, size);
    const int i = static_cast<int>(cluster.thread_rank());
    const unsigned right = (cluster.block_rank() + 1) % cluster.num_blocks();
    buffers[0][threadIdx.x] = i < count ? in[start + i] : 0;
    cluster.sync(); // all blocks run
    unsigned result = 0;
    for (unsigned step = 0; step < cluster.num_blocks(); ++step) {
        const unsigned held = buffers[step % 2][threadIdx.x];
        result = result * ring_factor + held;
        if (step + 1 < cluster.num_blocks()) { // the last tile has been everywhere
            cluster.map_shared_rank(buffers[(step + 1) % 2], right)[threadIdx.x] = held;
            cluster.sync();
        }
    }
    if (i < count)
        out[start + i] = result; // nobody touches this block's memory after the last barrier
}

inline void launch_ring_exchange(std::span<const unsigned> in, std::span<unsigned> out, int cluster_size) {
    workbook::launch(ring_exchange, cluster_shape(in.size(), cluster_size), in.data(), out.data(), in.size());
}

// ---- cluster-wide reduction ----

/// Sum over the block, modulo 2^32; thread 0 gets it.
__device__ inline unsigned block_sum(unsigned value) {
    constexpr unsigned all_lanes = 0xffffffffu;
    __shared__ unsigned warp_sums[block_threads / 32];
    const unsigned warp_sum = __reduce_add_sync(all_lanes, value);
    if (threadIdx.x % 32 == 0)
        warp_sums[threadIdx.x / 32] = warp_sum;
    __syncthreads();
    unsigned sum = 0;
    for (const unsigned part : warp_sums)
        sum += part;
    return sum;
}

/// One sum per cluster, without a global atomic or a second kernel: rank 0 reads the sums of all blocks.
__global__ void cluster_sum(const unsigned* in, unsigned* sums, std::size_t size) {
    __shared__ unsigned sum_of_block;
    const cg::cluster_group cluster = cg::this_cluster();
    const auto [start, count] = chunk_of(cluster, size);
    const int i = static_cast<int>(cluster.thread_rank());
    const unsigned sum = block_sum(i < count ? in[start + i] : 0);
    if (threadIdx.x == 0)
        sum_of_block = sum;
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < 32) {
        const unsigned part =
            threadIdx.x < cluster.num_blocks() ? *cluster.map_shared_rank(&sum_of_block, threadIdx.x) : 0;
        const unsigned total = __reduce_add_sync(0xffffffffu, part);
        if (threadIdx.x == 0)
            sums[blockIdx.x / cluster.num_blocks()] = total;
    }
    cluster.sync(); // rank 0 has read
}

/// Number of clusters that take `size` elements: how many sums there are.
inline std::size_t cluster_count(std::size_t size, int cluster_size) {
    return cluster_shape(size, cluster_size).grid.x / static_cast<unsigned>(cluster_size);
}

/// sums[c] = the sum modulo 2^32 of chunk c. `sums` has cluster_count() elements.
inline void launch_cluster_sum(std::span<const unsigned> in, std::span<unsigned> sums, int cluster_size) {
    workbook::launch(cluster_sum, cluster_shape(in.size(), cluster_size), in.data(), sums.data(), in.size());
}

// ---- histogram, its bins spread over the cluster ----

inline constexpr int bin_count = 8192; ///< 32 KiB of counters: one block's alone, or 2 KiB in each of 16

/// The bin of a value: its upper bits.
__host__ __device__ constexpr unsigned bin_of(unsigned value) {
    return value / (0x80000000u / (bin_count / 2));
}

/// Each block keeps bins_per_block of the bins. A thread adds to the shared memory of whichever block has the
/// bin; only the sums go to global memory.
__global__ void histogram(const unsigned* values, std::size_t size, unsigned* bins, int bins_per_block) {
    extern __shared__ unsigned local[]; // bins_per_block
    const cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_per_block; i += block_threads)
        local[i] = 0;
    cluster.sync(); // all bins are zero
    const std::size_t step = std::size_t{gridDim.x} * block_threads;
    for (std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x; i < size; i += step) {
        const int bin = static_cast<int>(bin_of(values[i]));
        atomicAdd(cluster.map_shared_rank(local, bin / bins_per_block) + bin % bins_per_block, 1u);
    }
    cluster.sync(); // all have counted; from here on a block needs only its own bins
    const int first = static_cast<int>(cluster.block_rank()) * bins_per_block;
    for (int i = threadIdx.x; i < min(bins_per_block, bin_count - first); i += block_threads)
        if (local[i] != 0)
            atomicAdd(bins + first + i, local[i]);
}

inline int bins_per_block(int cluster_size) { return (bin_count + cluster_size - 1) / cluster_size; }

/// The launch of `histogram`: at most eight blocks per SM, each with its part of the bins.
inline workbook::LaunchShape histogram_shape(std::size_t size, int cluster_size) {
    constexpr int elements_per_block = 16 * block_threads;
    workbook::LaunchShape shape = cluster_shape(size, cluster_size, elements_per_block);
    const int resident = workbook::device_attribute(cudaDevAttrMultiProcessorCount) * 8;
    shape.grid.x = std::min(shape.grid.x, static_cast<unsigned>(resident / cluster_size * cluster_size));
    shape.dynamic_shared = static_cast<std::size_t>(bins_per_block(cluster_size)) * sizeof(unsigned);
    return shape;
}

/// bins[bin_of(v)] += 1 for every value. `bins` has bin_count elements.
inline void launch_histogram(std::span<const unsigned> values, std::span<unsigned> bins, int cluster_size) {
    if (bins.size() != bin_count)
        throw std::invalid_argument("histogram: there must be one element per bin");
    workbook::launch(histogram, histogram_shape(values.size(), cluster_size), values.data(), values.size(),
                     bins.data(), bins_per_block(cluster_size));
}

/// How many clusters of `histogram` the device can run at the same time; 0 if it cannot run one that large.
/// The more blocks a cluster has, the fewer groups of SMs have room for all of them.
inline int max_active_clusters(int cluster_size) {
    const workbook::LaunchShape shape = histogram_shape(std::size_t{1} << 30, cluster_size);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = shape.cluster->x;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    workbook::raise_limits(histogram, shape);
    int count = 0;
    const cudaError_t status = cudaOccupancyMaxActiveClusters(&count, histogram, &config);
    if (status == cudaErrorInvalidClusterSize) {
        (void)cudaGetLastError(); // the answer, not a failure
        return 0;
    }
    workbook::check(status, "cudaOccupancyMaxActiveClusters");
    return count;
}

// ---- the latency of distributed shared memory ----

/// Where a chase ended, and how many SM clock cycles it took.
struct Probe {
    unsigned end;
    long long cycles;
};

inline constexpr int chain_nodes = 1024;

/// A cycle through all nodes: i becomes 5·i + 3 modulo 1024, which has full period (Hull and Dobell, 1962).
__host__ __device__ constexpr unsigned next_node(unsigned i) { return (5 * i + 3) % chain_nodes; }

/// One thread of rank 0 follows a chain of indices in the shared memory of the block with rank `owner`. Each
/// load needs the one before, so the time per step is the latency.
__global__ void chase_dsmem(int steps, int owner, Probe* result) {
    __shared__ unsigned chain[chain_nodes];
    const cg::cluster_group cluster = cg::this_cluster();
    for (unsigned i = threadIdx.x; i < chain_nodes; i += block_threads)
        chain[i] = next_node(i);
    cluster.sync();
    if (cluster.thread_rank() == 0) {
        const unsigned* theirs = cluster.map_shared_rank(chain, owner);
        unsigned at = 0;
        const long long begin = clock64();
        for (int step = 0; step < steps; ++step)
            at = theirs[at];
        *result = {at, clock64() - begin};
    }
    cluster.sync(); // the chain may go
}

/// Follows `steps` links in the memory of block `owner` of one cluster, and waits for the result.
inline Probe launch_chase_dsmem(int steps, int owner, int cluster_size) {
    if (owner < 0 || owner >= cluster_size)
        throw std::invalid_argument("chase_dsmem: the owner must be a block of the cluster");
    workbook::DeviceBuffer<Probe> result(1);
    workbook::launch(chase_dsmem, cluster_shape(1, cluster_size), steps, owner, result.data());
    return result.download().front();
}

} // namespace clusters
