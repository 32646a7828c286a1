/// @file any_transpose.cuh
/// Chapter 8: the rung for matrices of any width. Rows that are no multiple of 16 bytes begin anywhere, and a
/// tile of them ends in the middle of sectors.
///
/// What a store leaves of a sector is left to another block. So a tile leans: each of its columns is stored
/// from the first row on that begins a sector of the result, and goes on by as many rows at the end. Blocks
/// walk in bands of rows of tiles, so that a tile's neighbours find in L2 what they read too. Matrices with
/// few rows or few columns have kernels of their own, in few_transpose.cuh.
#pragma once

#include "few_transpose.cuh"
#include "kept_transpose.cuh"
#include "sectors.cuh"
#include "transpose.cuh"

#include "workbook/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace transpose {

inline constexpr int lean_width = 64;                         ///< columns of a leaning tile
inline constexpr int lean_height = 80;                        ///< rows that it stores of each
inline constexpr int lean_rows = lean_height + sector_floats; ///< rows that it reads
inline constexpr int lean_threads = 512;
inline constexpr int lean_lines = lean_threads / lean_width; ///< lines of threads: each has 64

// [lean]
/// One tile. `whole`: its 88 rows and 64 columns are all there, so that nothing has to be asked.
template <bool whole>
__device__ void lean(float (&tile)[lean_rows][lean_width + 1], const float* in, float* out,
                     const Extent& extent, const Corner& corner) {
    const auto [rows, columns] = extent;
    const unsigned along = threadIdx.x % lean_width;
    const unsigned line = threadIdx.x / lean_width;

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
    for (int k = 0; k < lean_width / lean_lines; ++k, to += lean_lines * rows) {
        const unsigned column = line + k * lean_lines;
        const unsigned first = to_next_sector(to);
#pragma unroll
        for (unsigned down = 0; down < lean_height; down += lean_width) {
            const unsigned row = first + down + along;
            if (down + along < lean_height &&
                (whole || (corner.row + row < rows && corner.column + column < columns)))
                to[row] = tile[row][column];
        }
    }
}
// [/lean]

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

/// Leaning tiles: so many rows of them, and so many in each.
struct LeanTiles {
    Extent extent;
    unsigned down;
    unsigned across;
};

/// A band of rows of tiles is walked down column after column; then comes the next band.
__device__ inline Corner in_bands(const LeanTiles& tiles, unsigned band, unsigned tile) {
    const unsigned top = tile / (band * tiles.across) * band;
    const unsigned high = min(band, tiles.down - top);
    const unsigned within = tile - top * tiles.across;
    return {std::size_t{top + within % high} * lean_height, std::size_t{within / high} * lean_width};
}

/// Any matrix, at any address: 4 bytes per access, and stores that begin with a sector.
__global__ void __launch_bounds__(lean_threads)
    leaning_tiles(const float* in, float* out, LeanTiles tiles, unsigned band) {
    __shared__ float tile[lean_rows][lean_width + 1];
    const Extent extent = tiles.extent;
    const Corner corner = in_bands(tiles, band, blockIdx.x);
    if (corner.row + lean_rows <= extent.rows && corner.column + lean_width <= extent.columns)
        lean<true>(tile, in, out, extent, corner);
    else
        lean<false>(tile, in, out, extent, corner);
    if (corner.row == 0)
        above_the_lean(in, out, extent, corner);
}

/// So many rows of tiles are walked down together. Where rows are short, one: the neighbours of a tile on all
/// sides then come soon.
[[nodiscard]] constexpr unsigned lean_band(Extent extent) {
    constexpr std::size_t short_row = 2048;
    constexpr unsigned rows = 16384;
    return extent.columns < short_row && extent.columns < extent.rows ? 1 : rows / lean_height;
}

/// Throws std::length_error if that is more tiles than a grid has blocks.
inline LeanTiles lean_tiles(Extent extent) {
    const unsigned down = workbook::blocks_for(extent.rows, lean_height);
    const unsigned across = workbook::blocks_for(extent.columns, lean_width);
    (void)workbook::blocks_for(std::size_t{across} * down, 1);
    return {extent, down, across};
}

/// Leaning tiles, whatever the matrix.
inline void launch_leaning_tiles(std::span<const float> in, std::span<float> out, Extent extent,
                                 unsigned band) {
    const LeanTiles tiles = lean_tiles(extent);
    workbook::launch(leaning_tiles, {.grid = tiles.across * tiles.down, .block = lean_threads}, in.data(),
                     out.data(), tiles, std::min(band, std::max(tiles.down, 1u)));
}

/// True if there are so few rows that leaning tiles are no faster. Where rows are a multiple of 16, all
/// columns of the result begin with a sector, and leaning tiles are ahead earlier.
[[nodiscard]] constexpr bool rows_are_few(std::size_t rows) { return rows <= (rows % 16 == 0 ? 144 : 255); }

/// True if there are so few columns. Where they are a multiple of 32, their elements come one by one, and
/// leaning tiles are ahead earlier.
[[nodiscard]] constexpr bool columns_are_few(std::size_t columns) {
    return columns <= (columns % 32 == 0 ? 96 : 207);
}

/// Launches the kernel that fits the matrix, and returns its name.
inline const char* launch_any_matrix(std::span<const float> in, std::span<float> out, Extent extent) {
    check_sizes(in, out, extent);
    if (extent.columns == 1) // a column has its elements where a row has them
        std::swap(extent.rows, extent.columns);
    if (extent.size() > 0 && rows_are_few(extent.rows) && extent.rows <= extent.columns) {
        launch_few_rows(in, out, extent);
        return "few_rows";
    }
    if (extent.size() > 0 && columns_are_few(extent.columns) && extent.columns < extent.rows) {
        launch_few_columns(in, out, extent);
        return "few_columns";
    }
    launch_leaning_tiles(in, out, extent, lean_band(extent));
    return "leaning_tiles";
}

} // namespace transpose
