/// @file last_group.cu
/// Exercise: find the mistake. All tiles are right but the last one.
///
/// Given    in: `size` floats in global memory. out: as many. Each block of 256 threads takes `tiles`
///          neighbouring tiles of 256 elements, with two buffers: while one tile is used, the next one is
///          on its way.
/// Wanted   Each tile is written back in reverse order, after its group has landed, and the next tile may
///          still be on its way.
/// Missing  Nothing, but the wait in the last round does not mean what it should. `wait_prior(1)` waits
///          until at most one group, the newest, is pending: how many groups are there in the last round?
#include "workbook/tile.cuh"

#include <cuda_pipeline_primitives.h>

#include <cstddef>

constexpr int block_threads = 256;
constexpr int tiles = 4;

/// Starts this thread's copy of one element, if the tile has it.
__device__ void start_copy(float* buffer, const float* in, int count) {
    if (threadIdx.x < count)
        __pipeline_memcpy_async(&buffer[threadIdx.x], &in[threadIdx.x], sizeof(float));
}

__global__ void last_group(const float* in, float* out, std::size_t size) {
    __shared__ float buffers[2][block_threads];
    const auto start = [](int k) { return (std::size_t{blockIdx.x} * tiles + k) * block_threads; };
    const auto count = [&](int k) { return workbook::tile_count(start(k), block_threads, size); };
    start_copy(buffers[0], in + start(0), count(0));
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) {
            start_copy(buffers[(k + 1) % 2], in + start(k + 1), count(k + 1));
            __pipeline_commit();
        }
        __pipeline_wait_prior(1); // tile k has landed
        __syncthreads();
        workbook::store_reversed(buffers[k % 2], out + start(k), count(k));
        __syncthreads(); // all have read: the buffer may be filled again
    }
}
