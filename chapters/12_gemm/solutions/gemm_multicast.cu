/// @file gemm_multicast.cu
/// Exercise: half of b for both.
///
/// Given    The kernel of gemm_roles in clusters of two blocks, one above the other (1 × 2 × 1; the grid's
///          y is even); a block makes 64 × 64 of out. Both blocks multiply by the same tile of b, and each
///          brings the whole of it, in two boxes of 32 rows, to the same places. The kernel works.
/// Wanted   The same result, where each block asks for the half of b's tile that its rank says, for both
///          blocks, and for its own tile of a. Each block then waits for as many bytes as before.
/// Missing  1. how many arrivals make a stage empty, if two blocks write into it;
///          2. the copy of one half to both blocks (`load_for`);
///          3. the arrivals that tell both blocks that a stage may be filled;
///          4. what has to be done before a block exits.
/// Judged   By the result for several sizes; by counters: a quarter of the bytes that land in a block were
///          asked for by the other one, each box is asked for once, one arrival of each warp in each block,
///          two barriers of the cluster, and none of the block.
#include "workbook/ring.cuh"
#include "workbook/wgmma.cuh"

#include <cooperative_groups.h>
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
constexpr int blocks = 2; ///< of a cluster

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

/// One thread: asks for a box of 64 columns of a map, for this block alone.
__device__ inline void load(bf16* to, const CUtensorMap& map, int row, int step, std::uint64_t* full) {
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, {step * edge, row}, full);
}

/// The same for each block whose bit is set in `mask`: the box lands, and is counted, at the same places in
/// each of them.
__device__ inline void load_for(std::uint16_t mask, bf16* to, const CUtensorMap& map, int row, int step,
                                std::uint64_t* full) {
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, {step * edge, row}, full,
                              mask);
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

__global__ void gemm_multicast(Extent extent, const __grid_constant__ CUtensorMap a,
                               const __grid_constant__ CUtensorMap b, bf16* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& [stages, bars] = *reinterpret_cast<Memory*>(shared);
    const auto cluster = cooperative_groups::this_cluster();
    const int rank = cluster.block_rank();
    if (threadIdx.x == 0)
        //@ hole
        bars.initialise(1, blocks * consumer_warps);
    //? bars.initialise(1, consumer_warps); // YOUR CODE (1): who gives a stage back?
    //@ end
    cluster.sync();
    const int row = blockIdx.y * edge, column = blockIdx.x * edge;
    const int steps = (extent.k + edge - 1) / edge;
    if (workbook::warp_index() == consumer_warps) {
        auto at = workbook::producer_start<stage_count>();
        for (int step = workbook::elect_one() ? 0 : steps; step < steps; ++step, at.advance()) {
            Stage& stage = stages[at.index];
            std::uint64_t* full = &bars.full[at.index];
            workbook::wait_parity(&bars.empty[at.index], at.phase);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                           sizeof(Stage));
            load(stage.a, a, row, step, full);
            //@ hole
            const int first = rank * edge / blocks;
            load_for(0b11, stage.b + first * edge, b, column + first, step, full);
            //? for (int first = 0; first < edge; first += edge / blocks) // YOUR CODE (2): one half, for both
            //?     load(stage.b + first * edge, b, column + first, step, full);
            //@ end
        }
    } else {
        float d[sums] = {};
        workbook::RingState<stage_count> at;
        std::uint64_t* before = nullptr;
        const auto release = [&] { // a whole warp gives the stage of the step before back
            __syncwarp();
            //@ hole
            if (threadIdx.x % 32 < blocks)
                workbook::arrive_in_block(before, threadIdx.x % 32);
            //? if (workbook::elect_one())
            //?     (void)ptx::mbarrier_arrive(before); // YOUR CODE (3): who waits for it?
            //@ end
        };
        for (int step = 0; step < steps; ++step, at.advance()) {
            workbook::wait_parity(&bars.full[at.index], at.phase);
            multiply(d, stages[at.index], step > 0);
            workbook::wgmma_wait<1>();
            if (before != nullptr)
                release();
            before = &bars.empty[at.index];
        }
        workbook::wgmma_wait<0>(d);
        store(d, out, extent, row, column);
    }
    //@ hole
    cluster.sync();
    //? // YOUR CODE (4): may this block exit?
    //@ end
}
