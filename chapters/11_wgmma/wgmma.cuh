/// @file wgmma.cuh
/// Chapter 11: products of matrices as asynchronous operations. All kernels compute D (M × 64) = A (M × K) ·
/// B (K × 64) with one warpgroup for every 64 rows; they differ in where the operands lie and when somebody
/// waits.
#pragma once

#include "fragments.cuh"

namespace wgmma {

using workbook::advanced;
using workbook::k_major;
using workbook::k_major_step;
using workbook::matrix_descriptor;
using workbook::mn_major;
using workbook::mn_major_step;
using workbook::wgmma_commit;
using workbook::wgmma_fence;
using workbook::wgmma_multiply;
using workbook::wgmma_wait;

inline constexpr auto bf16 = MatrixType::bf16;

// ---- which thread holds which element ----

inline constexpr int sums_per_thread = tile_columns / 2;

/// Writes the accumulators of a product, thread by thread as they are: out[32 · thread + i] is the i-th of a
/// thread.
__global__ void read_accumulators(const __grid_constant__ CUtensorMap a_map,
                                  const __grid_constant__ CUtensorMap b_map, float* out) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    float sums[sums_per_thread];
    const std::uint64_t a = matrix_descriptor(tile.a, k_major(Swizzle::bytes128, tile_rows));
    const std::uint64_t b = matrix_descriptor(tile.b, k_major(Swizzle::bytes128, tile_columns));
    wgmma_fence();
    wgmma_multiply<bf16>(sums, a, b, false); // the first 16 of K
    wgmma_commit();
    wgmma_wait<0>(sums);
    for (int i = 0; i < sums_per_thread; ++i)
        out[threadIdx.x * sums_per_thread + i] = sums[i];
}

/// a: 64 × 64, b: 64 columns of 64, of which the first 16 of K count; out: 128 threads of 32 accumulators.
inline void launch_read_accumulators(Matrix<const __nv_bfloat16> a, Matrix<const __nv_bfloat16> b,
                                     float* out) {
    workbook::launch(read_accumulators, {.block = block_threads}, panels_map(a, Swizzle::bytes128),
                     panels_map(b, Swizzle::bytes128), out);
}

// ---- one tile, both operands by descriptor ----

/// Both operands along k, as the tensor copy has brought them in this mode.
template <MatrixType type, Swizzle mode>
__global__ void tile_by_wgmma(const __grid_constant__ CUtensorMap a_map,
                              const __grid_constant__ CUtensorMap b_map, float* d, int rows) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    const std::uint64_t a = matrix_descriptor(tile.a, k_major(mode, tile_rows));
    const std::uint64_t b = matrix_descriptor(tile.b, k_major(mode, tile_columns));
    float sums[sums_per_thread];
    wgmma_fence();
#pragma unroll
    for (std::uint32_t k = 0; k < steps; ++k)
        wgmma_multiply<type>(sums, advanced(a, k_major_step(mode, tile_rows, k)),
                             advanced(b, k_major_step(mode, tile_columns, k)), k > 0);
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// d = a · b. a: M rows of 128 bytes, b: its 64 columns as rows of 128 bytes.
template <MatrixType type, Swizzle mode>
void launch_tile_by_wgmma(Matrix<const Element<type>> a, Matrix<const Element<type>> b, Matrix<float> d) {
    check_operands(a, b, d);
    if (!a.empty())
        workbook::launch(tile_by_wgmma<type, mode>, one_block_per_tile(a), panels_map(a, mode),
                         panels_map(b, mode), d.data, static_cast<int>(d.height));
}

// ---- A from registers ----

/// A comes as fragments, as an mma of each warp would want them. Only B is read from shared memory.
__global__ void a_in_registers(const __grid_constant__ CUtensorMap a_map,
                               const __grid_constant__ CUtensorMap b_map, float* d, int rows) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    std::uint32_t a[steps][4];
#pragma unroll
    for (std::uint32_t k = 0; k < steps; ++k)
        load_a<SwizzledTile>(a[k], tile.a, static_cast<int>(threadIdx.x) / 32 * 16, static_cast<int>(k));
    const std::uint64_t b = matrix_descriptor(tile.b, k_major(Swizzle::bytes128, tile_columns));
    float sums[sums_per_thread];
    wgmma_fence(); // A's registers were written before
#pragma unroll
    for (std::uint32_t k = 0; k < steps; ++k)
        wgmma_multiply<bf16>(sums, a[k], advanced(b, k_major_step(Swizzle::bytes128, tile_columns, k)),
                             k > 0);
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// d = a · b. a: M × 64, b: its 64 columns as rows of 64.
inline void launch_a_in_registers(Matrix<const __nv_bfloat16> a, Matrix<const __nv_bfloat16> b,
                                  Matrix<float> d) {
    check_operands(a, b, d);
    if (!a.empty())
        workbook::launch(a_in_registers, one_block_per_tile(a), panels_map(a, Swizzle::bytes128),
                         panels_map(b, Swizzle::bytes128), d.data, static_cast<int>(d.height));
}

// ---- B across k ----

/// B lies as K × N: neighbours in memory are neighbours in n. The descriptor has the other meaning of its two
/// offsets, and the instruction says so.
template <Swizzle mode>
__global__ void b_across_k(const __grid_constant__ CUtensorMap a_map,
                           const __grid_constant__ CUtensorMap b_map, float* d, int rows) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    const std::uint64_t a = matrix_descriptor(tile.a, k_major(mode, tile_rows));
    const std::uint64_t b = matrix_descriptor(tile.b, mn_major(mode, depth<bf16>));
    float sums[sums_per_thread];
    wgmma_fence();
#pragma unroll
    for (std::uint32_t k = 0; k < steps; ++k)
        wgmma_multiply<bf16, Major::k, Major::mn>(sums, advanced(a, k_major_step(mode, tile_rows, k)),
                                                  advanced(b, mn_major_step(mode, k)), k > 0);
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// d = a · b. a: M × 64, b: 64 rows of 64, one for each k.
template <Swizzle mode>
void launch_b_across_k(Matrix<const __nv_bfloat16> a, Matrix<const __nv_bfloat16> b, Matrix<float> d) {
    check_operands(a, b, d);
    if (!a.empty())
        workbook::launch(b_across_k<mode>, one_block_per_tile(a), panels_map(a, mode), panels_map(b, mode),
                         d.data, static_cast<int>(d.height));
}

// ---- two groups in flight ----

/// One half of D is stored while the other is still being computed.
__global__ void two_groups(const __grid_constant__ CUtensorMap a_map,
                           const __grid_constant__ CUtensorMap b_map, float* d, int rows) {
    constexpr int half = tile_columns / 2;
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    const std::uint64_t a = matrix_descriptor(tile.a, k_major(Swizzle::bytes128, tile_rows));
    const std::uint64_t b = matrix_descriptor(tile.b, k_major(Swizzle::bytes128, tile_columns));
    float left[half / 2], right[half / 2];
    wgmma_fence();
#pragma unroll
    for (std::uint32_t k = 0; k < steps; ++k)
        wgmma_multiply<bf16>(left, advanced(a, k * 32), advanced(b, k * 32), k > 0);
    wgmma_commit();
#pragma unroll
    for (std::uint32_t k = 0; k < steps; ++k)
        wgmma_multiply<bf16>(right, advanced(a, k * 32), advanced(b, half * row_bytes + k * 32), k > 0);
    wgmma_commit();
    wgmma_wait<1>(left); // the newest group may go on
    store_sums(left, d, rows);
    wgmma_wait<0>(right);
    store_sums(right, d, rows, half);
}

/// d = a · b. a: M × 64, b: its 64 columns as rows of 64.
inline void launch_two_groups(Matrix<const __nv_bfloat16> a, Matrix<const __nv_bfloat16> b, Matrix<float> d) {
    check_operands(a, b, d);
    if (!a.empty())
        workbook::launch(two_groups, one_block_per_tile(a), panels_map(a, Swizzle::bytes128),
                         panels_map(b, Swizzle::bytes128), d.data, static_cast<int>(d.height));
}

} // namespace wgmma
