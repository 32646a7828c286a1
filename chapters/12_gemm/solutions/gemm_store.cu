/// @file gemm_store.cu
/// Exercise: find the mistakes.
///
/// Given    A product of matrices, out (m × n) = a (m × k) · b, where b is stored as n rows of k elements.
///          All are bf16. A block of 128 threads makes 64 × 128 of the result, with a single stage. Its
///          sums leave through shared memory: `fill` puts 64 columns of them, rounded, into a panel, and one
///          thread asks for a tensor copy of the panel to `out`; then the other 64 columns. On a GPU the
///          result is right nearly always.
/// Wanted   Check it, read what the emulator reports, repair that, and check it again: there are two
///          mistakes, and the first repair alone brings the second report. It stays one panel, filled by all
///          and sent away by one thread.
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters: every
///          element of the result goes to the panel once, and from there to `out` by tensor copies.
#include "workbook/ring.cuh"
#include "workbook/wgmma.cuh"

#include <cuda.h>
#include <cuda/ptx>
#include <cuda_bf16.h>

#include <cstdint>

namespace ptx = cuda::ptx;
using bf16 = __nv_bfloat16;
using workbook::Swizzle;

constexpr int rows = 64, columns = 128, depth = 64;
constexpr int sums = columns / 2; ///< of each thread
constexpr int panel_columns = 64;
constexpr int panel_sums = panel_columns / 2;

/// Each row of a stage, and of the panel, is 128 bytes in the 128-byte swizzle.
struct Memory {
    alignas(1024) bf16 a[rows * depth];
    alignas(1024) bf16 b[columns * depth];
    alignas(1024) bf16 panel[rows * panel_columns];
    std::uint64_t full;
};

/// The block: the products of all steps.
__device__ inline void multiply(float (&d)[sums], Memory& memory, const CUtensorMap& a, const CUtensorMap& b,
                                int row, int column, int steps) {
    const auto from_a = workbook::matrix_descriptor(memory.a, workbook::k_major(Swizzle::bytes128, rows));
    const auto from_b = workbook::matrix_descriptor(memory.b, workbook::k_major(Swizzle::bytes128, columns));
    constexpr std::uint32_t bytes = sizeof(memory.a) + sizeof(memory.b);
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x == 0) {
            std::uint64_t* full = &memory.full;
            const int k = step * depth;
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, memory.a, &a, {k, row}, full);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, memory.b, &b, {k, column}, full);
        }
        workbook::wait_parity(&memory.full, step % 2);
        workbook::wgmma_fence();
#pragma unroll
        for (int i = 0; i < 4; ++i)
            workbook::wgmma_multiply<workbook::MatrixType::bf16>(
                d, workbook::advanced(from_a, 32 * i), workbook::advanced(from_b, 32 * i), step > 0 || i > 0);
        workbook::wgmma_commit();
        workbook::wgmma_wait<0>(d);
        __syncthreads(); // all four warps are done with the stage
    }
}

/// Two sums, rounded.
__device__ inline std::uint32_t rounded(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(both);
}

/// The warpgroup: the sums from d[first] on, in 64 columns, to the panel.
__device__ inline void fill(bf16* panel, const float (&d)[sums], int first) {
    const unsigned row = threadIdx.x / 32 * 16 + threadIdx.x % 16;
#pragma unroll
    for (int i = 0; i < panel_sums; i += 8) {
        const unsigned column = i * 2 + threadIdx.x % 32 / 16 * 8;
        const float* from = d + first + i;
        bf16* to = panel + workbook::swizzled_index<bf16>(row, column, Swizzle::bytes128);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                     "r"(rounded(from[0], from[1])), "r"(rounded(from[2], from[3])),
                     "r"(rounded(from[4], from[5])), "r"(rounded(from[6], from[7]))
                     : "memory");
    }
}

/// One thread: asks for the panel to be written to `out`, as a group of its own.
__device__ inline void send(const bf16* panel, const CUtensorMap& out, int row, int column) {
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, {column, row}, panel);
    ptx::cp_async_bulk_commit_group();
}

__global__ void gemm_store(int steps, const __grid_constant__ CUtensorMap a,
                           const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap out) {
    __shared__ Memory memory;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&memory.full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    const int row = blockIdx.y * rows, column = blockIdx.x * columns;
    float d[sums];
    multiply(d, memory, a, b, row, column, steps);
#pragma unroll
    for (int first = 0; first < sums; first += panel_sums) {
        fill(memory.panel, d, first);
        //@ hole
        ptx::fence_proxy_async(ptx::space_shared); // the copy reads as the async proxy
        __syncthreads();
        if (threadIdx.x == 0) {
            send(memory.panel, out, row, column + first * 2);
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>()); // then the panel may be filled again
        }
        __syncthreads();
        //? __syncthreads();
        //? if (threadIdx.x == 0)
        //?     send(memory.panel, out, row, column + first * 2);
        //? __syncthreads();
        //@ end
    }
    if (threadIdx.x == 0)
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
