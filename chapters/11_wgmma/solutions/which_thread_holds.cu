/// @file which_thread_holds.cu
/// Exercise: which threads hold a row of D.
///
/// Given    The tensor maps of A (64 rows of 64 bf16) and of B (64 columns as rows of 64 bf16). Both are for
///          the 128-byte swizzle. One block of 128 threads multiplies them with wgmma, and each thread has 32
///          of the sums.
/// Wanted   The first step of a softmax: out = D minus the largest element of its row, 64 rows of 64 floats.
///          `./workbook run wgmma --kernel accumulators` prints who holds what of D.
/// Missing  Two functions: to which row a thread's i-th accumulator belongs, and a row's largest element.
///          (`__shfl_xor_sync(~0U, x, n)`, executed by all lanes of a warp, gives each lane the x of the lane
///          whose number is its own XOR n.)
/// Judged   By the result; by counters: no element goes through shared memory, or comes back from global
///          memory, and each is written once.
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

/// A thread holds parts of two rows of D. To which does its i-th accumulator, 0 to 31, belong: to the upper
/// (0) or the lower one (1)?
__device__ int which_row(int i) {
    //@ hole
    return i / 2 % 2;
    //? return i / 16; // YOUR CODE: it is not one half after the other
    //@ end
}

/// The largest element of the row, all 64 columns of it. All threads call it, with the same `row`: 0 or 1.
__device__ float largest(const float (&sums)[edge / 2], int row) {
    //@ hole
    float most = sums[2 * row];
#pragma unroll
    for (int i = 0; i < edge / 2; ++i)
        if (which_row(i) == row)
            most = fmaxf(most, sums[i]);
    most = fmaxf(most, __shfl_xor_sync(~0U, most, 1));
    return fmaxf(most, __shfl_xor_sync(~0U, most, 2));
    //? return sums[row]; // YOUR CODE
    //@ end
}

__global__ void which_thread_holds(const __grid_constant__ CUtensorMap a_map,
                                   const __grid_constant__ CUtensorMap b_map, float* out) {
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
    const float most[] = {largest(sums, 0), largest(sums, 1)};
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < edge / 2; ++i) {
        const int row = workbook::accumulator_row(thread, i);
        const int column = workbook::accumulator_column(thread, i);
        out[row * edge + column] = sums[i] - most[which_row(i)];
    }
}
