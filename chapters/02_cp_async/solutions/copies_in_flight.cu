/// @file copies_in_flight.cu
/// Exercise: write a ring of asynchronous copies.
///
/// Given    in: `size` unsigned numbers in global memory. sums: one unsigned number per block. Each block
///          of 128 threads takes `tiles` = 8 neighbouring tiles of 128 elements; the last ones may be cut
///          or empty. start_copy starts a thread's copy of one element of a tile, my_element reads one that
///          another thread has copied (in a cut tile perhaps its own). Neither has a barrier. block_sum
///          has, and stands behind your loop.
/// Wanted   sums[b] = the sum over the block's tiles k of (k + 1) times the sum of the tile, modulo 2^32.
///          Every element comes to shared memory by cp.async, and while a tile is read, the copies of the
///          next two tiles are on their way: three buffers. No element passes through a register on its
///          way to shared memory.
/// Missing  The loop over the tiles, with one barrier for each tile.
/// Judged   By the result for several sizes; by counters: when a thread reads its element of a tile, its
///          elements of the next two tiles, 8 bytes, are on their way (fewer at the end); each element is
///          copied once; no byte from global memory to a register; one barrier for each tile.
#include "workbook/tile.cuh"

#include <cuda_pipeline_primitives.h>

#include <cstddef>

constexpr int block_threads = 128;
constexpr int tiles = 8;
constexpr int stages = 3;

/// This thread's element of a tile, counted from the tile's other end; 0 if there is none.
__device__ unsigned my_element(const unsigned* buffer, int count) {
    return threadIdx.x < count ? buffer[count - 1 - threadIdx.x] : 0;
}

/// The sum of what the threads of the block bring along, in thread 0. All of them call it.
__device__ unsigned block_sum(unsigned sum) {
    __shared__ unsigned partial[block_threads];
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
    unsigned mine = 0; // this thread's part of the sum
    //@ hole
    const auto start_tile = [&](int k) {
        if (k < tiles)
            start_copy(buffers[k % stages], in + start(k), count(k));
        __pipeline_commit();
    };
    for (int k = 0; k < stages - 1; ++k)
        start_tile(k);
    for (int k = 0; k < tiles; ++k) {
        __pipeline_wait_prior(stages - 2); // my part of tile k has landed
        __syncthreads();                   // everybody's has, and nobody reads tile k - 1 any more
        start_tile(k + stages - 1);        // into the buffer of tile k - 1
        mine += (k + 1) * my_element(buffers[k % stages], count(k));
    }
    //? // YOUR CODE: for each tile k, mine += (k + 1) * my_element(…), and what the ring needs besides.
    //@ end
    const unsigned sum = block_sum(mine);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
