/// @file roles.cuh
/// Rung 6: roles. One warp only loads, four only multiply. They meet at the barriers of each stage and
/// nowhere else, and products of two steps are under way at once.
#pragma once

#include "../operands.cuh"

namespace gemm::roles {

using T = Tile<128, 128>;
inline constexpr int threads = workbook::warpgroup_threads + 32; ///< the consumers, and a warp that loads

template <int stage_count>
struct Memory {
    Stage<T> stages[stage_count];
    workbook::RingBarriers<stage_count> bars;
};

/// One thread: fills stage after stage as they become empty.
template <int stage_count>
__device__ void produce(Memory<stage_count>& memory, const CUtensorMap& a, const CUtensorMap& b,
                        Corner corner, unsigned steps) {
    auto at = workbook::producer_start<stage_count>();
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&memory.bars.empty[at.index], at.phase);
        load_stage(memory.stages[at.index], a, b, corner, step, &memory.bars.full[at.index]);
    }
}

/// A warpgroup: multiplies stage after stage, and gives each back when the products of the next are under
/// way.
template <int stage_count, int sums>
__device__ void consume(float (&upper)[sums], float (&lower)[sums], Memory<stage_count>& memory,
                        unsigned steps) {
    workbook::RingState<stage_count> at;
    std::uint64_t* before = nullptr;
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&memory.bars.full[at.index], at.phase);
        const Stage<T>& stage = memory.stages[at.index];
        workbook::wgmma_fence();
        multiply(upper, stage.a, stage.b, step > 0);
        multiply(lower, stage.a + 64 * T::depth, stage.b, step > 0);
        workbook::wgmma_commit();
        workbook::wgmma_wait<1>(); // the products of the step before are complete
        if (before != nullptr)
            release(before);
        before = &memory.bars.empty[at.index];
    }
    workbook::wgmma_wait<0>(upper, lower);
}

/// Launched with 160 threads, one block for each 128 × 128 of the result.
template <int stage_count>
__global__ void __launch_bounds__(threads) roles_gemm(Extent extent, const __grid_constant__ CUtensorMap a,
                                                      const __grid_constant__ CUtensorMap b, bf16* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<Memory<stage_count>*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, workbook::warpgroup_threads / 32);
    __syncthreads();
    const Corner corner{blockIdx.y * T::rows, blockIdx.x * T::columns};
    const unsigned steps = pieces(extent.k, T::depth);
    if (workbook::warp_index() == workbook::warpgroup_threads / 32) {
        if (workbook::elect_one())
            produce(memory, a, b, corner, steps);
        return;
    }
    float upper[T::columns / 2], lower[T::columns / 2]; // of 64 rows each
    consume(upper, lower, memory, steps);
    store_sums(upper, out, extent, corner);
    store_sums(lower, out, extent, {corner.row + 64, corner.column});
}

} // namespace gemm::roles
