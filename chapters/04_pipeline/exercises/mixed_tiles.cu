/// @file mixed_tiles.cu
/// Exercise: find the mistake.
///
/// Given    A kernel that streams an array of `size` floats through two stages of shared memory, in tiles
///          of 1024 (the last may be shorter). It writes every tile to `out` in reverse order. `size` is a
///          multiple of 4 and both arrays begin at multiples of 16 bytes. On a GPU the kernel passes nearly
///          always; now and then there is an element of another tile in `out`.
/// Wanted   Run it, read what the emulator reports, and repair the kernel. No copy of a tile into registers
///          is needed, and no __syncthreads().
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters: no
///          barrier of the block but that in make_pipeline.
#include "workbook/tile.cuh"

#include <cooperative_groups.h>
#include <cuda/pipeline>

#include <cstddef>

namespace cg = cooperative_groups;

constexpr int block_threads = 128;
constexpr int tile_floats = 1024;

#pragma nv_diag_suppress static_var_with_dynamic_init // make_pipeline sets the state up, no constructor runs

__global__ void mixed_tiles(const float* in, float* out, std::size_t size) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[2][tile_floats];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    const auto start = [](std::size_t k) { return (blockIdx.x + k * gridDim.x) * tile_floats; };
    const auto count = [&](std::size_t k) { return workbook::tile_count(start(k), tile_floats, size); };
    const auto fetch = [&](std::size_t k) {
        const cuda::aligned_size_t<16> bytes(count(k) * sizeof(float));
        pipe.producer_acquire();
        cuda::memcpy_async(block, stage[k % 2], in + start(k), bytes, pipe);
        pipe.producer_commit();
    };

    if (start(0) < size)
        fetch(0);
    for (std::size_t k = 0; start(k) < size; ++k) {
        if (start(k + 1) < size)
            fetch(k + 1);
        pipe.consumer_wait();
        pipe.consumer_release(); // the tile has come: let the next one be fetched as soon as possible
        for (int i = threadIdx.x; i < count(k); i += block_threads)
            out[start(k) + i] = stage[k % 2][count(k) - 1 - i];
    }
}
