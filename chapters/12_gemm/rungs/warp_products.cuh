/// @file warp_products.cuh
/// Rung 3: tensor cores as Ampere has them. cp.async fills a ring of stages, ldmatrix takes fragments out of
/// shared memory, each warp makes 64 × 32 of the result by mma.sync.
#pragma once

#include "../tiles.cuh"

#include <cstddef>
#include <cstdint>

namespace gemm::warp_products {

using T = Tile<128, 128, 32>;
inline constexpr int threads = 256; ///< 2 × 4 warps
inline constexpr int stage_count = 4;

/// Rows of 32 elements are 64 bytes: the 64-byte swizzle keeps the 8 rows of a fragment in 8 bank groups.
__device__ inline std::uint32_t place(unsigned row, unsigned column) {
    return workbook::swizzled_index<bf16>(row, column, workbook::Swizzle::bytes64);
}

/// Asks for the tile of one operand, 16 bytes a copy; what lies outside becomes zeros.
__device__ inline void copy_operand(bf16* tile, const bf16* from, unsigned first, unsigned end, unsigned k,
                                    unsigned begin) {
    for (unsigned i = threadIdx.x; i < T::rows * T::depth / 8; i += threads) {
        const unsigned row = i / 4, column = i % 4 * 8;
        const bool inside = first + row < end && begin + column < k;
        const bf16* source = inside ? from + std::size_t{first + row} * k + begin + column : from;
        const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile + place(row, column)));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(source),
                     "r"(inside ? 16 : 0)
                     : "memory");
    }
}

/// Four 8 × 8 matrices; each lane gives the address of one row.
__device__ inline void load_fragment(std::uint32_t (&to)[4], const bf16* row) {
    const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
}

__device__ inline void multiply_fragments(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                          std::uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The products of one stage: 64 × 32 of the tile for each warp, `down` and `across` are where.
__device__ inline void multiply_stage(float (&sums)[4][4][4], const Stage<T>& stage, unsigned down,
                                      unsigned across) {
    const unsigned lane = threadIdx.x % 32, row = lane % 16, half = lane / 16 * 8;
#pragma unroll
    for (unsigned k = 0; k < T::depth; k += 16) {
        std::uint32_t a[4][4], b[2][4];
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load_fragment(a[y], stage.a + place(down + y * 16 + row, k + half));
#pragma unroll
        for (int x = 0; x < 2; ++x)
            load_fragment(b[x], stage.b + place(across + x * 16 + row, k + half));
#pragma unroll
        for (int y = 0; y < 4; ++y)
#pragma unroll
            for (int x = 0; x < 4; ++x)
                multiply_fragments(sums[y][x], a[y], b[x / 2][x % 2], b[x / 2][x % 2 + 2]);
    }
}

/// Launched with 256 threads, one block for each 128 × 128 of the result.
__global__ void __launch_bounds__(threads)
    warp_products_gemm(Extent extent, const bf16* a, const bf16* b, bf16* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto* stages = reinterpret_cast<Stage<T>*>(shared);
    const Corner corner{blockIdx.y * T::rows, blockIdx.x * T::columns};
    const unsigned steps = pieces(extent.k, T::depth);
    const auto load = [&](unsigned step) {
        if (step < steps) {
            Stage<T>& stage = stages[step % stage_count];
            copy_operand(stage.a, a, corner.row, extent.m, extent.k, step * T::depth);
            copy_operand(stage.b, b, corner.column, extent.n, extent.k, step * T::depth);
        }
        asm volatile("cp.async.commit_group;" ::: "memory"); // also an empty one, so that counts stay right
    };
    for (int i = 0; i < stage_count - 1; ++i)
        load(i);
    const unsigned warp = threadIdx.x / 32, down = warp / 4 * 64, across = warp % 4 * 32;
    float sums[4][4][4] = {};
    for (unsigned step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stage_count - 2) : "memory");
        __syncthreads(); // the stage has come for all, and the one before has been read by all
        load(step + stage_count - 1);
        multiply_stage(sums, stages[step % stage_count], down, across);
    }
    const unsigned lane = threadIdx.x % 32;
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x)
            for (int i = 0; i < 4; i += 2) {
                const unsigned row = corner.row + down + y * 16 + lane / 4 + i * 4;
                const unsigned column = corner.column + across + x * 8 + lane % 4 * 2;
                if (row < extent.m && column < extent.n)
                    *reinterpret_cast<__nv_bfloat162*>(out + std::size_t{row} * extent.n + column) =
                        __floats2bfloat162_rn(sums[y][x][i], sums[y][x][i + 1]);
            }
}

} // namespace gemm::warp_products
