/// @file one_barrier_for_all.cu
/// Exercise: write a kernel that never stops all of its threads.
///
/// Given    in: `size` unsigned numbers in global memory. out: as many. Blocks of 128 threads, each for
///          `tiles` = 8 neighbouring tiles of 96 elements: the last ones may be cut or empty. The first
///          warp copies, the other 96 threads add. Two buffers; `filled[b]` and `empty[b]` are mbarriers,
///          set up already. `wait` and ptx::mbarrier_arrive are what you need; produce() and consume() stay
///          as they are.
/// Wanted   out[i] = in[i] + its right neighbour in the tile; that of a tile's last element is the tile's
///          first. Beside the one barrier behind the set-up there is none for all threads
///          (__syncthreads), so that copying tile k + 1 and adding tile k can overlap.
/// Missing  What each side waits for and where it arrives, and how many arrivals each barrier expects.
/// Judged   By the result for several sizes; by counters: one barrier of the block, 14 to 18 phases of
///          the four mbarriers, no byte loaded by a consumer and none stored by a producer; and producers
///          that write the next tile before they know that the last one was used.
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int producers = 32;
constexpr int consumers = 96;
constexpr int tile_size = 96;
constexpr int tiles = 8;

/// Waits until the barrier's phase of this parity is complete.
__device__ void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// The producers bring a tile, three elements each.
__device__ void produce(unsigned* buffer, const unsigned* in, int count) {
    for (int i = threadIdx.x; i < count; i += producers)
        buffer[i] = in[i];
}

/// The consumers write the sums of a tile, one element each.
__device__ void consume(const unsigned* buffer, unsigned* out, int count) {
    const int i = threadIdx.x - producers;
    if (i < count)
        out[i] = buffer[i] + buffer[i + 1 < count ? i + 1 : 0];
}

__global__ void one_barrier_for_all(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ unsigned buffers[2][tile_size];
    __shared__ std::uint64_t filled[2];
    __shared__ std::uint64_t empty[2];
    if (threadIdx.x < 2) {
        ptx::mbarrier_init(&filled[threadIdx.x], 1); // YOUR CODE: how many arrivals?
        ptx::mbarrier_init(&empty[threadIdx.x], 1);  // YOUR CODE: how many arrivals?
    }
    __syncthreads(); // the one for all
    const auto start = [](int k) { return (std::size_t{blockIdx.x} * tiles + k) * tile_size; };
    const auto count = [&](int k) { return workbook::tile_count(start(k), tile_size, size); };
    for (int k = 0; k < tiles; ++k) {
        const int b = k % 2;
        if (threadIdx.x < producers) {
            // YOUR CODE: wait until the buffer is empty, and say that it is filled.
            produce(buffers[b], in + start(k), count(k));
        } else {
            // YOUR CODE: wait until the buffer is filled, and say that it is empty.
            consume(buffers[b], out + start(k), count(k));
        }
    }
}
