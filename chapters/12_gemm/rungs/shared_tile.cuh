/// @file shared_tile.cuh
/// Rung 2: a block brings tiles of both operands to shared memory, and each thread makes 8 × 8 sums in
/// registers: an element that was loaded is used 128 times.
#pragma once

#include "../tiles.cuh"

#include <cstddef>

namespace gemm::shared_tile {

using T = Tile<128, 128, 16>;
inline constexpr int threads = 256;
inline constexpr int pitch = T::rows + 4; ///< columns of k stand; the pad spreads banks

/// One operand's tile, k by k. `edge` are rows of the operand, all 128 of which end at `end`.
__device__ inline void load_standing(float (&tile)[T::depth][pitch], const bf16* from, unsigned first,
                                     unsigned end, unsigned k, unsigned begin) {
    for (int i = threadIdx.x; i < T::rows * T::depth; i += threads) {
        const unsigned row = first + i / T::depth, along = begin + i % T::depth;
        const bool inside = row < end && along < k;
        tile[i % T::depth][i / T::depth] =
            inside ? __bfloat162float(from[std::size_t{row} * k + along]) : 0.0f;
    }
}

/// Launched with 256 threads, one block for each 128 × 128 of the result.
__global__ void __launch_bounds__(threads)
    shared_tile_gemm(Extent extent, const bf16* a, const bf16* b, bf16* out) {
    __shared__ float tile_a[T::depth][pitch];
    __shared__ float tile_b[T::depth][pitch];
    const Corner corner{blockIdx.y * T::rows, blockIdx.x * T::columns};
    const unsigned down = threadIdx.x / 16, across = threadIdx.x % 16;
    float sums[8][8] = {};
    for (unsigned begin = 0; begin < extent.k; begin += T::depth) {
        load_standing(tile_a, a, corner.row, extent.m, extent.k, begin);
        load_standing(tile_b, b, corner.column, extent.n, extent.k, begin);
        __syncthreads();
        for (int i = 0; i < T::depth; ++i)
#pragma unroll
            for (int y = 0; y < 8; ++y)
#pragma unroll
                for (int x = 0; x < 8; ++x)
                    sums[y][x] += tile_a[i][down * 8 + y] * tile_b[i][x * 16 + across];
        __syncthreads();
    }
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
            if (const unsigned row = corner.row + down * 8 + y, column = corner.column + x * 16 + across;
                row < extent.m && column < extent.n)
                out[std::size_t{row} * extent.n + column] = __float2bfloat16(sums[y][x]);
}

} // namespace gemm::shared_tile
