/// @file any_transpose.cuh
/// Chapter 8: the rung for matrices of any width. Rows that are no multiple of 16 bytes begin anywhere, and a
/// tile of them ends in the middle of sectors.
///
/// What a store leaves of a sector is left to another block. So a tile leans: each of its columns is stored
/// from the first row on that begins a sector of the result, and goes on by as many rows at the end. Matrices
/// with few rows or few columns have kernels of their own, whose runs of the result, or of the input, are one
/// piece.
#pragma once

#include "kept_transpose.cuh"
#include "transpose.cuh"

#include "workbook/launch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace transpose {

inline constexpr int lean_edge = 64;
inline constexpr int lean_threads = 512;
inline constexpr int lean_lines = lean_threads / lean_edge; ///< lines of threads: each has 64
inline constexpr int sector_floats = 8;                     ///< a sector has 32 bytes
inline constexpr int lean_rows = lean_edge + sector_floats; ///< of the input, for one leaning tile

/// How many elements from `to` on the next sector begins.
__device__ inline unsigned to_next_sector(const float* to) {
    return (0u - static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float))) % sector_floats;
}

/// Reads 4 bytes that L2 keeps, and lets it fetch the line of 128 bytes. PTX ISA, ld.global.nc.
__device__ inline float load_kept(const float* from, std::uint64_t policy) {
    float value;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(__cvta_generic_to_global(from)), "l"(policy));
    return value;
}

/// One tile. `whole`: its 72 rows and 64 columns are all there, so that nothing has to be asked.
template <bool whole>
__device__ void lean(float (&tile)[lean_rows][lean_edge + 1], const float* in, float* out,
                     const Extent& extent, const Corner& corner) {
    const auto [rows, columns] = extent;
    const unsigned along = threadIdx.x % lean_edge;
    const unsigned line = threadIdx.x / lean_edge;

    float loaded[lean_rows / lean_lines];
    const float* from = in + (corner.row + line) * columns + corner.column + along;
    const std::uint64_t policy = keep_policy();
#pragma unroll
    for (int k = 0; k < lean_rows / lean_lines; ++k)
        if (whole || (corner.row + line + k * lean_lines < rows && corner.column + along < columns))
            loaded[k] = load_kept(from + k * lean_lines * columns, policy);
#pragma unroll
    for (int k = 0; k < lean_rows / lean_lines; ++k)
        tile[line + k * lean_lines][along] = loaded[k];
    __syncthreads();

    float* to = out + (corner.column + line) * rows + corner.row;
#pragma unroll
    for (int k = 0; k < lean_edge / lean_lines; ++k, to += lean_lines * rows) {
        const unsigned row = to_next_sector(to) + along;
        const unsigned column = line + k * lean_lines;
        if (whole || (corner.row + row < rows && corner.column + column < columns))
            to[row] = tile[row][column];
    }
}

/// What lies above the first row of leaning tiles: at most seven elements of each column.
__device__ inline void above_the_lean(const float* in, float* out, const Extent& extent,
                                      const Corner& corner) {
    for (unsigned i = threadIdx.x; i < lean_edge * sector_floats; i += lean_threads) {
        const std::size_t row = i % sector_floats;
        const std::size_t column = corner.column + i / sector_floats;
        if (row < extent.rows && column < extent.columns && row < to_next_sector(out + column * extent.rows))
            out[column * extent.rows + row] = in[row * extent.columns + column];
    }
}

/// Any matrix, at any address: 4 bytes per access, and stores that begin with a sector.
__global__ void __launch_bounds__(lean_threads)
    leaning_tiles(const float* in, float* out, Tiling tiles, Walk walk) {
    __shared__ float tile[lean_rows][lean_edge + 1];
    const Extent extent = tiles.extent;
    const Corner corner = tiles.corner(blockIdx.x, walk);
    if (corner.row + lean_rows <= extent.rows && corner.column + lean_edge <= extent.columns)
        lean<true>(tile, in, out, extent, corner);
    else
        lean<false>(tile, in, out, extent, corner);
    if (corner.row == 0)
        above_the_lean(in, out, extent, corner);
}

/// Neighbours in a row share sectors of the input, neighbours in a column eight rows of it. Along the
/// short side the other neighbour's turn comes sooner, and what is shared may still be in L2.
[[nodiscard]] constexpr Walk along_short_side(Extent extent) {
    return extent.columns < extent.rows ? Walk::along_rows : Walk::down_columns;
}

inline constexpr int few_threads = 256;

/// A block takes `width` columns from top to bottom: what it writes is one piece of the result.
__global__ void __launch_bounds__(few_threads)
    few_rows(const float* in, float* out, Extent extent, unsigned width) {
    extern __shared__ float run[];
    const unsigned rows = static_cast<unsigned>(extent.rows);
    const std::size_t first = std::size_t{blockIdx.x} * width;
    const std::size_t left = extent.columns - first;
    const unsigned mine = left < width ? static_cast<unsigned>(left) : width;
    for (unsigned c = threadIdx.x; c < mine; c += few_threads)
#pragma unroll 8
        for (unsigned r = 0; r < rows; ++r)
            run[c * rows + r] = in[r * extent.columns + first + c];
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < mine * rows; i += few_threads)
        out[first * rows + i] = run[i];
}

/// A block takes `height` rows from end to end: what it reads is one piece of the input.
__global__ void __launch_bounds__(few_threads)
    few_columns(const float* in, float* out, Extent extent, unsigned height) {
    extern __shared__ float run[];
    const unsigned columns = static_cast<unsigned>(extent.columns);
    const std::size_t first = std::size_t{blockIdx.x} * height;
    const std::size_t left = extent.rows - first;
    const unsigned mine = left < height ? static_cast<unsigned>(left) : height;
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < mine * columns; i += few_threads)
        run[i] = in[first * columns + i];
    __syncthreads();
    for (unsigned r = threadIdx.x; r < mine; r += few_threads)
#pragma unroll 8
        for (unsigned c = 0; c < columns; ++c)
            out[c * extent.rows + first + r] = run[r * columns + c];
}

/// So many rows, or columns, are few: with more leaning tiles are faster.
inline constexpr std::size_t rows_are_few = 40;
inline constexpr std::size_t columns_are_few = 20;

/// How many elements of each row, or column, a block of `few_rows` or `few_columns` takes: fewer the more of
/// them there are, so that several blocks fit on an SM.
[[nodiscard]] constexpr unsigned piece(std::size_t short_side) {
    return short_side <= 4 ? 1024 : short_side <= 32 ? 256 : 128;
}

/// Leaning tiles, whatever the matrix.
inline void launch_leaning_tiles(std::span<const float> in, std::span<float> out, Extent extent, Walk walk) {
    const Tiling tiles = tiling(extent, lean_edge);
    workbook::launch(leaning_tiles, {.grid = tiles.count(), .block = lean_threads}, in.data(), out.data(),
                     tiles, walk);
}

/// Launches the kernel that fits the matrix, and returns its name.
inline const char* launch_any_matrix(std::span<const float> in, std::span<float> out, Extent extent) {
    check_sizes(in, out, extent);
    const bool few_high = extent.rows <= rows_are_few && extent.rows <= extent.columns;
    const bool few_wide = extent.columns <= columns_are_few && extent.columns < extent.rows;
    if (extent.size() == 0 || !(few_high || few_wide)) {
        launch_leaning_tiles(in, out, extent, along_short_side(extent));
        return "leaning_tiles";
    }
    const std::size_t short_side = few_high ? extent.rows : extent.columns;
    const unsigned length = piece(short_side);
    workbook::launch(few_high ? few_rows : few_columns,
                     {.grid = workbook::blocks_for(extent.size() / short_side, length),
                      .block = few_threads,
                      .dynamic_shared = length * short_side * sizeof(float)},
                     in.data(), out.data(), extent, length);
    return few_high ? "few_rows" : "few_columns";
}

} // namespace transpose
