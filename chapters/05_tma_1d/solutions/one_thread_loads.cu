/// @file one_thread_loads.cu
/// Exercise: a bulk copy and the barrier that counts its bytes.
///
/// Given    An array `in` of `size` floats; `in` and `out` begin at multiples of 16 bytes, and `size` is a
///          multiple of 4. A block of 128 threads takes one tile of 1024 floats (the last may be shorter) and
///          writes it to `out` in reverse order. Thread 0 has initialised a barrier for one arrival.
/// Wanted   1. thread 0 arrives on the barrier and announces the bytes of the tile, `count` floats;
///          2. thread 0 starts one bulk copy of the tile, from in + start to `tile`, which counts on the
///             barrier;
///          3. every thread waits until the bytes are there. The barrier is in its first phase: parity 0.
/// Judged   By the result for several sizes; by counters: one copy per tile and its bytes announced, no load
///          by a thread, and stores by all.
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_floats = 1024;

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

__global__ void one_thread_loads(const float* in, float* out, std::size_t size) {
    __shared__ alignas(16) float tile[tile_floats];
    __shared__ std::uint64_t bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = workbook::tile_count(start, tile_floats, size);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        //@ hole
        const std::uint32_t bytes = count * sizeof(float);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, in + start, bytes, &bar);
        //? // YOUR CODE: 1. arrive and expect the bytes: ptx::mbarrier_arrive_expect_tx
        //? //            2. start the copy: ptx::cp_async_bulk
        //@ end
    }
    __syncthreads(); // nobody waits on a barrier that is not initialised
    //@ hole
    wait(&bar, 0);
    //? // YOUR CODE: 3. wait for the bytes
    //@ end
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[start + i] = tile[count - 1 - i];
}
