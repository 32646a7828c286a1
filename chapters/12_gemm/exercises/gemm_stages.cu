/// @file gemm_stages.cu
/// Exercise: a ring of stages, through tile after tile.
///
/// Given    A product of matrices that works: out (m × n) = a (m × k) · b, where b is stored as n rows of k
///          elements; all are bf16, n and k are multiples of 8. A block of 128 threads makes several tiles of
///          64 × 64 of the result, one after the other: of the row of tiles blockIdx.y the tiles blockIdx.x,
///          blockIdx.x + gridDim.x, … (perhaps none). A tile takes `steps` steps of 64 elements along k. They
///          go through a ring of four stages, filled when a tile begins and refilled behind the products of
///          each step. So the ring runs dry at the end of every tile: nothing is under way while it is
///          stored, and of a tile with two steps only two stages are ever in use.
/// Wanted   The same result, and a ring that does not know where a tile ends: while a step is multiplied or a
///          tile stored, the next steps of the block are on their way, whichever tiles they belong to. (A
///          tile may have one step, and then the next four steps are of four tiles.)
/// Missing  1. before the loop over tiles: which steps are asked for first, and of which tiles?
///          2. where a tile begins: what is left to do there, if anything? (A place may become empty.)
///          3. behind the products: the step that has this stage next, and the tile it belongs to.
/// Judged   By the result for several sizes; by counters: each tile of a and of b that a step needs is loaded
///          once, by tensor copies, and while the block waits for one stage, the next two or three are on
///          their way.
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

/// One thread: asks for what a step of a tile needs, and announces its bytes.
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
    const int row = blockIdx.y * edge, across = (extent.n + edge - 1) / edge, first = blockIdx.x;
    const int steps = (extent.k + edge - 1) / edge;                                   // of each tile
    const int tiles = first < across ? (across - 1 - first) / int(gridDim.x) + 1 : 0; // of this block
    const auto column_of = [&](int tile) { return (first + tile * int(gridDim.x)) * edge; };
    workbook::RingState<stage_count> at; // of the step that is multiplied; it goes on from tile to tile
    // YOUR CODE (1): which steps are asked for before the first tile begins?
    for (int tile = 0; tile < tiles; ++tile) {
        float d[sums];
        // YOUR CODE (2): here the ring is filled anew for each tile
        for (int step = 0; threadIdx.x == 0 && step < stage_count && step < steps; ++step) {
            const unsigned index = (at.index + step) % stage_count;
            load(stages[index], a, b, row, column_of(tile), step, &full[index]);
        }
        for (int step = 0; step < steps; ++step, at.advance()) {
            workbook::wait_parity(&full[at.index], at.phase);
            multiply(d, stages[at.index], step > 0);
            __syncthreads(); // all four warps are done with the stage
            // YOUR CODE (3): a stage is free; of which tile is the step that has it next?
            if (threadIdx.x == 0 && step + stage_count < steps)
                load(stages[at.index], a, b, row, column_of(tile), step + stage_count, &full[at.index]);
        }
        store(d, out, extent, row, column_of(tile));
    }
}
