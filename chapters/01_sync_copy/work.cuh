/// @file work.cuh
/// Chapter 1's second experiment: what does a copy lack that computes on each tile? move_tiles with work
/// between its two barriers, one thing more at a time, and then with the next tile asked for before the work.
#pragma once

#include "turnover.cuh"

#include "workbook/tile.cuh"

#include <cuda_runtime.h>

#include <cstddef>

namespace sync_copy {

/// What a block does with a tile between the two barriers.
enum class Work {
    reverse, ///< each thread stores what another brought: move_tiles with Between::twice
    sum,     ///< each adds what its right neighbour brought
    counted, ///< the same by add_neighbour: the tile has a length, though it is always the same
    batches  ///< as counted, and a tile's address is a product: without_memcpy_async
};

/// The sum of what two threads brought: of one float each, or of four.
__host__ __device__ inline float added(float a, float b) { return a + b; }
__host__ __device__ inline float4 added(float4 a, float4 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

/// `steps` multiply-adds, one after the other: a longer computation.
template <int steps>
__host__ __device__ inline float computed(float value) {
#pragma unroll
    for (int step = 0; step < steps; ++step)
        value = fmaf(value, 0.5f, 1.0f);
    return value;
}
template <int steps>
__host__ __device__ inline float4 computed(float4 v) {
    return {computed<steps>(v.x), computed<steps>(v.y), computed<steps>(v.z), computed<steps>(v.w)};
}

/// What thread `t` makes of a tile of `block` elements of which each thread brought one.
template <Work work, int steps, class T>
__host__ __device__ inline T used(const T* tile, unsigned t, unsigned block) {
    if constexpr (work == Work::reverse)
        return computed<steps>(tile[block - 1 - t]);
    else
        return computed<steps>(added(tile[t], tile[t + 1 < block ? t + 1 : 0]));
}

/// Takes an array of whole tiles. A thread asks for its element of the next tile when it is done with this
/// one.
template <class T, Work work, int steps = 0>
__global__ void work_late(const T* in, T* out, std::size_t count) {
    extern __shared__ __align__(16) unsigned char shared[]; // a tile
    T* tile = reinterpret_cast<T*>(shared);
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (; i < count; i += step) {
        tile[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = used<work, steps>(tile, threadIdx.x, blockDim.x);
        __syncthreads();
    }
}

/// The same, but a thread asks for its element of the next tile before it uses this one.
template <class T, Work work, int steps = 0>
__global__ void work_early(const T* in, T* out, std::size_t count) {
    extern __shared__ __align__(16) unsigned char shared[]; // a tile
    T* tile = reinterpret_cast<T*>(shared);
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    T next = in[i];
#pragma unroll 1
    for (; i < count; i += step) {
        tile[threadIdx.x] = next;
        if (i + step < count)
            next = in[i + step]; // on its way while this tile is used
        __syncthreads();
        out[i] = used<work, steps>(tile, threadIdx.x, blockDim.x);
        __syncthreads();
    }
}

/// without_memcpy_async, with a tile's address by an addition in place of a product, and with the choice to
/// ask early.
template <bool early>
__global__ void counted_tiles(const float* in, float* out, std::size_t size, int batches) {
    extern __shared__ float counted_tile[]; // blockDim.x
    const int block = static_cast<int>(blockDim.x);
    const std::size_t step = std::size_t{gridDim.x} * block;
    std::size_t start = std::size_t{blockIdx.x} * block;
    [[maybe_unused]] float next = 0;
    if (early && start + threadIdx.x < size)
        next = in[start + threadIdx.x];
#pragma unroll 1
    for (int batch = 0; batch < batches; ++batch, start += step) {
        if (start >= size)
            break;
        const int count = workbook::tile_count(start, block, size);
        if (threadIdx.x < count)
            counted_tile[threadIdx.x] = early ? next : in[start + threadIdx.x];
        if (early && batch + 1 < batches && start + step + threadIdx.x < size)
            next = in[start + step + threadIdx.x];
        __syncthreads();
        workbook::add_neighbour(counted_tile, out + start, count);
        __syncthreads();
    }
}

/// What a warp did in a round, by the clock of its SM. A barrier's wait shows in what comes after it: read
/// right behind a barrier, the clock of an H200 has hardly moved.
struct Round {
    unsigned sm;
    long long begun;  ///< before the load; 0 where the tile was not watched
    long long loaded; ///< the value was there, and stored to shared memory
    long long met;    ///< behind the first barrier
    long long stored; ///< the result was there, and its store was issued
    long long left;   ///< behind the second barrier
};

/// work_late or work_early of floats, or without_memcpy_async on whole tiles (Work::batches), with a clock:
/// lane 0 of each warp notes when it passed what, for the tiles that are watched.
template <Work work, bool early>
__global__ void watch_work(const float* in, float* out, std::size_t size, int batches, Round* rounds) {
    static_assert(work != Work::counted && (work != Work::batches || !early));
    extern __shared__ float watched_tile[]; // blockDim.x
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    const int block = static_cast<int>(blockDim.x);
    std::size_t start = std::size_t{blockIdx.x} * blockDim.x;
    unsigned number = blockIdx.x; // of the tile
    [[maybe_unused]] float next = 0;
    if constexpr (early)
        next = in[start + threadIdx.x];
#pragma unroll 1
    for (int batch = 0; batch < batches; ++batch) {
        if (start >= size)
            break;
        const long long begun = clock64();
        if constexpr (work == Work::batches) {
            start = batch * step + std::size_t{blockIdx.x} * blockDim.x;
            if (start >= size)
                break;
        }
        const int count = work == Work::batches ? workbook::tile_count(start, block, size) : block;
        if (early)
            watched_tile[threadIdx.x] = next;
        else if (work != Work::batches || threadIdx.x < count)
            watched_tile[threadIdx.x] = in[start + threadIdx.x];
        const long long loaded = clock64();
        if (early && start + step < size)
            next = in[start + step + threadIdx.x];
        __syncthreads();
        const long long met = clock64();
        if constexpr (work == Work::batches)
            workbook::add_neighbour(watched_tile, out + start, count);
        else
            out[start + threadIdx.x] = used<work, 0>(watched_tile, threadIdx.x, blockDim.x);
        const long long stored = clock64();
        __syncthreads();
        const long long left = clock64();
        if (threadIdx.x % 32 == 0 && is_watched(number)) {
            unsigned sm = 0;
            asm("mov.u32 %0, %%smid;" : "=r"(sm));
            rounds[(start + threadIdx.x) / 32] = {sm, begun, loaded, met, stored, left};
        }
        number += gridDim.x;
        if constexpr (work != Work::batches)
            start += step;
    }
}

} // namespace sync_copy
