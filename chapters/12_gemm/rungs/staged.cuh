/// @file staged.cuh
/// Rung 5: a ring of stages. Tiles are asked for before they are needed, as many steps as there are stages.
#pragma once

#include "../operands.cuh"

namespace gemm::staged {

using T = Tile<128, 128>;

template <int stage_count>
struct Memory {
    Stage<T> stages[stage_count];
    std::uint64_t full[stage_count];
};

/// Launched with 128 threads, one block for each 128 × 128 of the result.
template <int stage_count>
__global__ void __launch_bounds__(workbook::warpgroup_threads)
    staged_gemm(Extent extent, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                bf16* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& [stages, full] = *reinterpret_cast<Memory<stage_count>*>(shared);
    if (threadIdx.x == 0) {
        for (std::uint64_t& bar : full)
            ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    const Corner corner{blockIdx.y * T::rows, blockIdx.x * T::columns};
    const unsigned steps = pieces(extent.k, T::depth);
    const auto load = [&](unsigned step) {
        if (threadIdx.x == 0 && step < steps)
            load_stage(stages[step % stage_count], a, b, corner, step, &full[step % stage_count]);
    };
    for (int step = 0; step < stage_count; ++step)
        load(step);
    float upper[T::columns / 2], lower[T::columns / 2]; // of 64 rows each
    workbook::RingState<stage_count> at;
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&full[at.index], at.phase);
        const Stage<T>& stage = stages[at.index];
        workbook::wgmma_fence();
        multiply(upper, stage.a, stage.b, step > 0);
        multiply(lower, stage.a + 64 * T::depth, stage.b, step > 0);
        workbook::wgmma_commit();
        workbook::wgmma_wait<0>(upper, lower);
        __syncthreads(); // all four warps are done with the stage
        load(step + stage_count);
    }
    store_sums(upper, out, extent, corner);
    store_sums(lower, out, extent, {corner.row + 64, corner.column});
}

} // namespace gemm::staged
