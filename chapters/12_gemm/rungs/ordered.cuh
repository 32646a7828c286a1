/// @file ordered.cuh
/// Rung 8: the same, but blocks take tiles band by band, so that those that run together need few tiles of a
/// and b, and find them in L2.
#pragma once

#include "../operands.cuh"

#include "workbook/warpgroups.cuh"

namespace gemm::ordered {

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

/// One thread: fills stage after stage as they become empty.
__device__ inline void produce(Memory& memory, const CUtensorMap& a, const CUtensorMap& b, Corner corner,
                               unsigned steps) {
    auto at = workbook::producer_start<stage_count>();
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&memory.bars.empty[at.index], at.phase);
        load_stage(memory.stages[at.index], a, b, corner, step, &memory.bars.full[at.index]);
    }
}

/// A warpgroup, the `group`-th that multiplies: its 64 rows, stage after stage.
template <int sums>
__device__ void consume(float (&d)[sums], Memory& memory, unsigned group, unsigned steps) {
    workbook::RingState<stage_count> at;
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
}

/// Launched with 384 threads, one block for each 128 × 256 of the result; the order is of these tiles.
__global__ void __launch_bounds__(threads, 1)
    ordered_gemm(Extent extent, TileOrder order, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, bf16* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<Memory*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, consumers * workbook::warpgroup_threads / 32);
    __syncthreads();
    const Corner tile = order.at(blockIdx.x);
    const Corner corner{tile.row * T::rows, tile.column * T::columns};
    const unsigned steps = pieces(extent.k, T::depth);
    const unsigned group = workbook::warp_index() / 4;
    if (group == consumers) {
        workbook::keep_registers<loading_registers>();
        if (workbook::warp_index() % 4 == 0 && workbook::elect_one())
            produce(memory, a, b, corner, steps);
    } else {
        workbook::take_registers<multiplying_registers>();
        float d[T::columns / 2];
        consume(d, memory, group, steps);
        store_sums(d, out, extent, {corner.row + group * 64, corner.column});
    }
}

} // namespace gemm::ordered
