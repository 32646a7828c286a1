/// @file arrive_then_work.cu
/// Exercise: arrive at the barrier early, and wait for it late.
///
/// Given    in: `size` unsigned numbers in global memory. out: as many. One block of 128 threads per tile
///          of 128 elements; thread t writes element t to the shared tile. `own_work` needs nobody else.
/// Wanted   out[i] = own_work(element i of the tile) ^ the element at the opposite place of the tile. A
///          thread arrives as soon as its own element is written, works, and waits only when it needs the
///          element of another.
/// Missing  The arrival, which gives a token, and the wait, which takes it.
#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cuda/barrier>

#include <cstddef>
#include <span>
#include <utility>

constexpr int block_threads = 128;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ unsigned own_work(unsigned value) {
    for (int round = 0; round < 8; ++round)
        value = value * 1664525u + 1013904223u;
    return value;
}

#pragma nv_diag_suppress static_var_with_dynamic_init // init() sets the barrier up, no constructor runs

__global__ void arrive_then_work(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ unsigned tile[block_threads];
    __shared__ Barrier bar;
    if (threadIdx.x == 0)
        init(&bar, block_threads);
    __syncthreads(); // the barrier exists
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = workbook::tile_count(start, block_threads, size);
    const int t = threadIdx.x;
    const unsigned value = t < count ? in[start + t] : 0;
    tile[t] = value;
    // YOUR CODE: arrive, and keep the token.
    const unsigned own = own_work(value);
    // YOUR CODE: wait with the token.
    if (t < count)
        out[start + t] = own ^ tile[count - 1 - t];
}

void launch_arrive_then_work(std::span<const unsigned> in, std::span<unsigned> out) {
    workbook::launch(arrive_then_work,
                     {.grid = workbook::blocks_for(in.size(), block_threads), .block = block_threads},
                     in.data(), out.data(), in.size());
}
