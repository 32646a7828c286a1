/// @file wait_for_copies.cu
/// Exercise: wait for what was copied asynchronously, and no earlier.
///
/// Given    in: `size` floats in global memory. out: as many. One block of 256 threads per tile of 1024
///          elements. Each thread starts up to four copies of 4 bytes to the shared tile with
///          __pipeline_memcpy_async, which is cp.async.
/// Wanted   Each tile is written back in reverse order, when all of it has landed.
/// Missing  Three steps between the copies and their use: close the group, wait for it, and make sure
///          that the other threads' copies have landed too.
#include "workbook/tile.cuh"

#include <cuda_pipeline_primitives.h>

#include <cstddef>

constexpr int block_threads = 256;
constexpr int tile_size = 1024;

__global__ void wait_for_copies(const float* in, float* out, std::size_t size) {
    __shared__ float tile[tile_size];
    const std::size_t start = std::size_t{blockIdx.x} * tile_size;
    const int count = workbook::tile_count(start, tile_size, size);
    for (int i = threadIdx.x; i < count; i += block_threads)
        __pipeline_memcpy_async(&tile[i], &in[start + i], sizeof(float));
    //@ hole
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    //? // YOUR CODE: three steps, then the tile may be read.
    //@ end
    workbook::store_reversed(tile, out + start, count);
}
