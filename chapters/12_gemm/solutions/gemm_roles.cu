/// @file gemm_roles.cu
/// Exercise: one warp loads, four multiply.
///
/// Given    A block for each tile of 64 × 64 of out (m × n) = a (m × k) · b, with matrices as in gemm_stages.
///          Blocks have 160 threads: warps 0 to 3 are the warpgroup that multiplies, warp 4 loads. Each of
///          four stages has a full and an empty barrier. `load` asks for both tiles of a step, arrives at
///          full and announces the bytes. `multiply` asks for products, as a group. `release` is one arrival
///          for a warp.
/// Wanted   The same result, by roles that meet at the barriers of the stages alone. The warpgroup asks for
///          a step's products, waits until those before are complete (workbook::wgmma_wait<1>()), and
///          gives back the stage before.
/// Missing  1. how many arrivals complete a phase of the full and of the empty barriers;
///          2. the producer, one thread of warp 4: waits for each stage to be empty, and loads;
///          3. the consumers.
/// Judged   By the result for several sizes; by counters: one __syncthreads() for each block, all copies by
///          warp 4, one arrival for each warp and step, and copies that run ahead. That products of two steps
///          are under way at once, only a GPU's clock can tell.
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
constexpr int consumer_warps = 4;

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
    workbook::RingBarriers<stage_count> bars;
};

/// One thread: asks for both tiles of a step, and announces their bytes.
__device__ inline void load(Stage& stage, const CUtensorMap& a, const CUtensorMap& b, int row, int column,
                            int step, std::uint64_t* full) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, sizeof(Stage));
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.a, &a, {step * edge, row}, full);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage.b, &b, {step * edge, column},
                              full);
}

/// The warpgroup: asks for the products of one stage, to (or added to) d, as a group of their own. The stage
/// is read, and d is written, until the group was waited for.
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
}

/// A whole warp gives a stage back: one arrival.
__device__ inline void release(std::uint64_t* empty) {
    __syncwarp();
    if (workbook::elect_one())
        (void)ptx::mbarrier_arrive(empty);
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

__global__ void gemm_roles(Extent extent, const __grid_constant__ CUtensorMap a,
                           const __grid_constant__ CUtensorMap b, bf16* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& [stages, bars] = *reinterpret_cast<Memory*>(shared);
    if (threadIdx.x == 0)
        //@ hole
        bars.initialise(1, consumer_warps);
    //? bars.initialise(1, 1); // YOUR CODE (1): how many arrive?
    //@ end
    __syncthreads();
    const int row = blockIdx.y * edge, column = blockIdx.x * edge;
    const int steps = (extent.k + edge - 1) / edge;
    if (workbook::warp_index() == consumer_warps) {
        //@ hole
        if (workbook::elect_one()) {
            auto at = workbook::producer_start<stage_count>();
            for (int step = 0; step < steps; ++step, at.advance()) {
                workbook::wait_parity(&bars.empty[at.index], at.phase);
                load(stages[at.index], a, b, row, column, step, &bars.full[at.index]);
            }
        }
        //? // YOUR CODE (2): one thread loads all steps; `workbook::producer_start` is where it begins
        //@ end
        return;
    }
    float d[sums] = {};
    //@ hole
    workbook::RingState<stage_count> at;
    std::uint64_t* before = nullptr;
    for (int step = 0; step < steps; ++step, at.advance()) {
        workbook::wait_parity(&bars.full[at.index], at.phase);
        multiply(d, stages[at.index], step > 0);
        workbook::wgmma_wait<1>();
        if (before != nullptr)
            release(before);
        before = &bars.empty[at.index];
    }
    workbook::wgmma_wait<0>(d);
    //? // YOUR CODE (3): all steps; after the last one, workbook::wgmma_wait<0>(d)
    //@ end
    store(d, out, extent, row, column);
}
