/// @file which_thread_holds.cu
/// Exercise: which thread holds which element of D.
///
/// Given    The tensor maps of A (64 rows of 64 bf16) and of B (64 columns as rows of 64 bf16), both for the
/// 128-byte
///          swizzle, and a bias for each of the 64 columns. One block of 128 threads multiplies them with
///          wgmma.
/// Wanted   out = max(0, A · B + bias), 64 rows of 64 floats: say which row and which column of D the i-th
///          accumulator of a thread is. `./workbook run wgmma --kernel accumulators` prints some.
/// Missing  Two functions.
/// Judged   By the result; by counters: no element goes through shared memory, and each is written once.
#include "workbook/wgmma.cuh"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;
using workbook::MatrixType;
using workbook::Swizzle;

constexpr int edge = 64; // rows and columns of D

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

/// The row of D that thread `thread`, 0 to 127, holds as its i-th accumulator, 0 to 31.
__device__ int row_of(int thread, int i) {
    return thread / 2; // YOUR CODE: it is not half a row for each thread
}

/// Its column.
__device__ int column_of(int thread, int i) {
    return thread % 2 * 32 + i; // YOUR CODE
}

__global__ void which_thread_holds(const __grid_constant__ CUtensorMap a_map,
                                   const __grid_constant__ CUtensorMap b_map, const float* bias, float* out) {
    __shared__ Tiles tiles;
    load(tiles, a_map, b_map);
    const std::uint64_t a = workbook::matrix_descriptor(tiles.a, workbook::k_major(Swizzle::bytes128, edge));
    const std::uint64_t b = workbook::matrix_descriptor(tiles.b, workbook::k_major(Swizzle::bytes128, edge));
    float sums[edge / 2];
    workbook::wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k)
        workbook::wgmma_multiply<MatrixType::bf16>(sums, workbook::advanced(a, 32 * k),
                                                   workbook::advanced(b, 32 * k), k > 0);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(sums);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < edge / 2; ++i) {
        const int row = row_of(thread, i);
        const int column = column_of(thread, i);
        out[row * edge + column] = fmaxf(0, sums[i] + bias[column]);
    }
}
