/// @file sync_and_fence.cuh
/// Chapter 3: a barrier relates threads, a fence relates memory operations.
#pragma once

#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cooperative_groups.h>
#include <cuda/atomic>

#include <cstddef>
#include <span>

namespace barriers {

namespace cg = cooperative_groups;
using workbook::tile_count;

inline constexpr int block_threads = 256;

/// Most kernels here have one block per tile of block_threads elements.
inline workbook::LaunchShape tile_shape(std::size_t size) {
    return {.grid = workbook::blocks_for(size, block_threads), .block = block_threads};
}

// ---- the barrier of the block ----

/// Rotates every tile to the left by `iterations` places, one place per iteration: each thread hands its
/// value to its left neighbour. Two barriers per iteration, as nobody may read too early or write too early.
__global__ void simple_sync(const unsigned* in, unsigned* out, std::size_t size, unsigned iterations) {
    const auto block = cg::this_thread_block();
    __shared__ unsigned tile[block_threads];
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = tile_count(start, block_threads, size);
    const int i = threadIdx.x;
    unsigned value = i < count ? in[start + i] : 0;
    for (unsigned k = 0; k < iterations; ++k) {
        tile[i] = value;
        block.sync(); // all have written
        value = tile[i + 1 < count ? i + 1 : 0];
        block.sync(); // all have read
    }
    if (i < count)
        out[start + i] = value;
}

/// Rotates tiles of block_threads elements to the left. `in` and `out` have the same size.
inline void launch_simple_sync(std::span<const unsigned> in, std::span<unsigned> out, unsigned iterations) {
    workbook::launch(simple_sync, tile_shape(in.size()), in.data(), out.data(), in.size(), iterations);
}

/// What the barrier can tell on the way: of all threads of a block, how many hold an odd value, whether all
/// do, and whether any does.
struct Votes {
    int count;
    int all;
    int any;
};

/// `__syncthreads_count`, `_and` and `_or` are barriers like `__syncthreads`, and reduce a flag of each
/// thread.
__global__ void vote_at_barrier(const unsigned* in, Votes* votes, std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    const int odd = i < size ? in[i] % 2 : 0;
    const Votes result{__syncthreads_count(odd), __syncthreads_and(odd), __syncthreads_or(odd)};
    if (threadIdx.x == 0)
        votes[blockIdx.x] = result;
}

/// One result per block of block_threads elements; elements missing in the last block count as even.
inline void launch_vote_at_barrier(std::span<const unsigned> in, std::span<Votes> votes) {
    workbook::launch(vote_at_barrier, tile_shape(in.size()), in.data(), votes.data(), in.size());
}

/// Reverses every 32 elements. Only lanes of one warp exchange values, so the barrier of the warp will do.
__global__ void sync_one_warp(const unsigned* in, unsigned* out, std::size_t size) {
    constexpr int warp_threads = 32;
    __shared__ unsigned tile[block_threads];
    const int lane = threadIdx.x % warp_threads;
    const int warp_first = threadIdx.x - lane;
    const std::size_t start = std::size_t{blockIdx.x} * block_threads + warp_first;
    const int count = tile_count(start, warp_threads, size);
    if (lane < count)
        tile[threadIdx.x] = in[start + lane];
    __syncwarp();
    if (lane < count)
        out[start + lane] = tile[warp_first + count - 1 - lane];
}

/// Reverses pieces of 32 elements.
inline void launch_sync_one_warp(std::span<const unsigned> in, std::span<unsigned> out) {
    workbook::launch(sync_one_warp, tile_shape(in.size()), in.data(), out.data(), in.size());
}

// ---- fences ----

/// The fences of CUDA and, with the same meaning, of libcu++.
enum class Fence { block, device, system, cuda_block, cuda_device, cuda_system };

template <Fence kind>
__device__ inline void fence() {
    using enum Fence;
    if constexpr (kind == block)
        __threadfence_block();
    else if constexpr (kind == device)
        __threadfence();
    else if constexpr (kind == system)
        __threadfence_system();
    else if constexpr (kind == cuda_block)
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
    else if constexpr (kind == cuda_device)
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    else
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_system);
}

/// A fence stops nobody. The first half of the block writes, then raises a flag; the second half polls the
/// flag, then reads. Without the fences the flag could be seen before the values that it announces.
template <Fence kind>
__global__ void hand_over(const unsigned* in, unsigned* out, std::size_t size) {
    constexpr int half = block_threads / 2;
    __shared__ unsigned tile[half];
    __shared__ unsigned flags; // how many threads have written
    const std::size_t start = std::size_t{blockIdx.x} * half;
    const int count = tile_count(start, half, size);
    if (threadIdx.x == 0)
        flags = 0;
    __syncthreads();
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> written(flags);
    if (threadIdx.x < half) {
        tile[threadIdx.x] = threadIdx.x < count ? in[start + threadIdx.x] : 0;
        fence<kind>(); // my value before my flag
        written.fetch_add(1, cuda::memory_order_relaxed);
    } else {
        while (written.load(cuda::memory_order_relaxed) < half)
            __nanosleep(32); // leave the SM to the others
        fence<kind>();       // the flags before the values
        const int i = threadIdx.x - half;
        if (i < count)
            out[start + i] = tile[count - 1 - i];
    }
}

/// Reverses tiles of block_threads / 2 elements.
template <Fence kind>
void launch_hand_over(std::span<const unsigned> in, std::span<unsigned> out) {
    workbook::launch(hand_over<kind>,
                     {.grid = workbook::blocks_for(in.size(), block_threads / 2), .block = block_threads},
                     in.data(), out.data(), in.size());
}

/// Sums all elements modulo 2^32. No __syncthreads() reaches from block to block: every block publishes its
/// sum, fences, and takes a number; the block with the last number knows that all sums are there.
__global__ void last_block_sums(const unsigned* in, std::size_t size, unsigned* partial, unsigned* taken,
                                unsigned* total) {
    __shared__ unsigned sum;
    __shared__ bool last;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    if (i < size)
        atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence(); // the sum before the number
        last = atomicAdd(taken, 1u) == gridDim.x - 1;
        __threadfence(); // the numbers before the sums of the others
        sum = 0;
    }
    __syncthreads();
    if (!last)
        return;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += block_threads)
        atomicAdd(&sum, partial[block]);
    __syncthreads();
    if (threadIdx.x == 0) {
        *total = sum;
        *taken = 0; // for the next launch
    }
}

/// `partial` has an element per block of block_threads elements; `taken` and `total` point to one element,
/// `taken` to 0, which it is again afterwards.
inline void launch_last_block_sums(std::span<const unsigned> in, std::span<unsigned> partial, unsigned* taken,
                                   unsigned* total) {
    workbook::launch(last_block_sums, tile_shape(in.size()), in.data(), in.size(), partial.data(), taken,
                     total);
}

} // namespace barriers
