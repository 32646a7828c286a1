/// @file arrive_then_work.cu
/// Exercise: arrive at the barrier early, and wait for it late.
///
/// Given    in: `size` unsigned numbers in global memory. out: as many. One block of 128 threads per tile
///          of 128 elements; thread t writes element t to the shared tile. `own_work` needs nobody else: it
///          follows a chain of loads through `in`. The last warp of a block is slow: its elements come only
///          when the other warps have done their work. (It gives up after a while, and arrives all the
///          same.) early: a number per block; the last warp writes there how many of the 96 other threads
///          had done their work when it arrived.
/// Wanted   out[i] = own_work(element i of the tile) ^ the element at the opposite place of the tile. A
///          thread arrives as soon as its own element is written, works, and waits only when it needs the
///          element of another: so all 96 have worked when the slow warp arrives.
/// Missing  The arrival, which gives a token, and the wait, which takes it.
#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cuda/atomic>
#include <cuda/barrier>

#include <cstddef>
#include <span>
#include <utility>

constexpr int block_threads = 128;
constexpr int fast_threads = block_threads - 32;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
using Count = cuda::atomic_ref<int, cuda::thread_scope_block>;

/// Eight loads, each from where the one before says.
__device__ unsigned own_work(unsigned value, const unsigned* in, std::size_t size) {
    for (int step = 0; step < 8; ++step)
        value = value * 1664525u + in[value % size];
    return value;
}

/// The slow warp: waits until the others have worked, or until it has lost patience. Returns how many have.
__device__ int come_late(int& worked) {
    const long long start = clock64();
    int seen = 0;
    while (seen < fast_threads && clock64() - start < 200'000)
        seen = Count(worked).load(cuda::memory_order_acquire);
    return seen;
}

#pragma nv_diag_suppress static_var_with_dynamic_init // init() sets the barrier up, no constructor runs

__global__ void arrive_then_work(const unsigned* in, unsigned* out, std::size_t size, int* early) {
    __shared__ unsigned tile[block_threads];
    __shared__ unsigned results[block_threads];
    __shared__ int worked; // how many threads have done their work
    __shared__ Barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, block_threads);
        worked = 0;
    }
    __syncthreads(); // the barrier exists
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = workbook::tile_count(start, block_threads, size);
    const int t = threadIdx.x;
    const unsigned value = t < count ? in[start + t] : 0;
    const int seen = t < fast_threads ? 0 : come_late(worked);
    if (t == fast_threads)
        early[blockIdx.x] = seen;
    tile[t] = value;
    //@ hole
    Barrier::arrival_token token = bar.arrive();
    //? // YOUR CODE: arrive, and keep the token.
    //@ end
    results[t] = own_work(value, in, size);
    Count(worked).fetch_add(1, cuda::memory_order_release); // my work is done: its result is written
    //@ hole
    bar.wait(std::move(token));
    //? // YOUR CODE: wait with the token.
    //@ end
    if (t < count)
        out[start + t] = results[t] ^ tile[count - 1 - t];
}

void launch_arrive_then_work(std::span<const unsigned> in, std::span<unsigned> out, std::span<int> early) {
    workbook::launch(arrive_then_work,
                     {.grid = workbook::blocks_for(in.size(), block_threads), .block = block_threads},
                     in.data(), out.data(), in.size(), early.data());
}
