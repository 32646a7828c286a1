/// @file any_transpose.cuh
/// Chapter 8: the rung for matrices of any width. Rows that are no multiple of 16 bytes begin anywhere, and a
/// tile of them ends in the middle of sectors.
///
/// What a store leaves of a sector is left to another block. So a tile leans: each of its columns is stored
/// from the first row on that begins a sector of the result, and goes on by as many rows at the end. Blocks
/// walk in bands of rows of tiles, so that a tile's neighbours find in L2 what they read too. Matrices with
/// few rows or few columns have kernels of their own, whose runs of the result, or of the input, are one
/// piece.
#pragma once

#include "kept_transpose.cuh"
#include "transpose.cuh"

#include "workbook/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

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

/// A band of rows of tiles is walked down column after column; then comes the next band.
__device__ inline Corner in_bands(const Tiling& tiles, unsigned band, unsigned tile) {
    const unsigned top = tile / (band * tiles.across) * band;
    const unsigned high = min(band, tiles.down - top);
    const unsigned within = tile - top * tiles.across;
    return {std::size_t{top + within % high} * lean_edge, std::size_t{within / high} * lean_edge};
}

/// Any matrix, at any address: 4 bytes per access, and stores that begin with a sector.
__global__ void __launch_bounds__(lean_threads)
    leaning_tiles(const float* in, float* out, Tiling tiles, unsigned band) {
    __shared__ float tile[lean_rows][lean_edge + 1];
    const Extent extent = tiles.extent;
    const Corner corner = in_bands(tiles, band, blockIdx.x);
    if (corner.row + lean_rows <= extent.rows && corner.column + lean_edge <= extent.columns)
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
    return extent.columns < short_row && extent.columns < extent.rows ? 1 : 256;
}

inline constexpr int few_threads = 512;

/// A thread's way along lines of `length` elements, few_threads further at each step: what a division of the
/// element's number by `length` would give.
struct Along {
    unsigned length;
    unsigned line = threadIdx.x / length;
    unsigned place = threadIdx.x % length;

    __device__ void advance() {
        line += few_threads / length;
        place += few_threads % length;
        if (place >= length) {
            place -= length;
            ++line;
        }
    }
};

/// The pitch of lines in shared memory: odd, so that 32 lines touch all banks.
[[nodiscard]] __host__ __device__ constexpr unsigned few_pitch(std::size_t length) {
    return static_cast<unsigned>(length) | 1;
}

/// A block takes 1 << `shift` columns from top to bottom: what it writes is one piece of the result. Each
/// thread asks for `batch` elements before it puts down the first. The registers are for four blocks on an
/// SM.
template <int batch>
__global__ void __launch_bounds__(few_threads, 4)
    few_rows(const float* in, float* out, Extent extent, unsigned shift) {
    extern __shared__ float run[];
    const unsigned rows = static_cast<unsigned>(extent.rows);
    const unsigned pitch = few_pitch(rows);
    const unsigned width = 1u << shift;
    const std::size_t first = std::size_t{blockIdx.x} << shift;
    const std::size_t left = extent.columns - first;
    const unsigned mine = left < width ? static_cast<unsigned>(left) : width;
    const std::uint64_t policy = keep_policy();
    for (unsigned begin = threadIdx.x; begin < rows << shift; begin += few_threads * batch) {
        float loaded[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k) {
            const unsigned i = begin + k * few_threads;
            const unsigned row = i >> shift;
            const unsigned column = i % width;
            if (row < rows && column < mine)
                loaded[k] = load_kept(in + row * extent.columns + first + column, policy);
        }
#pragma unroll
        for (int k = 0; k < batch; ++k) {
            const unsigned i = begin + k * few_threads;
            const unsigned row = i >> shift;
            const unsigned column = i % width;
            if (row < rows && column < mine)
                run[column * pitch + row] = loaded[k];
        }
    }
    __syncthreads();
    Along at{rows};
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < mine * rows; i += few_threads, at.advance())
        out[first * rows + i] = run[at.line * pitch + at.place];
}

/// Copies 4 bytes to shared memory, asynchronously. L2 keeps them, and may fetch the line of 128 bytes. PTX
/// ISA, cp.async.
__device__ inline void copy_kept(float* to, const float* from, std::uint64_t policy) {
    asm volatile("cp.async.ca.shared.global.L2::cache_hint.L2::128B [%0], [%1], 4, %2;" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "l"(policy)
                 : "memory");
}

/// A block takes `height` rows from end to end: what it reads is one piece of the input, and seven rows
/// more. For a warp stores one column after another, each from the first row on that begins a sector, as
/// leaning tiles do.
__global__ void __launch_bounds__(few_threads)
    few_columns(const float* in, float* out, Extent extent, unsigned height) {
    extern __shared__ float run[];
    const unsigned columns = static_cast<unsigned>(extent.columns);
    const unsigned pitch = few_pitch(columns);
    const std::size_t first = std::size_t{blockIdx.x} * height;
    const std::size_t left = extent.rows - first;
    const unsigned most = height + sector_floats - 1;
    const unsigned rows = left < most ? static_cast<unsigned>(left) : most;
    const std::uint64_t policy = keep_policy();
    Along at{columns};
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < rows * columns; i += few_threads, at.advance())
        copy_kept(&run[at.line * pitch + at.place], in + first * columns + i, policy);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    constexpr unsigned warps = few_threads / 32;
    for (unsigned column = threadIdx.x / 32; column < columns; column += warps) {
        float* to = out + column * extent.rows + first;
        const unsigned lean = to_next_sector(to);
        const unsigned begin = first == 0 ? 0 : lean; // what lies above the first lean is the first block's
        for (unsigned row = begin + threadIdx.x % 32; row < min(rows, lean + height); row += 32)
            to[row] = run[row * pitch + column];
    }
}

/// So many rows, or columns, are few: with more leaning tiles are as fast, or faster.
inline constexpr std::size_t rows_are_few = 199;
inline constexpr std::size_t columns_are_few = 159;

/// The columns that a block of `few_rows` takes, as a power of two: as many as 48 KiB hold, for four such
/// blocks leave L1 60 KiB, and so few that there are two blocks for each SM.
[[nodiscard]] constexpr unsigned few_shift(Extent extent) {
    constexpr std::size_t most = 48 * 1024 / sizeof(float);
    constexpr std::size_t blocks = 256;
    unsigned shift = 12;
    while (shift > 5 &&
           (std::size_t{few_pitch(extent.rows)} << shift > most || extent.columns >> shift < blocks))
        --shift;
    return shift;
}

/// How many blocks of `few_columns` are to be on an SM. They divide 192 KiB of shared memory, and the system
/// takes 1 KiB more for each: so L1 keeps 60 KiB. Anything more would leave it 28.
[[nodiscard]] constexpr std::size_t few_on_an_sm(Extent extent) { return extent.columns <= 80 ? 3 : 2; }

/// The shared memory that each of them asks for, in bytes, even where its piece needs less: one block more
/// would fit on an SM, and L1 would pay for it.
[[nodiscard]] constexpr std::size_t few_bytes(Extent extent) { return 192 * 1024 / few_on_an_sm(extent); }

/// The rows that a block of `few_columns` takes: as many as its shared memory holds, and a few less where
/// that makes the blocks of the last wave as many as those of the others. A multiple of 32, so that all
/// blocks lean alike.
[[nodiscard]] inline unsigned few_height(Extent extent) {
    constexpr std::size_t sms = 132; // of an H100 or H200
    const std::size_t room = few_bytes(extent) / sizeof(float) / few_pitch(extent.columns);
    const std::size_t most = std::min<std::size_t>(room - (sector_floats - 1), 4096) / 32 * 32;
    const std::size_t wave = sms * few_on_an_sm(extent);
    const std::size_t waves = workbook::blocks_for(extent.rows, wave * most);
    const std::size_t height = std::size_t{workbook::blocks_for(extent.rows, wave * waves * 32)} * 32;
    return static_cast<unsigned>(std::min(height, most));
}

/// Leaning tiles, whatever the matrix.
inline void launch_leaning_tiles(std::span<const float> in, std::span<float> out, Extent extent,
                                 unsigned band) {
    const Tiling tiles = tiling(extent, lean_edge);
    workbook::launch(leaning_tiles, {.grid = tiles.count(), .block = lean_threads}, in.data(), out.data(),
                     tiles, std::min(band, std::max(tiles.down, 1u)));
}

/// Some columns of a matrix with few rows to each block. A thread asks for six elements at a time, or for
/// seven where that takes it fewer times.
inline void launch_few_rows(std::span<const float> in, std::span<float> out, Extent extent) {
    const unsigned shift = few_shift(extent);
    const std::size_t width = std::size_t{1} << shift;
    const unsigned elements = workbook::blocks_for(extent.rows * width, few_threads);
    const bool seven = workbook::blocks_for(elements, 7) < workbook::blocks_for(elements, 6);
    workbook::launch(seven ? few_rows<7> : few_rows<6>,
                     {.grid = workbook::blocks_for(extent.columns, width),
                      .block = few_threads,
                      .dynamic_shared = width * few_pitch(extent.rows) * sizeof(float)},
                     in.data(), out.data(), extent, shift);
}

/// Some rows of a matrix with few columns to each block.
inline void launch_few_columns(std::span<const float> in, std::span<float> out, Extent extent) {
    const unsigned height = few_height(extent);
    workbook::launch(few_columns,
                     {.grid = workbook::blocks_for(extent.rows, height),
                      .block = few_threads,
                      .dynamic_shared = few_bytes(extent)},
                     in.data(), out.data(), extent, height);
}

/// Launches the kernel that fits the matrix, and returns its name.
inline const char* launch_any_matrix(std::span<const float> in, std::span<float> out, Extent extent) {
    check_sizes(in, out, extent);
    if (extent.columns == 1) // a column has its elements where a row has them
        std::swap(extent.rows, extent.columns);
    if (extent.size() > 0 && extent.rows <= rows_are_few && extent.rows <= extent.columns) {
        launch_few_rows(in, out, extent);
        return "few_rows";
    }
    // Where leaning tiles divide a row, all of them are whole.
    if (extent.size() > 0 && extent.columns <= columns_are_few && extent.columns % lean_edge != 0 &&
        extent.columns < extent.rows) {
        launch_few_columns(in, out, extent);
        return "few_columns";
    }
    launch_leaning_tiles(in, out, extent, lean_band(extent));
    return "leaning_tiles";
}

} // namespace transpose
