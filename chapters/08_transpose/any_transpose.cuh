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

inline constexpr int lean_height = 64; ///< rows that a leaning tile stores
inline constexpr int lean_width = 32;  ///< its columns
inline constexpr int lean_threads = 256;
inline constexpr int sector_floats = 8;                       ///< a sector has 32 bytes
inline constexpr int lean_rows = lean_height + sector_floats; ///< that a leaning tile loads

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

/// One tile. `whole`: its 72 rows and 32 columns are all there, so that nothing has to be asked.
template <bool whole>
__device__ void lean(float (&tile)[lean_rows][lean_width + 1], const float* in, float* out,
                     const Extent& extent, const Corner& corner) {
    constexpr int row_step = lean_threads / lean_width;     // a warp loads a piece of one row
    constexpr int column_step = lean_threads / lean_height; // two warps store a piece of one column
    const auto [rows, columns] = extent;
    const unsigned across = threadIdx.x % lean_width;
    const unsigned first_row = threadIdx.x / lean_width;

    float loaded[lean_rows / row_step];
    const float* from = in + (corner.row + first_row) * columns + corner.column + across;
    const std::uint64_t policy = keep_policy();
#pragma unroll
    for (int k = 0; k < lean_rows / row_step; ++k)
        if (whole || (corner.row + first_row + k * row_step < rows && corner.column + across < columns))
            loaded[k] = load_kept(from + k * row_step * columns, policy);
#pragma unroll
    for (int k = 0; k < lean_rows / row_step; ++k)
        tile[first_row + k * row_step][across] = loaded[k];
    __syncthreads();

    const unsigned down = threadIdx.x % lean_height;
    const unsigned first_column = threadIdx.x / lean_height;
    float* to = out + (corner.column + first_column) * rows + corner.row;
#pragma unroll
    for (int k = 0; k < lean_width / column_step; ++k, to += column_step * rows) {
        const unsigned row = to_next_sector(to) + down;
        const unsigned column = first_column + k * column_step;
        if (whole || (corner.row + row < rows && corner.column + column < columns))
            to[row] = tile[row][column];
    }
}

/// What lies above the first row of leaning tiles: at most seven elements of each column.
__device__ inline void above_the_lean(const float* in, float* out, const Extent& extent,
                                      const Corner& corner) {
    for (unsigned i = threadIdx.x; i < lean_width * sector_floats; i += lean_threads) {
        const std::size_t row = i % sector_floats;
        const std::size_t column = corner.column + i / sector_floats;
        if (row < extent.rows && column < extent.columns && row < to_next_sector(out + column * extent.rows))
            out[column * extent.rows + row] = in[row * extent.columns + column];
    }
}

/// The matrix in leaning tiles. Blocks walk along its shorter side: so the pieces of a sector that two tiles
/// share are asked for soon after each other.
struct LeanTiling {
    Extent extent;
    unsigned across; ///< tiles in a row of tiles
    unsigned down;   ///< tiles in a column of tiles
    Walk walk;

    __device__ Corner corner(unsigned tile) const {
        const unsigned row = walk == Walk::along_rows ? tile / across : tile % down;
        const unsigned column = walk == Walk::along_rows ? tile % across : tile / down;
        return {std::size_t{row} * lean_height, std::size_t{column} * lean_width};
    }
};

[[nodiscard]] constexpr Walk along_short_side(Extent extent) {
    return extent.columns < extent.rows ? Walk::along_rows : Walk::down_columns;
}

/// Any matrix, at any address: 4 bytes per access, and stores that begin with a sector.
__global__ void __launch_bounds__(lean_threads) leaning_tiles(const float* in, float* out, LeanTiling tiles) {
    __shared__ float tile[lean_rows][lean_width + 1];
    const Extent extent = tiles.extent;
    const Corner corner = tiles.corner(blockIdx.x);
    if (corner.row + lean_rows <= extent.rows && corner.column + lean_width <= extent.columns)
        lean<true>(tile, in, out, extent, corner);
    else
        lean<false>(tile, in, out, extent, corner);
    if (corner.row == 0)
        above_the_lean(in, out, extent, corner);
}

/// A block takes `width` columns from top to bottom: what it writes is one piece of the result.
__global__ void __launch_bounds__(lean_threads)
    few_rows(const float* in, float* out, Extent extent, unsigned width) {
    extern __shared__ float run[];
    const unsigned rows = static_cast<unsigned>(extent.rows);
    const std::size_t first = std::size_t{blockIdx.x} * width;
    const std::size_t left = extent.columns - first;
    const unsigned mine = left < width ? static_cast<unsigned>(left) : width;
    for (unsigned c = threadIdx.x; c < mine; c += lean_threads)
#pragma unroll 8
        for (unsigned r = 0; r < rows; ++r)
            run[c * rows + r] = in[r * extent.columns + first + c];
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < mine * rows; i += lean_threads)
        out[first * rows + i] = run[i];
}

/// A block takes `height` rows from end to end: what it reads is one piece of the input.
__global__ void __launch_bounds__(lean_threads)
    few_columns(const float* in, float* out, Extent extent, unsigned height) {
    extern __shared__ float run[];
    const unsigned columns = static_cast<unsigned>(extent.columns);
    const std::size_t first = std::size_t{blockIdx.x} * height;
    const std::size_t left = extent.rows - first;
    const unsigned mine = left < height ? static_cast<unsigned>(left) : height;
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < mine * columns; i += lean_threads)
        run[i] = in[first * columns + i];
    __syncthreads();
    for (unsigned r = threadIdx.x; r < mine; r += lean_threads)
#pragma unroll 8
        for (unsigned c = 0; c < columns; ++c)
            out[c * extent.rows + first + r] = run[r * columns + c];
}

/// So many rows, or columns, are few: more fill half of a leaning tile, or the lanes of its warps.
inline constexpr std::size_t rows_are_few = 40;
inline constexpr std::size_t columns_are_few = 20;

/// How long a piece of `few_rows` or `few_columns` is: 1 to 4 KiB for each block and row or column, and less
/// the more of them there are.
[[nodiscard]] constexpr unsigned piece(std::size_t short_side) {
    return short_side <= 4 ? 1024 : short_side <= 32 ? 256 : 128;
}

/// Leaning tiles, whatever the matrix. Throws as `launch_any_matrix` does.
inline void launch_leaning_tiles(std::span<const float> in, std::span<float> out, Extent extent, Walk walk) {
    const unsigned across = workbook::blocks_for(extent.columns, lean_width);
    const unsigned down = workbook::blocks_for(extent.rows, lean_height);
    workbook::launch(leaning_tiles,
                     {.grid = workbook::blocks_for(std::size_t{across} * down, 1), .block = lean_threads},
                     in.data(), out.data(), LeanTiling{extent, across, down, walk});
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
                      .block = lean_threads,
                      .dynamic_shared = length * short_side * sizeof(float)},
                     in.data(), out.data(), extent, length);
    return few_high ? "few_rows" : "few_columns";
}

} // namespace transpose
