/// @file turnover.cuh
/// Chapter 1's experiment: does a copy of one element per thread lack bytes in flight, or does it lack
/// something else? One kernel, in which a block's size, its number of tiles, what a thread waits for and the
/// bytes of a load are changed one at a time.
#pragma once

#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cuda_runtime.h>

#include <cstddef>

namespace sync_copy {

/// Whom a thread waits for between its load and its store.
enum class Between {
    nothing, ///< nobody: it stores what it has loaded, from the register
    warp,    ///< its warp: it stores what another lane brought to shared memory
    block,   ///< its block: it stores what another thread of the block brought
    twice    ///< its block, and once more before the tile is overwritten
};

/// The place in the tile of the element that thread `t` stores.
template <Between between>
__host__ __device__ constexpr unsigned partner(unsigned t, unsigned block) {
    return between == Between::nothing ? t : between == Between::warp ? t ^ 31u : block - 1 - t;
}

/// Copies an array of whole tiles of one T per thread. The grid decides how long a block stays: with a block
/// per tile each moves one tile and ends; with fewer blocks each goes on with another tile. Two tiles of
/// shared memory alternate, so that one barrier per tile is enough; with Between::twice there is one tile.
template <class T, Between between>
__global__ void move_tiles(const T* in, T* out, std::size_t count) {
    extern __shared__ __align__(16) unsigned char shared[]; // at least two tiles
    T* tile = reinterpret_cast<T*>(shared);
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned turn = 0;
#pragma unroll 1 // or the load of the next tile would be in flight too
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        T value = in[i];
        if constexpr (between != Between::nothing) {
            tile[turn + threadIdx.x] = value;
            if constexpr (between == Between::warp)
                __syncwarp();
            else
                __syncthreads();
            value = tile[turn + partner<between>(threadIdx.x, blockDim.x)];
            if constexpr (between == Between::twice)
                __syncthreads();
            else
                turn = blockDim.x - turn;
        }
        out[i] = value;
    }
}

/// Reads as move_tiles<T, Between::nothing> does, and writes nothing: it counts the words whose last 20 bits
/// are 0, which is one in a million.
template <class T>
__global__ void read_tiles(const T* in, std::size_t count, unsigned* rare) {
    constexpr unsigned last = 0xFFFFF;
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned mine = 0;
#pragma unroll 1
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const T value = in[i];
        if constexpr (sizeof(T) == 16)
            mine += ((value.x & last) == 0) + ((value.y & last) == 0) + ((value.z & last) == 0) +
                    ((value.w & last) == 0);
        else
            mine += (value & last) == 0;
    }
    if (mine > 0)
        atomicAdd(rare, mine);
}

/// loop_strided or loop_coalesced with loads that go past L1 (`ld.global.cg`), and nothing else changed.
template <bool strided>
__global__ void loop_past_l1(const float* in, float* out, std::size_t size, int num_per_thread) {
    extern __shared__ float loop_tile[]; // blockDim.x * num_per_thread
    const int tile_size = static_cast<int>(blockDim.x) * num_per_thread;
    const std::size_t start = std::size_t{blockIdx.x} * tile_size;
    const int count = workbook::tile_count(start, tile_size, size);
    for (int k = 0; k < num_per_thread; ++k) {
        const int i = strided ? threadIdx.x * num_per_thread + k : k * blockDim.x + threadIdx.x;
        if (i < count)
            loop_tile[i] = __ldcg(in + start + i);
    }
    __syncthreads();
    workbook::store_reversed(loop_tile, out + start, count);
}

/// What a warp did with a tile, by the clock of its SM.
struct Passage {
    unsigned sm;
    long long begun;  ///< before the load; 0 where the tile was not watched
    long long loaded; ///< the value was there, and stored to shared memory
    long long stored; ///< the warp has met the others, if it has to, and its store was issued
};

inline constexpr unsigned watched = 16; ///< one tile in so many is watched, on average

/// Whether a tile is watched: chance decides, so that no SM and no place in the grid is preferred.
__host__ __device__ constexpr bool is_watched(unsigned tile) {
    return (tile * 2654435761u) >> 28 == 0; // Knuth's multiplicative hash: 1 in 16
}

/// move_tiles with a clock: lane 0 of each warp notes when it passed what, for the tiles that are watched.
template <class T, Between between>
__global__ void watch_tiles(const T* in, T* out, std::size_t count, Passage* passages) {
    extern __shared__ __align__(16) unsigned char shared[];
    T* tile = reinterpret_cast<T*>(shared);
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned turn = 0;
    unsigned number = blockIdx.x; // of the tile
#pragma unroll 1
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const long long begun = clock64();
        tile[turn + threadIdx.x] = in[i];
        const long long loaded = clock64();
        if constexpr (between == Between::warp)
            __syncwarp();
        else
            __syncthreads();
        out[i] = tile[turn + partner<between>(threadIdx.x, blockDim.x)];
        const long long stored = clock64();
        turn = blockDim.x - turn;
        if (threadIdx.x % 32 == 0 && is_watched(number)) {
            unsigned sm = 0;
            asm("mov.u32 %0, %%smid;" : "=r"(sm));
            passages[i / 32] = {sm, begun, loaded, stored};
        }
        number += gridDim.x;
    }
}

} // namespace sync_copy
