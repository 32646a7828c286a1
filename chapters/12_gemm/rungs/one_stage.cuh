/// @file one_stage.cuh
/// Rung 4: TMA and wgmma, one after the other. One thread asks for a tile of each operand, a warpgroup waits,
/// multiplies and waits again.
#pragma once

#include "../operands.cuh"

namespace gemm::one_stage {

using T = Tile<128, 128>;

/// Launched with 128 threads, one block for each 128 × 128 of the result.
__global__ void __launch_bounds__(workbook::warpgroup_threads)
    one_stage_gemm(Extent extent, const __grid_constant__ CUtensorMap a,
                   const __grid_constant__ CUtensorMap b, bf16* out) {
    __shared__ Stage<T> stage;
    __shared__ std::uint64_t full;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    const Corner corner{blockIdx.y * T::rows, blockIdx.x * T::columns};
    float upper[T::columns / 2], lower[T::columns / 2]; // of 64 rows each
    for (unsigned step = 0; step < pieces(extent.k, T::depth); ++step) {
        if (threadIdx.x == 0)
            load_stage(stage, a, b, corner, step, &full);
        workbook::wait_parity(&full, step % 2);
        workbook::wgmma_fence();
        multiply(upper, stage.a, stage.b, step > 0);
        multiply(lower, stage.a + 64 * T::depth, stage.b, step > 0);
        workbook::wgmma_commit();
        workbook::wgmma_wait<0>(upper, lower);
        __syncthreads(); // all four warps are done with the stage
    }
    store_sums(upper, out, extent, corner);
    store_sums(lower, out, extent, {corner.row + 64, corner.column});
}

} // namespace gemm::one_stage
