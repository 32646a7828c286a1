/// @file gemm_stages.cu
/// Exercise: a ring of stages.
///
/// Given    A product of matrices that works: out (m × n) = a (m × k) · b, where b is stored as n rows of k
///          elements; all are bf16, n and k are multiples of 8. A block of 128 threads makes 64 × 64 of the
///          result; the grid is ⌈n / 64⌉ × ⌈m / 64⌉ blocks. In each step, 64 elements along k, one thread
///          asks for a tile of a and one of b (`load`), all wait, and the warpgroup multiplies. So nothing is
///          under way while it multiplies: there is room for four stages, and only the first is used.
/// Wanted   The same result, and tiles that are asked for before they are needed: four stages in use, step
///          `i` in stage i % 4, where it is the (i / 4)-th one.
/// Missing  1. before the loop, thread 0 asks for the first stages;
///          2. in each step, the stage and the parity that are waited for;
///          3. behind the products, thread 0 asks for the step that has this stage next.
/// Judged   By the result for several sizes; by counters: each tile is loaded once, by tensor copies, and
///          while the block waits for one stage, nearly three others are on their way.
#include "workbook/ring.cuh"
#include "workbook/wgmma.cuh"

#include <cuda.h>
#include <cuda/ptx>
#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;
using bf16 = __nv_bfloat16;
using workbook::Swizzle;

constexpr int edge = 64; ///< of the tile of the result, and elements along k in one step
constexpr int stage_count = 4;
constexpr int sums = edge / 2; ///< of each thread

/// Rows of a and out, rows of b (columns of out), elements of a row of a or b.
struct Extent {
    unsigned m, n, k;
};

/// What a step needs, each row 128 bytes in the 128-byte swizzle.
struct Stage {
    alignas(1024) bf16 a[edge * edge];
    alignas(1024) bf16 b[edge * edge];
};

struct Memory {
    Stage stages[stage_count];
    std::uint64_t full[stage_count];
};

/// One thread: asks for both tiles of a step, and announces their bytes.
__device__ inline void load(Stage& stage, const CUtensorMap& a, const CUtensorMap& b, int row, int column,
                            int step, std::uint64_t* full) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, sizeof(Stage));
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.a, &a, {step * edge, row}, full);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.b, &b, {step * edge, column},
                              full);
}

/// The warpgroup: the products of one stage, to (or added to) d. Complete when it returns.
__device__ inline void multiply(float (&d)[sums], const Stage& stage, bool adds) {
    constexpr auto layout = workbook::k_major(Swizzle::bytes128, edge);
    const std::uint64_t a = workbook::matrix_descriptor(stage.a, layout);
    const std::uint64_t b = workbook::matrix_descriptor(stage.b, layout);
    workbook::wgmma_fence();
#pragma unroll
    for (int i = 0; i < 4; ++i)
        workbook::wgmma_multiply<workbook::MatrixType::bf16>(d, workbook::advanced(a, 32 * i),
                                                             workbook::advanced(b, 32 * i), adds || i > 0);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(d);
}

/// The warpgroup: writes the sums, rounded, two neighbours at a time.
__device__ inline void store(const float (&d)[sums], bf16* out, Extent extent, int row, int column) {
#pragma unroll
    for (int i = 0; i < sums; i += 2) {
        const unsigned y = row + workbook::accumulator_row(threadIdx.x, i);
        const unsigned x = column + workbook::accumulator_column(threadIdx.x, i);
        if (y < extent.m && x < extent.n)
            *reinterpret_cast<__nv_bfloat162*>(out + std::size_t{y} * extent.n + x) =
                __floats2bfloat162_rn(d[i], d[i + 1]);
    }
}

__global__ void gemm_stages(Extent extent, const __grid_constant__ CUtensorMap a,
                            const __grid_constant__ CUtensorMap b, bf16* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& [stages, full] = *reinterpret_cast<Memory*>(shared);
    if (threadIdx.x == 0) {
        for (std::uint64_t& bar : full)
            ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    const int row = blockIdx.y * edge, column = blockIdx.x * edge;
    const int steps = (extent.k + edge - 1) / edge;
    float d[sums];
    //@ hole
    for (int step = 0; threadIdx.x == 0 && step < stage_count && step < steps; ++step)
        load(stages[step], a, b, row, column, step, &full[step]);
    //? // YOUR CODE (1): ask for the first stages
    //@ end
    for (int step = 0; step < steps; ++step) {
        //@ hole
        const int index = step % stage_count;
        workbook::wait_parity(&full[index], step / stage_count % 2);
        //? // YOUR CODE (2): which stage, which parity? And the load has no business here any more.
        //? const int index = 0;
        //? if (threadIdx.x == 0)
        //?     load(stages[index], a, b, row, column, step, &full[index]);
        //? workbook::wait_parity(&full[index], step % 2);
        //@ end
        multiply(d, stages[index], step > 0);
        __syncthreads(); // all four warps are done with the stage
        //@ hole
        if (threadIdx.x == 0 && step + stage_count < steps)
            load(stages[index], a, b, row, column, step + stage_count, &full[index]);
        //? // YOUR CODE (3): ask for the step that has this stage next
        //@ end
    }
    store(d, out, extent, row, column);
}
