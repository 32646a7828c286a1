/// @file axpy_at_once.cuh
/// Chapter 5's measurement of one choice in axpy_ring: which store its loading thread waits for.
#pragma once

#include "tma_1d.cuh"

namespace tma_1d {

/// axpy_ring whose thread 0 waits until its newest store has read the stage, and loads the next tile into
/// that stage at once: as many tiles are on their way as there are stages, and its warp stands still
/// meanwhile.
__global__ void axpy_at_once(float a, const float* x, float* y, std::size_t size) {
    __shared__ Ring ring;
    if (threadIdx.x == 0) {
        for (std::uint64_t& full : ring.full)
            ptx::mbarrier_init(&full, 1);
        for (int k = 0; k < stages && tile_start(k) < size; ++k)
            load_stage(ring, k, x, y, tile_start(k), size);
    }
    __syncthreads();
    for (std::size_t k = 0; tile_start(k) < size; ++k) {
        const int stage = k % stages;
        const int count = tile_count(tile_start(k), size);
        wait(&ring.full[stage], k / stages % 2);
        for (int i = threadIdx.x; i < count; i += blockDim.x)
            ring.y[stage][i] = fmaf(a, ring.x[stage][i], ring.y[stage][i]);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + tile_start(k), ring.y[stage],
                               count * sizeof(float));
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>()); // the newest store too
            if (tile_start(k + stages) < size)
                load_stage(ring, stage, x, y, tile_start(k + stages), size);
        }
    }
}

} // namespace tma_1d
