/// @file last_group.cu
/// Exercise: find the mistake. Two arrays come tile by tile, and of one of them the last tile comes too late.
///
/// Given    a, b: `size` floats each in global memory. out: as many. Each block of 256 threads takes `tiles`
///          neighbouring tiles of 256 elements of both arrays, with two buffers for each array: while one
///          tile is used, the next one is on its way.
/// Wanted   out has the products of the elements of a and b, those of each tile in reverse order.
/// Missing  Nothing, but something is counted that is not what the comment beside the wait says.
/// Judged   By the result; by counters: when a thread reads what it needs of one tile, its elements of the
///          next tile of both arrays, 8 bytes, are on their way (in three of four rounds).
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

/// Writes the products of two tiles, last element first.
__device__ void store_products(const float* a, const float* b, float* out, int count) {
    if (threadIdx.x < count)
        out[threadIdx.x] = a[count - 1 - threadIdx.x] * b[count - 1 - threadIdx.x];
}

__global__ void last_group(const float* a, const float* b, float* out, std::size_t size) {
    __shared__ float a_tiles[2][block_threads];
    __shared__ float b_tiles[2][block_threads];
    const auto start = [](int k) { return (std::size_t{blockIdx.x} * tiles + k) * block_threads; };
    const auto count = [&](int k) { return workbook::tile_count(start(k), block_threads, size); };
    const auto start_tile = [&](int k) {
        if (k < tiles) {
            start_copy(a_tiles[k % 2], a + start(k), count(k));
            __pipeline_commit();
            start_copy(b_tiles[k % 2], b + start(k), count(k));
            __pipeline_commit();
        }
    };
    start_tile(0);
    for (int k = 0; k < tiles; ++k) {
        start_tile(k + 1);
        __pipeline_wait_prior(1); // tile k has landed, and tile k + 1 may still be on its way
        __syncthreads();
        store_products(a_tiles[k % 2], b_tiles[k % 2], out + start(k), count(k));
        __syncthreads(); // all have read: the buffers may be filled again
    }
}
