/// @file overwritten.cuh
/// Threads read a tile into registers, and a bulk copy brings the next tile into the same place. Counts the
/// words that came from the wrong tile.
#pragma once

#include "tma_1d.cuh"

#include <cuda/ptx>

#include <cstdint>

namespace overwritten {

namespace ptx = cuda::ptx;
using tma_1d::wait;

inline constexpr int threads = 1024;
inline constexpr int words = 8192; ///< of a tile: 32 KiB
inline constexpr int each = words / threads;
inline constexpr unsigned tiles = 64; ///< of the array, which stays in L2

/// Who executes fence.proxy.async between the reads and the next copy.
enum class Fence { nobody, readers, issuer };
/// Where the source uses what was read.
enum class Use { after, before };

struct Shared {
    alignas(128) unsigned tile[words];
    std::uint64_t full;
};

/// The word that thread threadIdx.x reads as its j-th. With `conflicts` all lanes of a warp read in one bank.
template <bool conflicts>
__device__ inline unsigned place(int j) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned row = threadIdx.x / 32 * each + j;
    return conflicts ? (row / 32 * 32 + lane) * 32 + row % 32 : row * 32 + lane;
}

/// The tile that this block takes in round k.
__device__ inline unsigned tile_of(unsigned k) { return (k + blockIdx.x) % tiles; }

__device__ inline void load(Shared& shared, const unsigned* in, unsigned k) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &shared.full,
                                   sizeof(shared.tile));
    ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, shared.tile, in + tile_of(k) * words,
                       sizeof(shared.tile), &shared.full);
}

template <bool conflicts>
__device__ inline unsigned wrong_words(const unsigned* values, unsigned k) {
    unsigned wrong = 0;
#pragma unroll
    for (int j = 0; j < each; ++j)
        wrong += values[j] != tile_of(k) * words + place<conflicts>(j);
    return wrong;
}

/// `in` holds each word's own index. Adds to *wrong how many words were others.
template <Fence fence, Use use, bool conflicts>
__global__ __launch_bounds__(threads) void read_and_reload(const unsigned* in, unsigned rounds,
                                                           unsigned long long* wrong) {
    __shared__ Shared shared;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&shared.full, 1);
        load(shared, in, 0);
    }
    __syncthreads();
    unsigned found = 0;
    for (unsigned k = 0; k < rounds; ++k) {
        wait(&shared.full, k % 2);
        unsigned values[each];
#pragma unroll
        for (int j = 0; j < each; ++j)
            values[j] = shared.tile[place<conflicts>(j)];
        if (use == Use::before)
            found += wrong_words<conflicts>(values, k);
        if (fence == Fence::readers)
            ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads(); // all have read
        if (threadIdx.x == 0 && k + 1 < rounds) {
            if (fence == Fence::issuer)
                ptx::fence_proxy_async(ptx::space_shared);
            load(shared, in, k + 1);
        }
        if (use == Use::after)
            found += wrong_words<conflicts>(values, k);
    }
    if (found > 0)
        atomicAdd(wrong, found);
}

} // namespace overwritten
