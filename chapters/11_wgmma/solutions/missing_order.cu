/// @file missing_order.cu
/// Exercise: find the mistake.
///
/// Given    The tensor maps of A (64 rows of 64 bf16) and of B (64 columns as rows of 64 bf16), both for the
///          128-byte swizzle, and a factor. One block of 128 threads computes
///          out = factor · (A · B) + A · B: it scales the sums in their registers, and adds the second
///          product to them.
/// Wanted   Check it, read what the emulator reports, and add the order that is missing, in two places.
///          At both, tell the compiler which registers are meant: whether you did, the emulator cannot see.
/// Judged   By the result and the emulator's silence; by counters: two products, and nobody but wgmma reads
///          the operands.
#include "workbook/wgmma.cuh"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;
using workbook::MatrixType;
using workbook::Swizzle;

constexpr int edge = 64;

/// What the block has in shared memory.
struct Tiles {
    alignas(1024) unsigned char a[edge * 128];
    alignas(1024) unsigned char b[edge * 128];
    std::uint64_t bar;
};

/// All threads: brings both tiles; returns when they are there.
__device__ void load(Tiles& tiles, const CUtensorMap& a, const CUtensorMap& b) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&tiles.bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &tiles.bar,
                                       sizeof(tiles.a) + sizeof(tiles.b));
        const std::int32_t at[] = {0, 0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tiles.a, &a, at, &tiles.bar);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tiles.b, &b, at, &tiles.bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&tiles.bar, 0)) {
    }
}

/// The four multiplications of a product.
__device__ void multiply(float (&sums)[edge / 2], const Tiles& tiles, bool adds) {
    const std::uint64_t a = workbook::matrix_descriptor(tiles.a, workbook::k_major(Swizzle::bytes128, edge));
    const std::uint64_t b = workbook::matrix_descriptor(tiles.b, workbook::k_major(Swizzle::bytes128, edge));
#pragma unroll
    for (int k = 0; k < 4; ++k)
        workbook::wgmma_multiply<MatrixType::bf16>(sums, workbook::advanced(a, 32 * k),
                                                   workbook::advanced(b, 32 * k), adds || k > 0);
}

/// By ordinary instructions.
__device__ void scale(float (&sums)[edge / 2], float factor) {
#pragma unroll
    for (int i = 0; i < edge / 2; ++i)
        sums[i] *= factor;
}

__global__ void missing_order(const __grid_constant__ CUtensorMap a_map,
                              const __grid_constant__ CUtensorMap b_map, float factor, float* out) {
    __shared__ Tiles tiles;
    load(tiles, a_map, b_map);
    float sums[edge / 2];
    workbook::wgmma_fence();
    multiply(sums, tiles, false);
    workbook::wgmma_commit();
    //@ hole
    workbook::wgmma_wait<0>(sums);
    scale(sums, factor);
    workbook::wgmma_tie(sums);
    workbook::wgmma_fence();
    //? workbook::wgmma_wait<1>(sums);
    //? scale(sums, factor);
    //@ end
    multiply(sums, tiles, true);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(sums);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < edge / 2; ++i)
        out[workbook::accumulator_row(thread, i) * edge + workbook::accumulator_column(thread, i)] = sums[i];
}
