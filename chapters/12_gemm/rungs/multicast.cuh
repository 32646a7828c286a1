/// @file multicast.cuh
/// Rung 10: clusters of two blocks, one tile above the other. Both need the same tile of b: each loads half
/// of it, for both.
#pragma once

#include "../operands.cuh"

#include "workbook/warpgroups.cuh"

#include <cooperative_groups.h>

namespace gemm::multicast {

using T = Tile<128, 256>;
inline constexpr int stage_count = 4;
inline constexpr int consumers = T::rows / 64; ///< warpgroups
inline constexpr unsigned blocks = 2;          ///< of a cluster
inline constexpr int threads = (1 + consumers) * workbook::warpgroup_threads;
/// Each of 384 threads starts with 168 of the 65,536 registers, and 40 + 2 * 232 are 3 * 168.
inline constexpr int loading_registers = 40, multiplying_registers = 232;

struct Memory {
    Stage<T> stages[stage_count];
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

/// Launched with 384 threads and as many clusters as run at once; the order is of tiles of 256 × 256.
__global__ void __launch_bounds__(threads, 1)
    multicast_gemm(Extent extent, TileOrder order, const __grid_constant__ CUtensorMap a,
                   const __grid_constant__ CUtensorMap b, bf16* out) {
    const auto cluster = cooperative_groups::this_cluster();
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<Memory*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, blocks * consumers * workbook::warpgroup_threads / 32);
    cluster.sync(); // nobody arrives, and nothing lands, before that
    const unsigned rank = cluster.block_rank();
    const unsigned steps = pieces(extent.k, T::depth);
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
            store_sums(d, out, extent, {corner.row + group * 64, corner.column});
        }
    }
    cluster.sync(); // the other block may still arrive here
}

} // namespace gemm::multicast
