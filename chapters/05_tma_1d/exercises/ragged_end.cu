/// @file ragged_end.cu
/// Exercise: find the mistake, and predict for which sizes it shows.
///
/// Given    A kernel that writes out[i] = 3 · in[i] for `size` ints; `in` and `out` begin at multiples of
///          16 bytes, and `size` is any number. A block of 128 threads takes every gridDim.x-th tile of
///          512 ints (the last may be shorter), and has two stages: while one tile is used, the bulk load
///          of the next is under way. All threads call bring(). On a GPU the result may be right for
///          every size.
/// Wanted   Before you check it: for which sizes will the emulator object, and to what? Then repair
///          bring(): for those sizes too the tile is complete when the phase of its barrier is, and no
///          byte is read that is not an element of `in`. The block needs no further __syncthreads().
/// Judged   By the result for several sizes; by the emulator having nothing to report; by counters: one
///          bulk load per tile, no more than three ints of an array by threads, no barrier more, and the
///          bytes under way while a tile is used.
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_ints = 512;
constexpr int stages = 2;

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread,
/// and so is what threads wrote before they arrived.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// All threads: brings `count` ints to `tile`. The phase of `full`, which expects one arrival, is then
/// complete.
__device__ inline void bring(int* tile, const int* from, int count, std::uint64_t* full) {
    if (threadIdx.x == 0) {
        const std::uint32_t bytes = (count + 3) / 4 * 4 * sizeof(int); // a multiple of 16
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
        if (bytes != 0)
            ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, from, bytes, full);
    }
}

__global__ void ragged_end(const int* in, int* out, std::size_t size) {
    __shared__ alignas(16) int tile[stages][tile_ints];
    __shared__ std::uint64_t full[stages];
    const auto start = [](unsigned k) { return (std::size_t{k} * gridDim.x + blockIdx.x) * tile_ints; };
    const auto count = [&](unsigned k) { return workbook::tile_count(start(k), tile_ints, size); };
    if (threadIdx.x < stages)
        ptx::mbarrier_init(&full[threadIdx.x], 1);
    __syncthreads();
    if (start(0) < size)
        bring(tile[0], in + start(0), count(0), &full[0]);
    for (unsigned k = 0; start(k) < size; ++k) {
        const unsigned next = k + 1;
        if (start(next) < size)
            bring(tile[next % stages], in + start(next), count(next), &full[next % stages]);
        wait(&full[k % stages], k / stages % 2);
        for (int i = threadIdx.x; i < count(k); i += block_threads)
            out[start(k) + i] = 3 * tile[k % stages][i];
        ptx::fence_proxy_async(ptx::space_shared); // what was read comes before the next copy's writes,
        __syncthreads();                           // and all have read
    }
}
