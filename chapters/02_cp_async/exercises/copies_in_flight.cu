/// @file copies_in_flight.cu
/// Exercise: write a ring of asynchronous copies.
///
/// Given    in: `size` unsigned numbers in global memory. sums: one unsigned number per block. Each block
///          of 128 threads takes `tiles` = 8 neighbouring tiles of 128 elements; the last ones may be cut
///          or empty. start_copy starts a thread's copy of one element of a tile; block_sum adds up a tile
///          and must be called by all threads of the block. Both keep `notes` for the judge.
/// Wanted   sums[b] = the sum over the block's tiles k of (k + 1) times the sum of the tile, modulo 2^32.
///          Every element comes to shared memory by cp.async, and while a tile is added up, the copies of
///          the next two tiles are on their way: three buffers. No element passes through a register on
///          its way to shared memory.
/// Missing  The loop over the tiles.
/// Judged   By the result for several sizes; by how many tiles had been asked for when tile k was added up
///          (k + 3, or all that the block has); by counters: no byte from global memory to a register.
#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cuda_pipeline_primitives.h>

#include <cstddef>
#include <span>

constexpr int block_threads = 128;
constexpr int tiles = 8;
constexpr int stages = 3;

/// What a block has done so far.
struct Notes {
    unsigned* asked;      ///< for each tile of the block: how many tiles were started before it was added up
    unsigned started = 0; ///< calls of start_copy
    unsigned added = 0;   ///< calls of block_sum
};

/// The sum of the tile's `count` elements, in thread 0. Its first barrier comes after the last read of the
/// tile.
__device__ unsigned block_sum(Notes& notes, const unsigned* tile, int count) {
    __shared__ unsigned partial[block_threads];
    if (threadIdx.x == 0 && notes.added < tiles)
        notes.asked[notes.added] = notes.started;
    ++notes.added;
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
__device__ void start_copy(Notes& notes, unsigned* buffer, const unsigned* in, int count) {
    ++notes.started;
    if (threadIdx.x < count)
        __pipeline_memcpy_async(&buffer[threadIdx.x], &in[threadIdx.x], sizeof(unsigned));
}

__global__ void copies_in_flight(const unsigned* in, unsigned* sums, unsigned* asked, std::size_t size) {
    __shared__ unsigned buffers[stages][block_threads];
    const auto start = [](int k) { return (std::size_t{blockIdx.x} * tiles + k) * block_threads; };
    const auto count = [&](int k) { return workbook::tile_count(start(k), block_threads, size); };
    Notes notes{asked + blockIdx.x * tiles};
    unsigned sum = 0;
    // YOUR CODE: start two tiles; then for each tile: wait for it, start the one two behind it, and
    // add it up.
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

/// `sums` has one element per block, `asked` eight.
void launch_copies_in_flight(std::span<const unsigned> in, std::span<unsigned> sums,
                             std::span<unsigned> asked) {
    workbook::launch(copies_in_flight,
                     {.grid = workbook::blocks_for(in.size(), tiles * block_threads), .block = block_threads},
                     in.data(), sums.data(), asked.data(), in.size());
}
