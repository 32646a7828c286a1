/// @file tiles.cuh
/// The frame of every kernel of chapter 11: D (M × 64) = A (M × K) · B (K × 64), one block of four warps for
/// every 64 rows of A. The operands are described by tensor maps; rows of A below M arrive as zeros.
#pragma once

#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"
#include "workbook/panels.hpp"
#include "workbook/tensor_map.hpp"
#include "workbook/wgmma.cuh"

#include <cuda/ptx>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace wgmma {

namespace ptx = cuda::ptx;
using workbook::Major;
using workbook::Matrix;
using workbook::MatrixType;
using workbook::Swizzle;

inline constexpr int tile_rows = workbook::wgmma_rows; ///< of A and D: 64
inline constexpr int tile_columns = 64;                ///< of B and D
inline constexpr int block_threads = workbook::warpgroup_threads;
inline constexpr std::uint32_t row_bytes = 128;             ///< of a row of A or a column of B, in every type
inline constexpr std::uint32_t tile_bytes = 64 * row_bytes; ///< of A's tile and of B
inline constexpr std::uint32_t steps = row_bytes / workbook::wgmma_k_bytes; ///< multiplications along K: 4

/// Element types by the names that the instruction has for them. The bits of an e4m3 stand in a byte.
template <MatrixType type>
struct ElementOf;
template <>
struct ElementOf<MatrixType::bf16> {
    using Type = __nv_bfloat16;
};
template <>
struct ElementOf<MatrixType::f16> {
    using Type = __half;
};
template <>
struct ElementOf<MatrixType::tf32> {
    using Type = float;
};
template <>
struct ElementOf<MatrixType::e4m3> {
    using Type = std::uint8_t;
};
template <MatrixType type>
using Element = typename ElementOf<type>::Type;

/// K: as many elements as 128 bytes hold. 64 of bf16 and f16, 32 of tf32, 128 of e4m3.
template <MatrixType type>
inline constexpr int depth = static_cast<int>(row_bytes / sizeof(Element<type>));

/// The map of an operand whose rows are 128 bytes, for tiles of 64 rows. One copy brings a tile in panels as
/// wide as the mode, 16 bytes without swizzle, one panel behind the other (chapter 7).
template <class T>
CUtensorMap panels_map(Matrix<T> matrix, Swizzle mode) {
    const std::uint32_t width = workbook::swizzle_width(mode);
    return workbook::make_tensor_map(
        matrix.data, workbook::panel_layout(matrix, {.panel = static_cast<std::uint32_t>(width / sizeof(T)),
                                                     .rows = 64,
                                                     .panels = row_bytes / width,
                                                     .swizzle = mode}));
}

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread,
/// and to the wgmma that it takes part in.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// The block brings the tile of A at `row` and all of B, `bytes` bytes each, and returns when they are there.
__device__ inline void load_both(void* a, void* b, std::uint32_t bytes, const CUtensorMap& a_map,
                                 const CUtensorMap& b_map, int row, std::uint64_t* bar) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, 2 * bytes);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, a, &a_map, {0, row, 0}, bar);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, b, &b_map, {0, 0, 0}, bar);
    }
    __syncthreads();
    wait(bar, 0);
}

/// Both operands of a block in shared memory.
struct Operands {
    alignas(1024) std::byte a[tile_bytes]; ///< where every pattern of a swizzle begins
    alignas(1024) std::byte b[tile_bytes];
    std::uint64_t bar;
};

__device__ inline int first_row() { return static_cast<int>(blockIdx.x) * tile_rows; }

__device__ inline void load_operands(Operands& to, const CUtensorMap& a_map, const CUtensorMap& b_map) {
    load_both(to.a, to.b, tile_bytes, a_map, b_map, first_row(), &to.bar);
}

/// The warpgroup writes its accumulators, columns from `first_column` on, to the rows that D has.
template <int count>
__device__ inline void store_sums(const float (&sums)[count], float* d, int rows, int first_column = 0) {
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < count; i += 2) {
        const int row = first_row() + workbook::accumulator_row(thread, i);
        const int column = first_column + workbook::accumulator_column(thread, i);
        if (row < rows)
            *reinterpret_cast<float2*>(d + row * tile_columns + column) = {sums[i], sums[i + 1]};
    }
}

/// Throws std::invalid_argument unless A is M × K, B has 64 rows of 128 bytes, and D is M × 64, all dense.
template <class T, class Out>
void check_operands(Matrix<const T> a, Matrix<const T> b, Matrix<Out> d) {
    const auto is_dense = [](auto matrix, std::size_t width) {
        return matrix.width == width && matrix.pitch == width;
    };
    if (!is_dense(a, row_bytes / sizeof(T)) || !is_dense(b, row_bytes / sizeof(T)) || b.height != 64)
        throw std::invalid_argument("A and B have dense rows of 128 bytes, B has 64 of them");
    if (!is_dense(d, tile_columns) || d.height != a.height)
        throw std::invalid_argument("D has a row of 64 for every row of A");
}

/// A block for every 64 rows of A.
template <class T>
workbook::LaunchShape one_block_per_tile(Matrix<const T> a) {
    return {.grid = workbook::blocks_for(a.height, tile_rows), .block = block_threads};
}

} // namespace wgmma
