/// @file lost_writes.cu
/// Exercise: find the mistake.
///
/// Given    A kernel that writes out[i] = 3 · in[i] for `size` ints; `in` and `out` begin at multiples of
///          16 bytes, and `size` is a multiple of 4. A block of 128 threads takes every gridDim.x-th tile of
///          512 ints (the last may be shorter), computes it in shared memory and stores it with one bulk
///          copy; a block takes about three tiles, and in one case forty. All fences, waits and barriers are
///          there, but two of them do not stand where they should.
/// Wanted   Check it, read what the emulator reports, repair that, and check it again.
/// Judged   By the result for several sizes; by the emulator having nothing to report; by counters: one
///          bulk store per tile, no store by a thread, and loads by all threads.
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_ints = 512;

__global__ void lost_writes(const int* in, int* out, std::size_t size) {
    __shared__ alignas(16) int tile[tile_ints];
    const std::size_t step = std::size_t{gridDim.x} * tile_ints;
    for (std::size_t start = std::size_t{blockIdx.x} * tile_ints; start < size; start += step) {
        const int count = workbook::tile_count(start, tile_ints, size);
        const std::uint32_t bytes = count * sizeof(int);
        ptx::fence_proxy_async(ptx::space_shared);
        for (int i = threadIdx.x; i < count; i += blockDim.x)
            tile[i] = 3 * in[start + i];
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + start, tile, bytes);
            ptx::cp_async_bulk_commit_group();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
