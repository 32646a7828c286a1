/// @file one_thread_loads.cu
/// Exercise: a bulk copy that brings more than a tile, and the barrier that counts its bytes.
///
/// Given    An array `in` of `size` ints; `in` and `out` begin at multiples of 16 bytes, and `size` is a
///          multiple of 4. The kernel writes out[i] = in[i + 1] - in[i - 1], where an element outside of `in`
///          counts as 0. A block of 128 threads takes 1024 elements of `out` (the last may take fewer), and
///          thread 0 has initialised a barrier for one arrival. No thread loads from `in`: the neighbours at
///          both ends come with the tile, by the same bulk copy.
/// Wanted   Before you write: how many bytes do the first, a middle and the last block announce?
///          1. choose the elements that come, from in[first] to before in[last]: all that the block needs, no
///             byte outside of `in`, and no more than a bulk copy forces upon you;
///          2. thread 0 arrives on the barrier and announces their bytes, and starts one bulk copy of them to
///             `tile`, which counts on the barrier;
///          3. every thread waits until the bytes are there.
/// Judged   By the result for several sizes; by counters: one copy per block, the bytes that it brings, its
///          bytes announced, no load by a thread, and stores by all.
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_ints = 1024;

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

__global__ void one_thread_loads(const int* in, int* out, std::size_t size) {
    __shared__ alignas(16) int tile[tile_ints + 64]; // more room than you need
    __shared__ std::uint64_t bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_ints;
    const int count = workbook::tile_count(start, tile_ints, size);
    //@ hole
    const std::size_t first = start == 0 ? 0 : start - 4; // one neighbour is needed, and four are 16 bytes
    const std::size_t last = start + count == size ? size : start + count + 4;
    //? // YOUR CODE: 1. from which element on, and to before which, do they come?
    //? const std::size_t first = start;
    //? const std::size_t last = start + count;
    //@ end
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        //@ hole
        const std::uint32_t bytes = (last - first) * sizeof(int);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, in + first, bytes, &bar);
        //? // YOUR CODE: 2. announce their bytes, and start the copy
        //@ end
    }
    __syncthreads(); // nobody waits on a barrier that is not initialised
    //@ hole
    wait(&bar, 0);
    //? // YOUR CODE: 3. wait for the bytes
    //@ end
    const auto element = [&](std::size_t i) { return i >= first && i < last ? tile[i - first] : 0; };
    for (std::size_t i = start + threadIdx.x; i < start + count; i += block_threads)
        out[i] = element(i + 1) - element(i - 1); // i - 1 of element 0 is no index of `in`
}
