/// @file staying.cuh
/// Rung 9: a block per SM that stays and takes tile after tile. While two warpgroups write the sums of one
/// tile, the stages of the next are already being filled.
#pragma once

#include "../operands.cuh"

#include "workbook/warpgroups.cuh"

namespace gemm::staying {

using T = Tile<128, 256>;
inline constexpr int stage_count = 4;
inline constexpr int consumers = T::rows / 64; ///< warpgroups
inline constexpr int threads = (1 + consumers) * workbook::warpgroup_threads;
/// Each of 384 threads starts with 168 of the 65,536 registers, and 40 + 2 * 232 are 3 * 168.
inline constexpr int loading_registers = 40, multiplying_registers = 232;

struct Memory {
    Stage<T> stages[stage_count];
    workbook::RingBarriers<stage_count> bars;
};

/// One thread: fills stage after stage as they become empty, for one tile.
__device__ inline void produce(Memory& memory, workbook::RingState<stage_count>& at, const CUtensorMap& a,
                               const CUtensorMap& b, Corner corner, unsigned steps) {
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&memory.bars.empty[at.index], at.phase);
        load_stage(memory.stages[at.index], a, b, corner, step, &memory.bars.full[at.index]);
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
            release(before);
        before = &memory.bars.empty[at.index];
    }
    workbook::wgmma_wait<0>(d);
    if (before != nullptr)
        release(before); // the next tile needs the stage
}

/// Launched with 384 threads and as many blocks as run at once, at most one for each tile.
__global__ void __launch_bounds__(threads, 1)
    staying_gemm(Extent extent, TileOrder order, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, bf16* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<Memory*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, consumers * workbook::warpgroup_threads / 32);
    __syncthreads();
    const unsigned steps = pieces(extent.k, T::depth);
    const auto corner_of = [&](unsigned i) {
        const Corner tile = order.at(i);
        return Corner{tile.row * T::rows, tile.column * T::columns};
    };
    const unsigned group = workbook::warp_index() / 4;
    if (group == consumers) {
        workbook::keep_registers<loading_registers>();
        if (workbook::warp_index() % 4 == 0 && workbook::elect_one()) {
            auto at = workbook::producer_start<stage_count>();
            for (unsigned i = blockIdx.x; i < order.count(); i += gridDim.x)
                produce(memory, at, a, b, corner_of(i), steps);
        }
    } else {
        workbook::take_registers<multiplying_registers>();
        workbook::RingState<stage_count> at;
        float d[T::columns / 2];
        for (unsigned i = blockIdx.x; i < order.count(); i += gridDim.x) {
            consume(d, memory, at, group, steps);
            const Corner corner = corner_of(i);
            store_sums(d, out, extent, {corner.row + group * 64, corner.column});
        }
    }
}

} // namespace gemm::staying
