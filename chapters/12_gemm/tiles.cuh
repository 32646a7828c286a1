/// @file tiles.cuh
/// Chapter 12: the product of two matrices, cut into tiles; and the order in which blocks take them.
///
/// out (m × n) = a (m × k) · b, where b is stored as n rows of k elements, as the weights of a linear layer
/// are: both operands lie along k, which is how tensor cores like them best. Elements are bf16, sums are f32,
/// rounded once at the end.
#pragma once

#include "workbook/swizzle.hpp"

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>

namespace gemm {

using bf16 = __nv_bfloat16;
using e4m3 = __nv_fp8_e4m3;

/// Rows of a and out, rows of b (columns of out), and the elements of a row of a or b. n and k are multiples
/// of 8: rows of 16 bytes (launching.cuh checks).
struct Extent {
    unsigned m = 0;
    unsigned n = 0;
    unsigned k = 0;

    [[nodiscard]] constexpr double operations() const { return 2.0 * m * n * k; }
};

/// `count / size` rounded up.
__host__ __device__ constexpr unsigned pieces(unsigned count, unsigned size) {
    return count / size + (count % size != 0);
}

/// The part of the result that one block makes, and how far along k it goes in one step.
template <int rows_, int columns_, int depth_ = 64>
struct Tile {
    static constexpr int rows = rows_;
    static constexpr int columns = columns_;
    static constexpr int depth = depth_;
};

/// What one step of such a block needs in shared memory. A row of 64 bf16 is 128 bytes, one row of the
/// 128-byte swizzle; its pattern repeats every 1024 bytes.
template <class Tile, class T = bf16>
struct Stage {
    alignas(1024) T a[Tile::rows * Tile::depth];
    alignas(1024) T b[Tile::columns * Tile::depth];

    static constexpr std::uint32_t bytes = (Tile::rows + Tile::columns) * Tile::depth * sizeof(T);
};

/// Where a tile begins in the result.
struct Corner {
    unsigned row;
    unsigned column;
};

/// The tiles of the result in the order in which blocks take them: in bands of `band` rows of tiles, each
/// walked column by column. The blocks that run at the same time then share `band` tiles of a and as few of b
/// as there are columns among them. A band of 1 is row after row.
struct TileOrder {
    unsigned down;
    unsigned across;
    unsigned band = 1;

    [[nodiscard]] __host__ __device__ constexpr unsigned count() const { return down * across; }

    /// Row and column of the tile that comes `i`-th, in tiles.
    [[nodiscard]] __host__ __device__ constexpr Corner at(unsigned i) const {
        const unsigned first = i / (band * across) * band;
        const unsigned rows = down - first < band ? down - first : band; // the last band may have fewer
        const unsigned in_band = i - first * across;
        return {first + in_band % rows, in_band / rows};
    }
};

} // namespace gemm
