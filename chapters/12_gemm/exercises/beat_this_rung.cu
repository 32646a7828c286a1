/// @file beat_this_rung.cu
/// Exercise: beat this rung.
///
/// Given    Rung 6 of the ladder, whole: one warp loads, a warpgroup multiplies 128 x 128 of out. It works.
/// Wanted   The same product by a better kernel. How is up to you: tiles, roles, clusters, the order of
///          tiles, the way out. Yours is all below the line; the names and parameters of both kernels stay,
///          and so does Plan, by which you tell the judge how to launch. It passes maps of a and b with boxes
///          of 64 columns and as many rows as you ask for, such a map of out, all in the 128-byte swizzle,
///          and the address of out. `multiprocessors` may be fewer than the device has, but is at least 4:
///          blocks that stay get one tile after another then.
/// Judged   By the result for several sizes; by counters, for the same products: tensor copies ask L2 for at
///          most 85 % of the bytes that the rung's do, and nothing is paid for that with more products,
///          wavefronts or arrivals, with a barrier in the loop, with copies that come late, with sums in
///          local memory, or with more than 200 of them in a thread. What ptxas does with the registers, PTX
///          does not show: `nvcc -Xptxas -v` says whether it spills, and whether wgmma are serialised.
/// Time     No counter is a clock. On a GPU, `./workbook check beat_this_rung --backend gpu` measures yours
///          and the rung in turns, at 4096 x 4096 x 4096, without pauses: what is not 3 % faster does not
///          pass; you see both. Rung 7 alone is near that limit; rung 11's way out brings most there.
#include "workbook/ring.cuh"
#include "workbook/warpgroups.cuh"
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

/// Rows of a and out, rows of b (columns of out), elements of a row of a or b.
struct Extent {
    unsigned m, n, k;
};

/// How `beat_this_rung` is to be launched.
struct Plan {
    unsigned grid_x, grid_y;           ///< blocks
    unsigned cluster_x, cluster_y;     ///< blocks of a cluster
    unsigned threads, shared_bytes;    ///< of a block
    unsigned rows_a, rows_b, rows_out; ///< of the boxes of the maps, at most 256
};

/// `count / size` rounded up.
__device__ constexpr unsigned pieces(unsigned count, unsigned size) { return (count + size - 1) / size; }

constexpr int depth = 64; ///< elements along k in one step: a row of 128 bytes

/// One thread: asks for a box of 64 columns of a map.
__device__ inline void load_box(bf16* to, const CUtensorMap& map, int column, int row, std::uint64_t* full) {
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, {column, row}, full);
}

/// The same for each block of the cluster whose bit is set in `blocks`, to the same places in each of them.
__device__ inline void load_box_for(std::uint16_t blocks, bf16* to, const CUtensorMap& map, int column,
                                    int row, std::uint64_t* full) {
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, {column, row}, full, blocks);
}

/// A warpgroup: asks for the products of 64 rows of a with all rows of b, along one step.
template <int sums>
__device__ void multiply(float (&d)[sums], const bf16* a, const bf16* b, bool adds) {
    constexpr auto layout = workbook::k_major(Swizzle::bytes128, 8);
    const std::uint64_t from_a = workbook::matrix_descriptor(a, layout);
    const std::uint64_t from_b = workbook::matrix_descriptor(b, layout);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        workbook::wgmma_multiply<workbook::MatrixType::bf16>(
            d, workbook::advanced(from_a, 32 * i), workbook::advanced(from_b, 32 * i), adds || i > 0);
}

/// A whole warp gives a stage back: one arrival.
__device__ inline void release(std::uint64_t* empty) {
    __syncwarp();
    if (workbook::elect_one())
        (void)ptx::mbarrier_arrive(empty);
}

/// A warpgroup: writes 64 rows of sums, rounded, two neighbours at a time.
template <int sums>
__device__ void store(const float (&d)[sums], bf16* out, Extent extent, int row, int column) {
    const int thread = threadIdx.x % workbook::warpgroup_threads;
#pragma unroll
    for (int i = 0; i < sums; i += 2) {
        const unsigned y = row + workbook::accumulator_row(thread, i);
        const unsigned x = column + workbook::accumulator_column(thread, i);
        if (y < extent.m && x < extent.n)
            *reinterpret_cast<__nv_bfloat162*>(out + std::size_t{y} * extent.n + x) =
                __floats2bfloat162_rn(d[i], d[i + 1]);
    }
}

// ---- yours: the rung ----

constexpr int rows = 128, columns = 128, stage_count = 6;
constexpr int threads = workbook::warpgroup_threads + 32; ///< four warps multiply, one loads

struct Stage {
    alignas(1024) bf16 a[rows * depth];
    alignas(1024) bf16 b[columns * depth];
};

struct Memory {
    Stage stages[stage_count];
    workbook::RingBarriers<stage_count> bars;
};

__device__ Plan plan_for(Extent extent, unsigned multiprocessors) {
    return {.grid_x = pieces(extent.n, columns),
            .grid_y = pieces(extent.m, rows),
            .cluster_x = 1,
            .cluster_y = 1,
            .threads = threads,
            .shared_bytes = sizeof(Memory),
            .rows_a = rows,
            .rows_b = columns,
            .rows_out = 64};
}

/// One thread: fills stage after stage.
__device__ inline void produce(Memory& memory, const CUtensorMap& a, const CUtensorMap& b, int row,
                               int column, int steps) {
    auto at = workbook::producer_start<stage_count>();
    for (int step = 0; step < steps; ++step, at.advance()) {
        Stage& stage = memory.stages[at.index];
        std::uint64_t* full = &memory.bars.full[at.index];
        workbook::wait_parity(&memory.bars.empty[at.index], at.phase);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                       sizeof(Stage));
        load_box(stage.a, a, step * depth, row, full);
        load_box(stage.b, b, step * depth, column, full);
    }
}

/// The warpgroup: the upper and the lower 64 rows of the tile.
template <int sums>
__device__ void consume(float (&upper)[sums], float (&lower)[sums], Memory& memory, int steps) {
    workbook::RingState<stage_count> at;
    std::uint64_t* before = nullptr;
    for (int step = 0; step < steps; ++step, at.advance()) {
        const Stage& stage = memory.stages[at.index];
        workbook::wait_parity(&memory.bars.full[at.index], at.phase);
        workbook::wgmma_fence();
        multiply(upper, stage.a, stage.b, step > 0);
        multiply(lower, stage.a + 64 * depth, stage.b, step > 0);
        workbook::wgmma_commit();
        workbook::wgmma_wait<1>();
        if (before != nullptr)
            release(before);
        before = &memory.bars.empty[at.index];
    }
    workbook::wgmma_wait<0>(upper, lower);
}

__global__ void __launch_bounds__(threads, 1)
    beat_this_rung(Extent extent, bf16* out, const __grid_constant__ CUtensorMap a,
                   const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap to) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<Memory*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, workbook::warpgroup_threads / 32);
    __syncthreads();
    const int row = blockIdx.y * rows, column = blockIdx.x * columns;
    const int steps = pieces(extent.k, depth);
    if (workbook::warp_index() == workbook::warpgroup_threads / 32) {
        if (workbook::elect_one())
            produce(memory, a, b, row, column, steps);
        return;
    }
    float upper[columns / 2], lower[columns / 2];
    consume(upper, lower, memory, steps);
    store(upper, out, extent, row, column);
    store(lower, out, extent, row + 64, column);
}

/// One thread: what the judge asks before it launches.
__global__ void plan_launch(Extent extent, unsigned multiprocessors, Plan* plan) {
    *plan = plan_for(extent, multiprocessors);
}
