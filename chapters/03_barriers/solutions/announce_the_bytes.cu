/// @file announce_the_bytes.cu
/// Exercise: tell a barrier how many bytes it has to wait for.
///
/// Given    values: `size` unsigned numbers, codes: as many bytes, in global memory and 16-byte aligned;
///          `size` is a multiple of 256. out: `size` unsigned numbers. One block of 128 threads per tile
///          of 256 elements. Thread 0 starts two bulk copies, which complete on one mbarrier that expects
///          one arrival.
/// Wanted   out[i] = values[j] + codes[j], where j is the opposite place of the tile. The barrier's phase
///          must end when thread 0 has arrived and the bytes of both copies have landed, and not before.
/// Missing  The number of bytes: the tx-count.
/// Judged   By the result for several sizes; by counters: all elements by bulk copies, none through a
///          register, one phase of one barrier in each block, and as many bytes announced as the copies
///          bring.

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_size = 256;

__global__ void announce_the_bytes(const unsigned* values, const unsigned char* codes, unsigned* out) {
    __shared__ alignas(16) unsigned value_tile[tile_size];
    __shared__ alignas(16) unsigned char code_tile[tile_size];
    __shared__ std::uint64_t bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_size;
    if (threadIdx.x == 0)
        ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        //@ hole
        const std::uint32_t bytes = sizeof(value_tile) + sizeof(code_tile);
        //? const std::uint32_t bytes = tile_size; // YOUR CODE: how many bytes are on their way?
        //@ end
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, value_tile, values + start,
                           sizeof(value_tile), &bar);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, code_tile, codes + start, sizeof(code_tile),
                           &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    for (int i = threadIdx.x; i < tile_size; i += block_threads)
        out[start + i] = value_tile[tile_size - 1 - i] + code_tile[tile_size - 1 - i];
}
