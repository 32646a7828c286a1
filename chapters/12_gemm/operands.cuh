/// @file operands.cuh
/// Chapter 12: what all rungs with TMA and wgmma do alike: tensor maps of the operands, the products of one
/// stage, sums to memory.
#pragma once

#include "tiles.cuh"

#include "workbook/ring.cuh"
#include "workbook/tensor_map.hpp"
#include "workbook/wgmma.cuh"

#include <cuda/ptx>

#include <cstdint>
#include <type_traits>

namespace gemm {

namespace ptx = cuda::ptx;
using workbook::Swizzle;

/// The map of a matrix of `rows` × `columns` from which boxes of `box_rows` rows and 128 bytes are taken.
/// What a box hangs over is read as zeros, and is not written.
template <class T>
[[nodiscard]] CUtensorMap operand_map(const T* data, unsigned rows, unsigned columns, unsigned box_rows) {
    using Element = std::conditional_t<sizeof(T) == 1, std::uint8_t, T>; // maps do not know e4m3
    return workbook::make_tensor_map(
        reinterpret_cast<const Element*>(data),
        workbook::TensorLayout<2>{.dims = {columns, rows},
                                  .strides = {columns * sizeof(T)},
                                  .box = {128 / sizeof(T), box_rows},
                                  .swizzle = Swizzle::bytes128,
                                  .l2_promotion = workbook::L2Promotion::bytes256});
}

/// One thread: asks for a box of `map`, which will be counted at `full`.
__device__ inline void load_box(void* to, const CUtensorMap& map, unsigned column, unsigned row,
                                std::uint64_t* full) {
    const std::int32_t corner[] = {static_cast<int>(column), static_cast<int>(row)};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, corner, full);
}

/// The same for every block of the cluster whose bit is set in `blocks`: the box lands, and is counted, at
/// the same places in each of them.
__device__ inline void load_box_for(std::uint16_t blocks, void* to, const CUtensorMap& map, unsigned column,
                                    unsigned row, std::uint64_t* full) {
    const std::int32_t corner[] = {static_cast<int>(column), static_cast<int>(row)};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, corner, full, blocks);
}

/// One thread: asks for both operands of a step, and announces their bytes.
template <class Tile>
__device__ void load_stage(Stage<Tile>& stage, const CUtensorMap& a, const CUtensorMap& b, Corner corner,
                           unsigned step, std::uint64_t* full) {
    constexpr std::uint32_t bytes = Stage<Tile>::bytes;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
    load_box(stage.a, a, step * Tile::depth, corner.row, full);
    load_box(stage.b, b, step * Tile::depth, corner.column, full);
}

/// A warpgroup: the products of 64 rows of `a` with all rows of `b`, along one stage, to (or added to) the
/// sums. They are under way until the next wait.
template <class T, int sums>
__device__ void multiply(float (&d)[sums], const T* a, const T* b, bool adds) {
    using workbook::MatrixType;
    constexpr auto type = sizeof(T) == 1 ? MatrixType::e4m3 : MatrixType::bf16;
    constexpr auto layout = workbook::k_major(Swizzle::bytes128, 8); // with a swizzle the 8 is not used
    const std::uint64_t from_a = workbook::matrix_descriptor(a, layout);
    const std::uint64_t from_b = workbook::matrix_descriptor(b, layout);
#pragma unroll
    for (int i = 0; i < 4; ++i) // 4 × 32 bytes are a row
        workbook::wgmma_multiply<type>(d, workbook::advanced(from_a, i * workbook::wgmma_k_bytes),
                                       workbook::advanced(from_b, i * workbook::wgmma_k_bytes),
                                       adds || i > 0);
}

/// A warpgroup writes its 64 rows of sums, rounded, two neighbours at a time; `corner` is theirs.
template <int sums>
__device__ void store_sums(const float (&d)[sums], bf16* out, Extent extent, Corner corner) {
    const int thread = threadIdx.x % workbook::warpgroup_threads;
#pragma unroll
    for (int i = 0; i < sums; i += 2) {
        const unsigned row = corner.row + workbook::accumulator_row(thread, i);
        const unsigned column = corner.column + workbook::accumulator_column(thread, i);
        if (row < extent.m && column < extent.n)
            *reinterpret_cast<__nv_bfloat162*>(out + std::size_t{row} * extent.n + column) =
                __floats2bfloat162_rn(d[i], d[i + 1]);
    }
}

/// A whole warp has seen its products of a stage complete: one arrival. No proxy fence: wgmma reads as the
/// async proxy, like the copy that writes there next.
__device__ inline void release(std::uint64_t* empty) {
    __syncwarp();
    if (workbook::elect_one())
        (void)ptx::mbarrier_arrive(empty);
}

/// The same to every block of a cluster whose copies write into the stage: one arrival at each.
template <int blocks>
__device__ void release_in_cluster(std::uint64_t* empty) {
    __syncwarp();
    if (threadIdx.x % 32 < blocks)
        workbook::arrive_in_block(empty, threadIdx.x % 32);
}

// ---- the result through shared memory ----

/// 64 rows and 64 columns of the result, swizzled as the tensor copy reads it.
struct Panel {
    alignas(1024) bf16 elements[64 * 64];
};

inline constexpr int panel_sums = 32; ///< accumulators of each thread that fill a panel

/// Two sums as the bits of two bf16.
__device__ inline std::uint32_t rounded(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(both);
}

/// A warpgroup puts the sums from d[first] on into a panel. Each stmatrix writes 16 rows and 16 columns of a
/// warp; each lane says where one of the 32 rows of 8 elements goes.
template <int sums>
__device__ void fill_panel(Panel& panel, const float (&d)[sums], int first) {
    const unsigned lane = threadIdx.x % 32,
                   row = threadIdx.x % workbook::warpgroup_threads / 32 * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < panel_sums; i += 8) {
        const unsigned column = i * 2 + lane / 16 * 8;
        const float* from = d + first + i;
        const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(
            panel.elements + workbook::swizzled_index<bf16>(row, column, Swizzle::bytes128)));
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                     "r"(rounded(from[0], from[1])), "r"(rounded(from[2], from[3])),
                     "r"(rounded(from[4], from[5])), "r"(rounded(from[6], from[7]))
                     : "memory");
    }
}

/// One thread: asks for a panel to be written, as a group of its own.
__device__ inline void store_panel(const Panel& panel, const CUtensorMap& out, Corner corner) {
    const std::int32_t where[] = {static_cast<int>(corner.column), static_cast<int>(corner.row)};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, where, panel.elements);
    ptx::cp_async_bulk_commit_group();
}

} // namespace gemm
