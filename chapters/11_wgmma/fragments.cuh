/// @file fragments.cuh
/// Chapter 11, first part: what a warp holds of a matrix, and the ancestor of wgmma: ldmatrix, mma.sync,
/// stmatrix.
#pragma once

#include "tiles.cuh"

namespace wgmma {

// ---- the instructions ----

/// The 8 × 8 matrices of 16-bit elements that one ldmatrix or stmatrix moves.
inline constexpr int matrices = 4;

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Four 8 × 8 matrices from shared memory to fragments. Lane l says where row l % 8 of matrix l / 8 begins,
/// 16 bytes. It gets two neighbours of row l / 4 of every matrix (PTX ISA, 'ldmatrix').
__device__ inline void load_fragments(std::uint32_t (&to)[matrices], const std::byte* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/// The way back (PTX ISA, 'stmatrix').
__device__ inline void store_fragments(std::byte* row, const std::uint32_t (&from)[matrices]) {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
        "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
        : "memory");
}

/// D (16 × 8) += A (16 × 16) · B (16 × 8), by one warp, now (PTX ISA, 'mma.sync.aligned.m16n8k16').
__device__ inline void multiply_now(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// ---- where a tile's rows lie ----

/// 64 rows of 128 bytes in shared memory: dense, padded by 16 bytes, or swizzled.
template <Swizzle mode, int pad>
struct RowTile {
    static_assert(mode == Swizzle::none || (mode == Swizzle::bytes128 && pad == 0));
    static constexpr std::uint32_t pitch = row_bytes + pad;
    static constexpr std::uint32_t bytes = tile_rows * pitch;

    /// Where 16-byte chunk `chunk` of row `row` lies, in bytes after the start of the tile.
    __host__ __device__ static constexpr std::uint32_t place(int row, int chunk) {
        return row * pitch + workbook::swizzled_chunk(row, chunk, mode) * 16;
    }

    /// The map that brings such a tile, and takes it.
    template <class T>
    static CUtensorMap map(Matrix<T> matrix) {
        return workbook::make_tensor_map(matrix.data,
                                         workbook::panel_layout(matrix, {.panel = row_bytes / sizeof(T),
                                                                         .rows = tile_rows,
                                                                         .pad = pad / sizeof(T),
                                                                         .swizzle = mode}));
    }
};

using PlainTile = RowTile<Swizzle::none, 0>;
using PaddedTile = RowTile<Swizzle::none, 16>;
using SwizzledTile = RowTile<Swizzle::bytes128, 0>;

/// The fragment of 16 rows of A from `row` on, step `k` of 16 columns: rows 0 to 7 and 8 to 15 of the left
/// half, then of the right.
template <class Tile>
__device__ inline void load_a(std::uint32_t (&a)[4], const std::byte* tile, int row, int k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    load_fragments(a, tile + Tile::place(row + lane % 16, 2 * k + lane / 16));
}

/// The fragments of 16 columns of B from `column` on, step `k`: upper and lower half of k for columns 0 to 7,
/// then for columns 8 to 15. B lies with its columns as rows, so that neighbours in k are neighbours in
/// memory.
template <class Tile>
__device__ inline void load_b(std::uint32_t (&b)[4], const std::byte* tile, int column, int k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    load_fragments(b, tile + Tile::place(column + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
}

// ---- reading fragments ----

/// What one lane holds of A (16 × 16), B (16 × 8) and D (16 × 8).
struct LaneFragments {
    std::uint32_t a[4]; ///< two 16-bit elements each
    std::uint32_t b[2];
    float d[4];
};

/// One warp loads A, 16 rows of 16, and B, 8 columns of 16, and writes what each of its lanes holds of them
/// and of their product.
__global__ void read_fragments(const std::uint32_t* a, const std::uint32_t* b, LaneFragments* out) {
    constexpr int words = 8; // of a row of 16 elements
    __shared__ alignas(16) std::uint32_t tile_a[16 * words];
    __shared__ alignas(16) std::uint32_t tile_b[16 * words]; // the second half stays zero
    for (int i = static_cast<int>(threadIdx.x); i < 16 * words; i += 32) {
        tile_a[i] = a[i];
        tile_b[i] = i < 8 * words ? b[i] : 0;
    }
    __syncwarp();
    const int lane = static_cast<int>(threadIdx.x);
    LaneFragments mine{};
    std::uint32_t two[4];
    load_fragments(mine.a, reinterpret_cast<const std::byte*>(tile_a + lane % 16 * words + lane / 16 * 4));
    load_fragments(two, reinterpret_cast<const std::byte*>(tile_b + lane % 16 * words + lane / 16 * 4));
    mine.b[0] = two[0];
    mine.b[1] = two[2]; // two[1] and two[3] are columns 8 to 15, which are not there
    multiply_now(mine.d, mine.a, mine.b[0], mine.b[1]);
    out[lane] = mine;
}

/// a: 16 rows of 16, b: 8 columns of 16 16-bit elements, in pairs; out: 32 lanes.
inline void launch_read_fragments(const std::uint32_t* a, const std::uint32_t* b, LaneFragments* out) {
    workbook::launch(read_fragments, {.block = 32}, a, b, out);
}

// ---- the ancestor ----

/// This warp writes its 16 rows of D, rounded to bf16, to a tile, by the fragments that mma left them in.
template <class Tile>
__device__ inline void store_rounded(const float (&d)[tile_columns / 8][4], std::byte* tile, int row) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto pair = [](float left, float right) {
        const __nv_bfloat162 both = __floats2bfloat162_rn(left, right);
        return *reinterpret_cast<const std::uint32_t*>(&both);
    };
#pragma unroll
    for (int i = 0; i < tile_columns / 8; i += 2) {
        const std::uint32_t fragments[4] = {pair(d[i][0], d[i][1]), pair(d[i][2], d[i][3]),
                                            pair(d[i + 1][0], d[i + 1][1]), pair(d[i + 1][2], d[i + 1][3])};
        store_fragments(tile + Tile::place(row + lane % 16, i + lane / 16), fragments);
    }
}

/// D, rounded to bf16, by mma.sync: each warp 16 rows, 64 columns, one step of 16 after another. Fragments
/// come from shared memory, and D leaves through it.
template <class Tile>
__global__ void tile_by_mma(const __grid_constant__ CUtensorMap a_map,
                            const __grid_constant__ CUtensorMap b_map,
                            const __grid_constant__ CUtensorMap d_map) {
    __shared__ alignas(1024) std::byte a[Tile::bytes];
    __shared__ alignas(1024) std::byte b[Tile::bytes];
    __shared__ std::uint64_t bar;
    load_both(a, b, Tile::bytes, a_map, b_map, first_row(), &bar);
    const int row = static_cast<int>(threadIdx.x) / 32 * 16; // this warp's first
    float d[tile_columns / 8][4] = {};
#pragma unroll
    for (int k = 0; k < static_cast<int>(steps); ++k) {
        std::uint32_t of_a[4];
        load_a<Tile>(of_a, a, row, k);
#pragma unroll
        for (int column = 0; column < tile_columns; column += 16) {
            std::uint32_t of_b[4];
            load_b<Tile>(of_b, b, column, k);
            multiply_now(d[column / 8], of_a, of_b[0], of_b[1]);
            multiply_now(d[column / 8 + 1], of_a, of_b[2], of_b[3]);
        }
    }
    __syncwarp();
    store_rounded<Tile>(d, a, row); // over the rows of A that nobody but this warp has read
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &d_map, {0, first_row(), 0}, a);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

/// d = a · b, rounded to bf16. a: M × 64, b: its 64 columns as rows of 64.
template <class Tile>
void launch_tile_by_mma(Matrix<const __nv_bfloat16> a, Matrix<const __nv_bfloat16> b,
                        Matrix<__nv_bfloat16> d) {
    check_operands(a, b, d);
    if (!a.empty())
        workbook::launch(tile_by_mma<Tile>, one_block_per_tile(a), Tile::map(a), Tile::map(b), Tile::map(d));
}

} // namespace wgmma
