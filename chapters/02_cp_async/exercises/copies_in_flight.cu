/// @file copies_in_flight.cu
/// Exercise: write a ring of asynchronous copies.
///
/// Given    in: `size` unsigned numbers in global memory. sums: one unsigned number per block. Each block
///          of 128 threads takes `tiles` = 8 neighbouring tiles of 128 elements; the last ones may be cut
///          or empty. start_copy starts a thread's copy of one element of a tile; block_sum adds up a tile
///          and must be called by all threads of the block.
/// Wanted   sums[b] = the sum over the block's tiles k of (k + 1) times the sum of the tile, modulo 2^32.
///          Every element comes to shared memory by cp.async, and while a tile is added up, the copies of
///          the next two tiles are on their way: three buffers. No element passes through a register on
///          its way to shared memory.
/// Missing  The loop over the tiles, with one barrier for each tile besides those of block_sum.
/// Judged   By the result for several sizes; by counters: when a thread reads its element of a tile, its
///          elements of the next two tiles, 8 bytes, are on their way (fewer at the end); each element is
///          copied once; no byte from global memory to a register; one barrier of yours for each tile.
#include "workbook/tile.cuh"

#include <cuda_pipeline_primitives.h>

#include <cstddef>

constexpr int block_threads = 128;
constexpr int tiles = 8;
constexpr int stages = 3;

/// The sum of the tile's `count` elements, in thread 0. Its first barrier comes after the last read of the
/// tile.
__device__ unsigned block_sum(const unsigned* tile, int count) {
    __shared__ unsigned partial[block_threads];
    unsigned sum = threadIdx.x < count ? tile[count - 1 - threadIdx.x] : 0;
    for (int half = block_threads / 2; half > 0; half /= 2) {
        partial[threadIdx.x] = sum;
        __syncthreads();
        if (threadIdx.x < half)
            sum += partial[threadIdx.x + half];
        __syncthreads();
    }
    return sum;
}

/// Starts this thread's copy of one element, if the tile has it.
__device__ void start_copy(unsigned* buffer, const unsigned* in, int count) {
    if (threadIdx.x < count)
        __pipeline_memcpy_async(&buffer[threadIdx.x], &in[threadIdx.x], sizeof(unsigned));
}

__global__ void copies_in_flight(const unsigned* in, unsigned* sums, std::size_t size) {
    __shared__ unsigned buffers[stages][block_threads];
    const auto start = [](int k) { return (std::size_t{blockIdx.x} * tiles + k) * block_threads; };
    const auto count = [&](int k) { return workbook::tile_count(start(k), block_threads, size); };
    unsigned sum = 0;
    // YOUR CODE: start two tiles; then for each tile: wait for it, start the one two after it, and
    // add it up.
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
