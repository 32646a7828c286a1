/// @file arrive_then_work.cu
/// Exercise: arrive at the barrier early, and wait for it late.
///
/// Given    in: `size` unsigned numbers in global memory. out: as many. One block of 128 threads per tile
///          of 128 elements; thread t writes element t to the shared tile. `own_work` needs nobody else: it
///          follows a chain of loads through `in`. The last warp of a block is slow: its elements come only
///          when the other warps have done their work. (It gives up after a while, and arrives all the
///          same.)
/// Wanted   out[i] = own_work(element i of the tile) ^ the element at the opposite place of the tile. A
///          thread arrives as soon as its own element is written, works, and waits only when it needs the
///          element of another: so all 96 have worked when the slow warp arrives. Beside the one barrier
///          after the set-up there is none for all threads (__syncthreads).
/// Missing  The arrival, which gives a token, and the wait, which takes it.
/// Judged   By the result for several sizes; by counters: the bytes that a thread loads between its
///          arrival and its wait, and in all; the arrivals; the barriers of the block.
#include "workbook/tile.cuh"

#include <cuda/atomic>
#include <cuda/barrier>

#include <cstddef>
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

/// The slow warp: waits until the others have worked, or until it has lost patience.
__device__ void come_late(int& worked) {
    const long long start = clock64();
    int seen = 0;
    while (seen < fast_threads && clock64() - start < 200'000)
        seen = Count(worked).load(cuda::memory_order_acquire);
}

#pragma nv_diag_suppress static_var_with_dynamic_init // init() sets the barrier up, no constructor runs

__global__ void arrive_then_work(const unsigned* in, unsigned* out, std::size_t size) {
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
    if (t >= fast_threads)
        come_late(worked);
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
