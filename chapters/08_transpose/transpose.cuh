/// @file transpose.cuh
/// Chapter 8: the ladder. A matrix is transposed, and every rung removes what held the rung before it back.
///
/// `in` has rows × columns elements, row after row; `out` has columns × rows, out[c · rows + r] = in[r ·
/// columns + c]. No element changes a bit. A block takes one square tile. Rungs that move 16 bytes at a time
/// need rows and columns that are multiples of 16 bytes, and arrays that begin at one; everything else falls
/// to padded_tile. Every launch function returns the name of the rung that did the work.
///
/// tma_transpose.cuh has the rungs that use tensor maps.
#pragma once

#include "workbook/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace transpose {

/// Rows and columns of the matrix that is read.
struct Extent {
    std::size_t rows = 0;
    std::size_t columns = 0;

    [[nodiscard]] constexpr std::size_t size() const { return rows * columns; }
};

/// In which order blocks take the tiles of the input. Blocks with neighbouring numbers run at about the same
/// time: they read neighbouring memory when they walk along rows, and write neighbouring memory when they
/// walk down columns.
enum class Walk { along_rows, down_columns };

/// Where a tile of the input begins.
struct Corner {
    std::size_t row;
    std::size_t column;
};

/// The matrix in square tiles of `edge` × `edge` elements; those at the right and lower edge may hang over.
struct Tiling {
    Extent extent;
    unsigned across; ///< tiles in a row of tiles
    unsigned down;   ///< tiles in a column of tiles
    unsigned edge;

    [[nodiscard]] constexpr unsigned count() const { return across * down; }

    __host__ __device__ constexpr Corner corner(unsigned tile, Walk walk) const {
        const unsigned row = walk == Walk::along_rows ? tile / across : tile % down;
        const unsigned column = walk == Walk::along_rows ? tile % across : tile / down;
        return {std::size_t{row} * edge, std::size_t{column} * edge};
    }
};

/// Throws std::length_error if that is more tiles than a grid has blocks.
inline Tiling tiling(Extent extent, unsigned edge) {
    const unsigned across = workbook::blocks_for(extent.columns, edge);
    const unsigned down = workbook::blocks_for(extent.rows, edge);
    (void)workbook::blocks_for(std::size_t{across} * down, 1);
    return {extent, across, down, edge};
}

/// Throws std::invalid_argument unless both arrays have as many elements as the matrix.
template <class T>
void check_sizes(std::span<const T> in, std::span<T> out, Extent extent) {
    if (in.size() != extent.size() || out.size() != extent.size())
        throw std::invalid_argument("transpose: both arrays must have rows * columns elements");
}

/// The reference, tile by tile because caches like it better.
template <class T>
[[nodiscard]] std::vector<T> transposed(std::span<const T> in, Extent extent) {
    constexpr std::size_t edge = 32;
    std::vector<T> out(extent.size());
    for (std::size_t top = 0; top < extent.rows; top += edge)
        for (std::size_t left = 0; left < extent.columns; left += edge)
            for (std::size_t c = left; c < std::min(left + edge, extent.columns); ++c)
                for (std::size_t r = top; r < std::min(top + edge, extent.rows); ++r)
                    out[c * extent.rows + r] = in[r * extent.columns + c];
    return out;
}

// ---- one element at a time: 32 x 32 tiles, 32 x 8 threads ----

inline constexpr int tile_edge = 32;
inline constexpr int tile_rows = 8; ///< rows of threads; each thread takes every eighth row of the tile

/// Reads along rows, writes down columns: every write of a warp touches 32 sectors and fills 4 bytes of each.
template <class T>
__global__ void global_only(const T* in, T* out, Tiling tiles) {
    const auto [rows, columns] = tiles.extent;
    const Corner corner = tiles.corner(blockIdx.x, Walk::along_rows);
    const std::size_t column = corner.column + threadIdx.x;
    for (int k = threadIdx.y; k < tile_edge; k += tile_rows)
        if (const std::size_t row = corner.row + k; row < rows && column < columns)
            out[column * rows + row] = in[row * columns + column];
}

/// Turns a tile in shared memory, so that both global accesses are along rows. `pitch` is the distance of two
/// rows of the tile in elements.
template <int pitch, class T>
__device__ void through_shared(T* tile, const T* in, T* out, const Tiling& tiles) {
    const auto [rows, columns] = tiles.extent;
    const Corner corner = tiles.corner(blockIdx.x, Walk::along_rows);
    for (int k = threadIdx.y; k < tile_edge; k += tile_rows)
        if (corner.row + k < rows && corner.column + threadIdx.x < columns)
            tile[k * pitch + threadIdx.x] = in[(corner.row + k) * columns + corner.column + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < tile_edge; k += tile_rows)
        if (corner.column + k < columns && corner.row + threadIdx.x < rows)
            out[(corner.column + k) * rows + corner.row + threadIdx.x] = tile[threadIdx.x * pitch + k];
}

/// A column of the tile lies in one bank: the 32 lanes that read it take 32 wavefronts.
template <class T>
__global__ void shared_tile(const T* in, T* out, Tiling tiles) {
    __shared__ T tile[tile_edge * tile_edge];
    through_shared<tile_edge>(tile, in, out, tiles);
}

/// One unused element per row, and a column of 4-byte elements lies in 32 banks. It takes any matrix.
template <class T>
__global__ void padded_tile(const T* in, T* out, Tiling tiles) {
    __shared__ T tile[tile_edge * (tile_edge + 1)];
    through_shared<tile_edge + 1>(tile, in, out, tiles);
}

/// Launches one of the three.
template <class T>
void launch_simple(void (*kernel)(const T*, T*, Tiling), std::span<const T> in, std::span<T> out,
                   Extent extent) {
    check_sizes(in, out, extent);
    const Tiling tiles = tiling(extent, tile_edge);
    workbook::launch(kernel, {.grid = tiles.count(), .block = {tile_edge, tile_rows}}, in.data(), out.data(),
                     tiles);
}

template <class T>
const char* launch_global_only(std::span<const T> in, std::span<T> out, Extent extent) {
    launch_simple(global_only<T>, in, out, extent);
    return "global_only";
}
template <class T>
const char* launch_shared_tile(std::span<const T> in, std::span<T> out, Extent extent) {
    launch_simple(shared_tile<T>, in, out, extent);
    return "shared_tile";
}
template <class T>
const char* launch_padded_tile(std::span<const T> in, std::span<T> out, Extent extent) {
    launch_simple(padded_tile<T>, in, out, extent);
    return "padded_tile";
}

// ---- 16 bytes at a time: micro-tiles in registers ----

inline constexpr int chunks_per_row = 16; ///< a row of a tile is 256 bytes
inline constexpr int micro_threads = chunks_per_row * chunks_per_row;

/// Elements in 16 bytes: the edge of a micro-tile, 4 for float and 8 for bf16.
template <class T>
inline constexpr int micro_edge = 16 / static_cast<int>(sizeof(T));

/// Edge of a tile in elements: 64 for float, 128 for bf16.
template <class T>
inline constexpr int micro_tile_edge = chunks_per_row* micro_edge<T>;

/// Whether the rungs of 16 bytes take this matrix.
template <class T>
[[nodiscard]] bool takes_16_bytes(std::span<const T> in, std::span<T> out, Extent extent) {
    const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
    return aligned(in.data()) && aligned(out.data()) && extent.rows % micro_edge<T> == 0 &&
           extent.columns % micro_edge<T> == 0;
}

/// A square of elements in registers: as many chunks of 16 bytes as a chunk has elements.
template <class T>
struct MicroTile {
    uint4 chunks[micro_edge<T>];

    __device__ void turn() {
        T elements[micro_edge<T>][micro_edge<T>];
        T turned[micro_edge<T>][micro_edge<T>];
        memcpy(elements, chunks, sizeof(chunks));
#pragma unroll
        for (int i = 0; i < micro_edge<T>; ++i)
#pragma unroll
            for (int j = 0; j < micro_edge<T>; ++j)
                turned[j][i] = elements[i][j];
        memcpy(chunks, turned, sizeof(chunks));
    }
};

/// A thread loads a micro-tile of 16-byte chunks, turns it in registers, and puts the chunks where they
/// belong in the turned tile; the block then stores the tile's rows. Chunk c of row r lies at place c ^ (r /
/// edge of a micro-tile), so that the eight lanes that go together write, and read, eight different groups of
/// banks.
template <class T>
__device__ void by_micro_tiles(const T* in, T* out, const Tiling& tiles, Walk walk) {
    constexpr int edge = micro_edge<T>;
    __shared__ uint4 tile[micro_tile_edge<T>][chunks_per_row];
    const auto [rows, columns] = tiles.extent;
    const Corner corner = tiles.corner(blockIdx.x, walk);
    const int down = threadIdx.x / chunks_per_row;
    const int across = threadIdx.x % chunks_per_row;
    if (corner.row + down * edge < rows && corner.column + across * edge < columns) {
        MicroTile<T> micro;
        const T* from = in + (corner.row + down * edge) * columns + corner.column + across * edge;
#pragma unroll
        for (int i = 0; i < edge; ++i)
            micro.chunks[i] = *reinterpret_cast<const uint4*>(from + i * columns);
        micro.turn();
#pragma unroll
        for (int i = 0; i < edge; ++i)
            tile[across * edge + i][down ^ across] = micro.chunks[i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < edge; ++k) {
        const int r = down + k * chunks_per_row;
        if (corner.column + r < columns && corner.row + across * edge < rows)
            *reinterpret_cast<uint4*>(out + (corner.column + r) * rows + corner.row + across * edge) =
                tile[r][across ^ (r / edge)];
    }
}

/// Blocks walk along the rows of the input.
template <class T>
__global__ void __launch_bounds__(micro_threads) micro_tiles(const T* in, T* out, Tiling tiles) {
    by_micro_tiles(in, out, tiles, Walk::along_rows);
}

/// The same, blocks walk down the columns of the input: neighbours write neighbouring memory.
template <class T>
__global__ void __launch_bounds__(micro_threads) column_walk(const T* in, T* out, Tiling tiles) {
    by_micro_tiles(in, out, tiles, Walk::down_columns);
}

/// Launches one of the two, which has that name; what it cannot take, padded_tile does.
template <class T>
const char* launch_by_micro_tiles(void (*kernel)(const T*, T*, Tiling), const char* name,
                                  std::span<const T> in, std::span<T> out, Extent extent) {
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    const Tiling tiles = tiling(extent, micro_tile_edge<T>);
    workbook::launch(kernel, {.grid = tiles.count(), .block = micro_threads}, in.data(), out.data(), tiles);
    return name;
}

template <class T>
const char* launch_micro_tiles(std::span<const T> in, std::span<T> out, Extent extent) {
    return launch_by_micro_tiles(micro_tiles<T>, "micro_tiles", in, out, extent);
}
template <class T>
const char* launch_column_walk(std::span<const T> in, std::span<T> out, Extent extent) {
    return launch_by_micro_tiles(column_walk<T>, "column_walk", in, out, extent);
}

} // namespace transpose
