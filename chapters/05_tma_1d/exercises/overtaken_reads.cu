/// @file overtaken_reads.cu
/// Exercise: find the mistake.
///
/// Given    A kernel that writes out[i] = 3 · in[i] for `size` ints; `in` and `out` begin at multiples of
///          16 bytes, and `size` is a multiple of 4. A block of 128 threads takes every gridDim.x-th tile of
///          512 ints (the last may be shorter); a block takes about three tiles, and in one case forty. Each
///          thread reads four ints of the tile into registers; when all have read, thread 0 asks for the
///          next tile, into the same place, and while that is on its way the threads store their results.
///          On a GPU the result may be right.
/// Wanted   Check it, read what the emulator reports, repair that, and check it again. The next tile must
///          still be on its way while this one is stored.
/// Judged   By the result for several sizes; by the emulator having nothing to report; by counters: one load
///          per tile, and the bytes under way when thread 0 stores.
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_ints = 4 * block_threads;

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

__device__ inline void load(int* tile, const int* from, int count, std::uint64_t* bar) {
    const std::uint32_t bytes = count * sizeof(int);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
    ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, from, bytes, bar);
}

__global__ void overtaken_reads(const int* in, int* out, std::size_t size) {
    __shared__ alignas(16) int tile[tile_ints];
    __shared__ std::uint64_t bar;
    const auto start = [](unsigned k) { return (std::size_t{k} * gridDim.x + blockIdx.x) * tile_ints; };
    const auto count = [&](unsigned k) { return workbook::tile_count(start(k), tile_ints, size); };
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        load(tile, in + start(0), count(0), &bar);
    }
    __syncthreads();
    const int t = 4 * threadIdx.x;
    for (unsigned k = 0; start(k) < size; ++k) {
        wait(&bar, k % 2);
        const int4 four = t < count(k) ? *reinterpret_cast<const int4*>(tile + t) : int4{};
        __syncthreads(); // all have read
        if (threadIdx.x == 0 && start(k + 1) < size)
            load(tile, in + start(k + 1), count(k + 1), &bar);
        if (t < count(k))
            *reinterpret_cast<int4*>(out + start(k) + t) =
                int4{3 * four.x, 3 * four.y, 3 * four.z, 3 * four.w};
    }
}
