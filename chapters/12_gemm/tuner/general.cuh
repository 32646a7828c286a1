/// @file general.cuh
/// The last rung with its choices open: the shape of a block's tile, the stages, the blocks of a cluster down
/// and across, the panels that a result leaves through. And the same kernel with one of its two halves left
/// out, to see which of them takes the time.
#pragma once

#include "../launching.cuh"

#include "workbook/warpgroups.cuh"

#include <cooperative_groups.h>

namespace gemm::general {

/// What a launch leaves out.
enum class Part {
    all,
    loads,   ///< stages are filled and given back, nothing is multiplied, zeros are stored
    products ///< each stage is filled once, and multiplied again and again
};

/// One choice. `consumers` warpgroups multiply 64 rows each by `columns` columns.
template <int consumers_, int columns_, int stages_, int down_, int across_, int panels_>
struct Choice {
    static constexpr int consumers = consumers_;
    static constexpr int stages = stages_;
    static constexpr int down = down_;     ///< blocks of a cluster that share a tile of b
    static constexpr int across = across_; ///< blocks of a cluster that share a tile of a
    static constexpr int panels = panels_;
    using T = Tile<64 * consumers, columns_>;
    static constexpr int blocks = down * across;
    static constexpr int threads = (1 + consumers) * workbook::warpgroup_threads;
    /// What a thread starts with is 65,536 by the threads, and ptxas rounds down to a multiple of 8. Nobody
    /// gets more than the block has started with in all.
    static constexpr int start = 65536 / threads / 8 * 8;
    static constexpr int loading = 40;
    static constexpr int most = (start * (consumers + 1) - loading) / consumers / 8 * 8;
    static constexpr int multiplying = most < 240 ? most : 240;

    struct Memory {
        Stage<T> stages_of[stages];
        Panel panels_of[consumers][panels];
        workbook::RingBarriers<stages> bars;
    };
};

/// One thread: asks for what this block brings of a stage; each part goes to all blocks that need it.
template <class C>
__device__ void load(Stage<typename C::T>& stage, const CUtensorMap& a, const CUtensorMap& b, Corner corner,
                     unsigned step, unsigned rank, std::uint64_t* full) {
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

template <class C>
__device__ void give_back(std::uint64_t* empty) {
    if constexpr (C::blocks == 1)
        release(empty);
    else
        release_in_cluster<C::blocks>(empty);
}

template <class C, Part part, int sums>
__device__ void consume(float (&d)[sums], typename C::Memory& memory, workbook::RingState<C::stages>& at,
                        unsigned group, unsigned steps) {
    std::uint64_t* before = nullptr;
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        if constexpr (part != Part::products)
            workbook::wait_parity(&memory.bars.full[at.index], at.phase);
        if constexpr (part != Part::loads) {
            const auto& stage = memory.stages_of[at.index];
            workbook::wgmma_fence();
            multiply(d, stage.a + group * 64 * C::T::depth, stage.b, step > 0);
            workbook::wgmma_commit();
            workbook::wgmma_wait<1>();
        }
        if (part != Part::products && before != nullptr)
            give_back<C>(before);
        before = &memory.bars.empty[at.index];
    }
    if constexpr (part != Part::loads)
        workbook::wgmma_wait<0>(d);
    if (part != Part::products && before != nullptr)
        give_back<C>(before);
}

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

/// The kernel. The order is of the tiles of whole clusters.
template <class C, Part part>
__global__ void __launch_bounds__(C::threads, 1)
    general_gemm(unsigned k, TileOrder order, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap out) {
    using T = typename C::T;
    const auto cluster = cooperative_groups::this_cluster();
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<typename C::Memory*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, C::blocks * C::consumers * workbook::warpgroup_threads / 32);
    cluster.sync();
    const unsigned rank = cluster.block_rank();
    const unsigned steps = pieces(k, T::depth);
    const auto corner_of = [&](unsigned i) {
        const Corner tile = order.at(i);
        return Corner{(tile.row * C::down + rank / C::across) * T::rows,
                      (tile.column * C::across + rank % C::across) * T::columns};
    };
    const unsigned first = blockIdx.x / C::blocks, clusters = gridDim.x / C::blocks;
    if constexpr (part == Part::products) {
        if (threadIdx.x == 0)
            for (int i = 0; i < C::stages; ++i)
                load<C>(memory.stages_of[i], a, b, corner_of(first), i, rank, &memory.bars.full[i]);
        for (int i = 0; i < C::stages; ++i)
            workbook::wait_parity(&memory.bars.full[i], 0);
    }
    const unsigned group = workbook::warp_index() / 4;
    if (group == C::consumers) {
        workbook::keep_registers<C::loading>();
        if (part != Part::products && workbook::warp_index() % 4 == 0 && workbook::elect_one()) {
            auto at = workbook::producer_start<C::stages>();
            for (unsigned i = first; i < order.count(); i += clusters)
                for (unsigned step = 0; step < steps; ++step, at.advance()) {
                    workbook::wait_parity(&memory.bars.empty[at.index], at.phase);
                    load<C>(memory.stages_of[at.index], a, b, corner_of(i), step, rank,
                            &memory.bars.full[at.index]);
                }
        }
    } else {
        workbook::take_registers<C::multiplying>();
        workbook::RingState<C::stages> at;
        float d[T::columns / 2] = {};
        for (unsigned i = first; i < order.count(); i += clusters) {
            consume<C, part>(d, memory, at, group, steps);
            const Corner corner = corner_of(i);
            write<C>(d, memory.panels_of[group], out, {corner.row + group * 64, corner.column}, group);
        }
    }
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    cluster.sync();
}

/// Launches it. The matrices must be such that gemm::problem() has nothing to say.
template <class C, Part part = Part::all>
void launch(const Operands& of, unsigned band) {
    using T = typename C::T;
    const auto [m, n, k] = of.extent;
    const TileOrder order = order_of(of.extent, C::down * T::rows, C::across * T::columns, band);
    workbook::launch(general_gemm<C, part>,
                     clusters_that_stay(order, C::blocks, C::threads, sizeof(typename C::Memory)), k, order,
                     operand_map(of.a, m, k, T::rows / C::across),
                     operand_map(of.b, n, k, T::columns / C::down), operand_map(of.out, m, n, 64));
}

} // namespace gemm::general
