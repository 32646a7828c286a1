/// @file overlapped.cuh
/// Rung 12: two panels for each warpgroup. A panel is filled while the one before is being written, and the
/// last of a tile leaves while the next tile is multiplied.
#pragma once

#include "../operands.cuh"

#include "workbook/warpgroups.cuh"

#include <cooperative_groups.h>

namespace gemm::overlapped {

using T = Tile<128, 256>;
inline constexpr int stage_count = 4;
inline constexpr int consumers = T::rows / 64; ///< warpgroups
inline constexpr unsigned blocks = 2;          ///< of a cluster
inline constexpr int threads = (1 + consumers) * workbook::warpgroup_threads;
/// Each of 384 threads starts with 168 of the 65,536 registers, and 40 + 2 * 232 are 3 * 168.
inline constexpr int loading_registers = 40, multiplying_registers = 232;

struct Memory {
    Stage<T> stages[stage_count];
    Panel panels[consumers][2]; ///< of the result, two for each warpgroup
    workbook::RingBarriers<stage_count> bars;
};

/// One thread: asks for its block's tile of a and its half of b's, which goes to both blocks.
__device__ inline void load_shared_stage(Stage<T>& stage, const CUtensorMap& a, const CUtensorMap& b,
                                         Corner corner, unsigned step, unsigned rank, std::uint64_t* full) {
    constexpr std::uint32_t bytes = Stage<T>::bytes; // of a, and of both halves of b
    constexpr std::uint16_t both = (1u << blocks) - 1;
    constexpr unsigned half = T::columns / blocks;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
    load_box(stage.a, a, step * T::depth, corner.row, full);
    load_box_for(both, stage.b + rank * half * T::depth, b, step * T::depth, corner.column + rank * half,
                 full);
}

/// One thread: fills stage after stage as they become empty in both blocks, for one tile.
__device__ inline void produce(Memory& memory, workbook::RingState<stage_count>& at, const CUtensorMap& a,
                               const CUtensorMap& b, Corner corner, unsigned steps, unsigned rank) {
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&memory.bars.empty[at.index], at.phase);
        load_shared_stage(memory.stages[at.index], a, b, corner, step, rank, &memory.bars.full[at.index]);
    }
}

/// A warpgroup, the `group`-th that multiplies: its 64 rows, stage after stage.
template <int sums>
__device__ void consume(float (&d)[sums], Memory& memory, workbook::RingState<stage_count>& at,
                        unsigned group, unsigned steps) {
    std::uint64_t* before = nullptr;
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&memory.bars.full[at.index], at.phase);
        const Stage<T>& stage = memory.stages[at.index];
        workbook::wgmma_fence();
        multiply(d, stage.a + group * 64 * T::depth, stage.b, step > 0);
        workbook::wgmma_commit();
        workbook::wgmma_wait<1>(); // the products of the step before are complete
        if (before != nullptr)
            release_in_cluster<blocks>(before);
        before = &memory.bars.empty[at.index];
    }
    workbook::wgmma_wait<0>(d);
    if (before != nullptr)
        release_in_cluster<blocks>(before); // the next tile needs the stage
}

/// A warpgroup writes its sums panel by panel. A panel is filled again when the store before the last has
/// read it: for the last two of a tile the next tile waits, or the end.
template <int sums>
__device__ void write(const float (&d)[sums], Panel (&panels)[2], const CUtensorMap& out, Corner corner,
                      unsigned group) {
#pragma unroll
    for (int first = 0; first < sums; first += panel_sums) {
        Panel& panel = panels[first / panel_sums % 2];
        if (threadIdx.x % workbook::warpgroup_threads == 0)
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
        workbook::named_sync(1 + group, workbook::warpgroup_threads);
        fill_panel(panel, d, first);
        ptx::fence_proxy_async(ptx::space_shared);
        workbook::named_sync(1 + group, workbook::warpgroup_threads);
        if (threadIdx.x % workbook::warpgroup_threads == 0)
            store_panel(panel, out, {corner.row, corner.column + first * 2});
    }
}

/// Launched with 384 threads and as many clusters as run at once; the order is of tiles of 256 × 256.
__global__ void __launch_bounds__(threads, 1)
    overlapped_gemm(unsigned k, TileOrder order, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap out) {
    const auto cluster = cooperative_groups::this_cluster();
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<Memory*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, blocks * consumers * workbook::warpgroup_threads / 32);
    cluster.sync(); // nobody arrives, and nothing lands, before that
    const unsigned rank = cluster.block_rank();
    const unsigned steps = pieces(k, T::depth);
    const auto corner_of = [&](unsigned i) {
        const Corner tile = order.at(i);
        return Corner{(tile.row * blocks + rank) * T::rows, tile.column * T::columns};
    };
    const unsigned first = blockIdx.x / blocks, clusters = gridDim.x / blocks;
    const unsigned group = workbook::warp_index() / 4;
    if (group == consumers) {
        workbook::keep_registers<loading_registers>();
        if (workbook::warp_index() % 4 == 0 && workbook::elect_one()) {
            auto at = workbook::producer_start<stage_count>();
            for (unsigned i = first; i < order.count(); i += clusters)
                produce(memory, at, a, b, corner_of(i), steps, rank);
        }
    } else {
        workbook::take_registers<multiplying_registers>();
        workbook::RingState<stage_count> at;
        float d[T::columns / 2];
        for (unsigned i = first; i < order.count(); i += clusters) {
            consume(d, memory, at, group, steps);
            const Corner corner = corner_of(i);
            write(d, memory.panels[group], out, {corner.row + group * 64, corner.column}, group);
        }
    }
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>()); // its stores are complete, if it has any
    cluster.sync();                                 // the other block may still arrive here
}

} // namespace gemm::overlapped
