/// @file describe_the_operand.cu
/// Exercise: describe an operand in panels of 64 bytes.
///
/// Given    The tensor maps of A (64 rows of 64 bf16) and of B (32 columns as rows of 64 bf16). Both bring a
///          tile with the 64-byte swizzle: in two panels of 32 elements of k, one behind the other, each
///          with all rows. One block of 128 threads multiplies them with four wgmma of 16 k each.
/// Wanted   out = A · B, 64 rows of 32 floats.
/// Missing  What the descriptor says of such a tile, and where in it each of the four steps begins. There are
///          functions for that in matrix_layout.hpp: write the numbers, and compare with them afterwards.
/// Judged   By the result; by counters: wgmma reads each tile once, and no thread moves anything.
#include "workbook/wgmma.cuh"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;
using workbook::MatrixType;
using workbook::Swizzle;

constexpr std::uint32_t rows = 64;    // of A and D
constexpr std::uint32_t columns = 32; // of B and D

/// What the block has in shared memory.
struct Tiles {
    alignas(1024) unsigned char a[rows * 128];
    alignas(1024) unsigned char b[columns * 128];
    std::uint64_t bar;
};

/// All threads: brings both tiles; returns when they are there.
__device__ void load(Tiles& tiles, const CUtensorMap& a, const CUtensorMap& b) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&tiles.bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &tiles.bar,
                                       sizeof(tiles.a) + sizeof(tiles.b));
        const std::int32_t at[] = {0, 0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tiles.a, &a, at, &tiles.bar);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tiles.b, &b, at, &tiles.bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&tiles.bar, 0)) {
    }
}

// YOUR CODE: these are the numbers of the 128-byte swizzle
constexpr std::uint32_t stride = 8 * 128; // bytes from 8 rows of a panel to the next 8
constexpr std::uint64_t mode = 1;         // bits 62 and 63 of the descriptor

/// How many bytes behind the start of a tile of `lines` rows step k, 0 to 3, begins.
__device__ std::uint32_t start_of(std::uint32_t k, std::uint32_t lines) {
    return k * 32; // YOUR CODE
}

/// The leading offset, bits 16 to 29, is not used in a swizzled tile whose rows run along k: the PTX ISA
/// has 1 there.
__device__ std::uint64_t descriptor(const unsigned char* tile) {
    const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
    return address >> 4 | std::uint64_t{1} << 16 | std::uint64_t{stride >> 4} << 32 | mode << 62;
}

__global__ void describe_the_operand(const __grid_constant__ CUtensorMap a_map,
                                     const __grid_constant__ CUtensorMap b_map, float* out) {
    __shared__ Tiles tiles;
    load(tiles, a_map, b_map);
    float sums[columns / 2];
    workbook::wgmma_fence();
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k)
        workbook::wgmma_multiply<MatrixType::bf16>(sums, descriptor(tiles.a + start_of(k, rows)),
                                                   descriptor(tiles.b + start_of(k, columns)), k > 0);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(sums);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < static_cast<int>(columns) / 2; ++i)
        out[workbook::accumulator_row(thread, i) * columns + workbook::accumulator_column(thread, i)] =
            sums[i];
}
