/// @file naive.cuh
/// Rung 1: a thread for each element of the result. Every product loads both of its factors.
#pragma once

#include "../tiles.cuh"

#include <cstddef>

namespace gemm::naive {

inline constexpr unsigned edge = 16;

/// Launched with blocks of 16 × 16 threads, one for each 16 × 16 of the result.
__global__ void naive_gemm(Extent extent, const bf16* a, const bf16* b, bf16* out) {
    const unsigned row = blockIdx.y * edge + threadIdx.y;
    const unsigned column = blockIdx.x * edge + threadIdx.x;
    if (row >= extent.m || column >= extent.n)
        return;
    float sum = 0;
    for (unsigned i = 0; i < extent.k; ++i)
        sum += __bfloat162float(a[std::size_t{row} * extent.k + i]) *
               __bfloat162float(b[std::size_t{column} * extent.k + i]);
    out[std::size_t{row} * extent.n + column] = __float2bfloat16(sum);
}

} // namespace gemm::naive
