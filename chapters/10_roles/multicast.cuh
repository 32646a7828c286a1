/// @file multicast.cuh
/// Chapter 10: a ring of tensor copies that the blocks of a cluster fill for each other.
///
/// Every block of a cluster makes other fingerprints of the same columns (they begin with its rank), so that
/// all of them need the same tiles. Alone, each asks for all of a tile. Shared, each asks for some of its
/// rows and a multicast brings them to everybody: then a stage is empty when the consumers of all blocks have
/// read it, and every one of their warps says so to every block that writes into it.
#pragma once

#include "roles.cuh"

#include <cooperative_groups.h>

namespace roles {

namespace cg = cooperative_groups;

/// Who brings a block what it needs.
enum class Loads {
    alone, ///< each block loads for itself
    shared ///< each block loads a share for all blocks of its cluster
};

/// How warps tell producers of other blocks that they have read a stage.
enum class Handover {
    plain, ///< as production code does: no qualifiers, so release and acquire in the scope of the block
    letter ///< on the empty side release and acquire in the scope of the cluster, as PTX asks between blocks
};

/// This block's place in its cluster, and the clusters' places in the grid.
struct Place {
    unsigned rank;
    unsigned blocks;
    unsigned cluster;
    unsigned clusters;
};

__device__ inline Place place_in_grid() {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned blocks = cluster.num_blocks();
    return {cluster.block_rank(), blocks, blockIdx.x / blocks, gridDim.x / blocks};
}

/// One thread of each block: asks for the cluster's tiles, or for its share of each. Its own full barrier
/// expects all bytes of a tile, whoever asks for them.
template <Loads loads, Handover handover, class Ring, int depth>
__device__ void produce_for_cluster(Ring& ring, RingState<depth> to, const CUtensorMap& map, const Work& work,
                                    const Place& me) {
    constexpr int rows = sizeof(ring.tiles[0].at) / sizeof(ring.tiles[0].at[0]);
    const unsigned share = rows / me.blocks;
    const auto everybody = static_cast<std::uint16_t>((1u << me.blocks) - 1);
    for (unsigned panel = me.cluster; panel < work.panels(); panel += me.clusters)
        for (unsigned tile = 0; tile < work.tiles(rows); ++tile, to.advance()) {
            if constexpr (handover == Handover::letter)
                workbook::wait_parity_cluster(&ring.empty[to.index], to.phase);
            else
                workbook::wait_parity(&ring.empty[to.index], to.phase);
            auto& at = ring.tiles[to.index];
            std::uint64_t* full = &ring.full[to.index];
            if constexpr (loads == Loads::alone) {
                load_tile(at, full, map, panel * panel_columns, tile * rows);
                continue;
            }
            const std::int32_t corner[] = {static_cast<std::int32_t>(panel * panel_columns),
                                           static_cast<std::int32_t>(tile * rows + me.rank * share)};
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                           sizeof(at));
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, at.at[me.rank * share], &map,
                                      corner, full, everybody);
        }
}

/// A warp has read a stage, and says so to everybody who writes into it.
template <Loads loads, Handover handover>
__device__ void hand_back(std::uint64_t* empty, const Place& me) {
    if constexpr (loads == Loads::alone)
        return workbook::arrive_as_warp(empty);
    ptx::fence_proxy_async(ptx::space_shared); // what I have read comes before what is written next
    __syncwarp();
    if (const unsigned lane = threadIdx.x % 32; lane < me.blocks) {
        if constexpr (handover == Handover::letter)
            workbook::arrive_in_block_release(empty, lane);
        else
            workbook::arrive_in_block(empty, lane);
    }
}

/// The consumers: `count` fingerprints of every column of the cluster, which begin with the block's rank.
template <Loads loads, Handover handover, int count, class Ring, int depth>
__device__ void consume_in_cluster(Ring& ring, RingState<depth> from, const Work& work, const Place& me,
                                   unsigned* out) {
    constexpr int rows = sizeof(ring.tiles[0].at) / sizeof(ring.tiles[0].at[0]);
    for (unsigned panel = me.cluster; panel < work.panels(); panel += me.clusters) {
        Prints<count> prints(me.rank);
        for (unsigned tile = 0; tile < work.tiles(rows); ++tile, from.advance()) {
            workbook::wait_parity(&ring.full[from.index], from.phase);
            prints.absorb(ring.tiles[from.index], threadIdx.x, work.rows_of(tile, rows));
            hand_back<loads, handover>(&ring.empty[from.index], me);
        }
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, me.blocks * count) + me.rank * count);
    }
}

template <Loads loads, Handover handover, int count, int rows, int depth>
__device__ void cluster_ring(const CUtensorMap& map, const Work& work, unsigned* out) {
    auto& ring = *reinterpret_cast<Ring<panel_columns, rows, depth>*>(ring_memory);
    const Place me = place_in_grid();
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps * (loads == Loads::shared ? me.blocks : 1));
    cg::this_cluster().sync(); // everybody's barriers are there before anybody sends
    if (workbook::warp_index() < consumer_warps)
        consume_in_cluster<loads, handover, count>(ring, RingState<depth>{}, work, me, out);
    else if (workbook::elect_one())
        produce_for_cluster<loads, handover>(ring, workbook::producer_start<depth>(), map, work, me);
    cg::this_cluster().sync(); // nobody leaves while others may arrive on its barriers, or send to it
}

/// Each block asks for every tile itself.
template <int count, int rows, int depth>
__global__ void __launch_bounds__(roles_threads, 1)
    unicast_ring(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    cluster_ring<Loads::alone, Handover::plain, count, rows, depth>(map, work, out);
}

/// Each block asks for its share of the rows, for all blocks.
template <int count, int rows, int depth>
__global__ void __launch_bounds__(roles_threads, 1)
    multicast_ring(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    cluster_ring<Loads::shared, Handover::plain, count, rows, depth>(map, work, out);
}

/// The same, and stages are handed back as the letter asks.
template <int count, int rows, int depth>
__global__ void __launch_bounds__(roles_threads, 1)
    multicast_ring_by_letter(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    cluster_ring<Loads::shared, Handover::letter, count, rows, depth>(map, work, out);
}

/// How many clusters of this shape stay on the device at a time.
inline unsigned staying_clusters(RingKernel kernel, const workbook::LaunchShape& shape) {
    workbook::raise_limits(kernel, shape);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = shape.cluster->x;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = shape.cluster->x;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    workbook::check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config),
                    "asking how many clusters fit");
    return static_cast<unsigned>(clusters);
}

/// cluster_size · count fingerprints of every column, `count` by each block of a cluster: as launch_ring has
/// them, plus rank · base_of(k)^height. The kernel is unicast_ring or one of its twins with these parameters;
/// at most `most` clusters. Throws std::invalid_argument unless a cluster has 1 to 8 blocks that can share
/// `rows` rows.
/// @param share rows that one copy brings: `rows`, or with a multicast the share of one block
template <int count, int rows, int depth>
void launch_cluster_ring(RingKernel kernel, int cluster_size, int share, Matrix<const unsigned> words,
                         std::span<unsigned> out, unsigned most = all_blocks) {
    const auto blocks = static_cast<unsigned>(cluster_size);
    if (cluster_size < 1 || cluster_size > 8 || rows % cluster_size != 0)
        throw std::invalid_argument("cluster rings: 1 to 8 blocks, which share the rows of a tile evenly");
    workbook::LaunchShape shape{.block = roles_threads,
                                .dynamic_shared = sizeof(Ring<panel_columns, rows, depth>),
                                .cluster = blocks};
    const Work work = work_of(words, out, std::size_t{blocks} * count);
    if (work.width == 0)
        return;
    shape.grid.x = blocks * std::min({work.panels(), staying_clusters(kernel, shape), most});
    workbook::launch(kernel, shape, words_map(words, panel_columns, static_cast<std::uint32_t>(share)), work,
                     out.data());
}

template <int count = few_prints, int rows = tile_rows, int depth = stages>
void launch_unicast_ring(int cluster_size, Matrix<const unsigned> words, std::span<unsigned> out,
                         unsigned most = all_blocks) {
    launch_cluster_ring<count, rows, depth>(unicast_ring<count, rows, depth>, cluster_size, rows, words, out,
                                            most);
}

template <int count = few_prints, int rows = tile_rows, int depth = stages>
void launch_multicast_ring(int cluster_size, Matrix<const unsigned> words, std::span<unsigned> out,
                           unsigned most = all_blocks) {
    launch_cluster_ring<count, rows, depth>(multicast_ring<count, rows, depth>, cluster_size,
                                            rows / std::max(cluster_size, 1), words, out, most);
}

template <int count = few_prints, int rows = tile_rows, int depth = stages>
void launch_multicast_ring_by_letter(int cluster_size, Matrix<const unsigned> words, std::span<unsigned> out,
                                     unsigned most = all_blocks) {
    launch_cluster_ring<count, rows, depth>(multicast_ring_by_letter<count, rows, depth>, cluster_size,
                                            rows / std::max(cluster_size, 1), words, out, most);
}

} // namespace roles
