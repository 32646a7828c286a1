/// @file tuned.cuh
/// Rung 13: the same with its choices open: the tile of a block, the stages, the blocks of a cluster down and
/// across, the panels that a result leaves through. A tuner tried them, and tuned_choices.cuh has what it
/// found.
#pragma once

#include "../launching.cuh"

#include "workbook/warpgroups.cuh"

#include <cooperative_groups.h>

#include <algorithm>

namespace gemm::tuned {

/// One choice. `consumers` warpgroups multiply 64 rows each by `columns` columns.
template <int consumers_, int columns_, int stages_, int down_, int across_, int panels_>
struct Choice {
    using T = Tile<64 * consumers_, columns_>;
    static constexpr int stage_count = stages_;
    static constexpr int consumers = consumers_; ///< warpgroups
    static constexpr int down = down_;           ///< blocks of a cluster that share a tile of b
    static constexpr int across = across_;       ///< blocks of a cluster that share a tile of a
    static constexpr int blocks = down * across; ///< of a cluster
    static constexpr int panels = panels_;       ///< of each warpgroup
    static constexpr int threads = (1 + consumers) * workbook::warpgroup_threads;
    /// What a thread starts with is 65,536 by the threads, and ptxas rounds down to a multiple of 8. Nobody
    /// gets more than the block has started with in all.
    static constexpr int start = 65536 / threads / 8 * 8;
    static constexpr int loading_registers = 40;
    static constexpr int most = (start * (consumers + 1) - loading_registers) / consumers / 8 * 8;
    static constexpr int multiplying_registers = std::min(most, 240);
    static_assert(columns_ / 64 % panels == 0, "a tile begins with the panel that was stored longest ago");

    struct Memory {
        Stage<T> stages[stage_count];
        Panel panels_of[consumers][panels];
        workbook::RingBarriers<stage_count> bars;
    };
    static_assert(sizeof(Memory) <= 227 * 1024); // of a block, compute capability 9.0
};

/// One thread: asks for what this block brings of a stage. A part of a goes to all blocks of its row of the
/// cluster, a part of b to all of its column.
template <class C>
__device__ void load_parts(Stage<typename C::T>& stage, const CUtensorMap& a, const CUtensorMap& b,
                           Corner corner, unsigned step, unsigned rank, std::uint64_t* full) {
    using T = typename C::T;
    constexpr std::uint32_t bytes = Stage<T>::bytes;
    constexpr unsigned part_a = T::rows / C::across, part_b = T::columns / C::down;
    const unsigned row = rank / C::across, column = rank % C::across, k = step * T::depth;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
    if constexpr (C::across == 1)
        load_box(stage.a, a, k, corner.row, full);
    else
        load_box_for(static_cast<std::uint16_t>(((1u << C::across) - 1) << (row * C::across)),
                     stage.a + column * part_a * T::depth, a, k, corner.row + column * part_a, full);
    if constexpr (C::down == 1)
        load_box(stage.b, b, k, corner.column, full);
    else {
        unsigned blocks = 0;
        for (int i = 0; i < C::down; ++i)
            blocks |= 1u << (i * C::across + column);
        load_box_for(static_cast<std::uint16_t>(blocks), stage.b + row * part_b * T::depth, b, k,
                     corner.column + row * part_b, full);
    }
}

/// One thread: fills stage after stage as they become empty in all blocks, for one tile.
template <class C>
__device__ void produce(typename C::Memory& memory, workbook::RingState<C::stage_count>& at,
                        const CUtensorMap& a, const CUtensorMap& b, Corner corner, unsigned steps,
                        unsigned rank) {
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&memory.bars.empty[at.index], at.phase);
        load_parts<C>(memory.stages[at.index], a, b, corner, step, rank, &memory.bars.full[at.index]);
    }
}

/// A whole warp gives a stage back to all who fill it.
template <class C>
__device__ void give_back(std::uint64_t* empty) {
    if constexpr (C::blocks == 1)
        release(empty);
    else
        release_in_cluster<C::blocks>(empty);
}

/// A warpgroup, the `group`-th that multiplies: its 64 rows, stage after stage.
template <class C, int sums>
__device__ void consume(float (&d)[sums], typename C::Memory& memory, workbook::RingState<C::stage_count>& at,
                        unsigned group, unsigned steps) {
    std::uint64_t* before = nullptr;
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&memory.bars.full[at.index], at.phase);
        const auto& stage = memory.stages[at.index];
        workbook::wgmma_fence();
        multiply(d, stage.a + group * 64 * C::T::depth, stage.b, step > 0);
        workbook::wgmma_commit();
        workbook::wgmma_wait<1>(); // the products of the step before are complete
        if (before != nullptr)
            give_back<C>(before);
        before = &memory.bars.empty[at.index];
    }
    workbook::wgmma_wait<0>(d);
    if (before != nullptr)
        give_back<C>(before); // the next tile needs the stage
}

/// A warpgroup writes its sums panel by panel. A panel is filled again when the store that came from it has
/// read it.
template <class C, int sums>
__device__ void write(const float (&d)[sums], Panel (&panels)[C::panels], const CUtensorMap& out,
                      Corner corner, unsigned group) {
#pragma unroll
    for (int first = 0; first < sums; first += panel_sums) {
        Panel& panel = panels[first / panel_sums % C::panels];
        if (threadIdx.x % workbook::warpgroup_threads == 0)
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<C::panels - 1>());
        workbook::named_sync(1 + group, workbook::warpgroup_threads);
        fill_panel(panel, d, first);
        ptx::fence_proxy_async(ptx::space_shared);
        workbook::named_sync(1 + group, workbook::warpgroup_threads);
        if (threadIdx.x % workbook::warpgroup_threads == 0)
            store_panel(panel, out, {corner.row, corner.column + first * 2});
    }
}

/// Launched with as many clusters as run at once; the order is of the tiles of whole clusters.
template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    tuned_gemm(unsigned k, TileOrder order, const __grid_constant__ CUtensorMap a,
               const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap out) {
    using T = typename C::T;
    const auto cluster = cooperative_groups::this_cluster();
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<typename C::Memory*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, C::blocks * C::consumers * workbook::warpgroup_threads / 32);
    cluster.sync(); // nobody arrives, and nothing lands, before that
    const unsigned rank = cluster.block_rank();
    const unsigned steps = pieces(k, T::depth);
    const auto corner_of = [&](unsigned i) {
        const Corner tile = order.at(i);
        return Corner{(tile.row * C::down + rank / C::across) * T::rows,
                      (tile.column * C::across + rank % C::across) * T::columns};
    };
    const unsigned first = blockIdx.x / C::blocks, clusters = gridDim.x / C::blocks;
    const unsigned group = workbook::warp_index() / 4;
    if (group == C::consumers) {
        workbook::keep_registers<C::loading_registers>();
        if (workbook::warp_index() % 4 == 0 && workbook::elect_one()) {
            auto at = workbook::producer_start<C::stage_count>();
            for (unsigned i = first; i < order.count(); i += clusters)
                produce<C>(memory, at, a, b, corner_of(i), steps, rank);
        }
    } else {
        workbook::take_registers<C::multiplying_registers>();
        workbook::RingState<C::stage_count> at;
        float d[T::columns / 2];
        for (unsigned i = first; i < order.count(); i += clusters) {
            consume<C>(d, memory, at, group, steps);
            const Corner corner = corner_of(i);
            write<C>(d, memory.panels_of[group], out, {corner.row + group * 64, corner.column}, group);
        }
    }
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>()); // its stores are complete, if it has any
    cluster.sync();                                 // the other blocks may still arrive here
}

/// Launches it, with no more than `most` clusters. The matrices must be such that gemm::problem() has nothing
/// to say.
template <class C>
void launch(const Operands& of, unsigned band, unsigned most) {
    using T = typename C::T;
    const auto [m, n, k] = of.extent;
    const TileOrder order = order_of(of.extent, C::down * T::rows, C::across * T::columns, band);
    workbook::LaunchShape shape =
        clusters_that_stay(order, C::blocks, C::threads, sizeof(typename C::Memory));
    shape.grid.x = std::min(shape.grid.x, most * C::blocks);
    workbook::launch(tuned_gemm<C>, shape, k, order, operand_map(of.a, m, k, T::rows / C::across),
                     operand_map(of.b, n, k, T::columns / C::down), operand_map(of.out, m, n, 64));
}

inline constexpr unsigned all_clusters = 1u << 16; ///< more than any device runs at once

/// What the tuner found best for a size.
struct Tuned {
    Extent extent;
    unsigned band; ///< rows of a band, in tiles of whole clusters
    void (*launch)(const Operands&, unsigned band, unsigned most);
};

} // namespace gemm::tuned
