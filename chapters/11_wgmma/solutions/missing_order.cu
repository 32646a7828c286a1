/// @file missing_order.cu
/// Exercise: find the mistakes.
///
/// Given    The tensor maps of A (64 rows of 64 bf16), of B and of C (64 columns as rows of 64 bf16), all for
///          the 128-byte swizzle. One block of 128 threads makes two products, as attention does: the scores
///          A · B, rounded to bf16, and out = scores · C. The scores stay where they are: rounded, a
///          thread's sums are its registers of the second product's A. Shared memory has room for two
///          matrices, so C comes to where B was.
/// Wanted   Three handovers are broken. Check it, read what the emulator reports, and mend one after the
///          other. C is to be under way while the scores are rounded.
///          Write what the compiler must see too, sums in the wait and tie(scores): the emulator cannot
///          check that.
/// Judged   By the result and the emulator's silence; by counters: two products, nobody but wgmma reads the
///          tiles, and C comes while threads work.
#include "workbook/wgmma.cuh"

#include <cuda.h>
#include <cuda/ptx>
#include <cuda_bf16.h>

#include <cstdint>

namespace ptx = cuda::ptx;
using workbook::MatrixType;
using workbook::Swizzle;

constexpr int edge = 64;
constexpr int steps = 4; // wgmma of a product

/// What the block has in shared memory.
struct Tiles {
    alignas(1024) unsigned char a[edge * 128];
    alignas(1024) unsigned char b[edge * 128]; // B, later C
    std::uint64_t bar;
};

/// The A of step k, in registers.
using Scores = std::uint32_t[steps][4];

/// One thread asks for a matrix.
__device__ void ask_for(unsigned char* tile, const CUtensorMap& map, std::uint64_t* bar) {
    const std::int32_t at[] = {0, 0, 0};
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, bar);
}

/// One thread arrives, and announces the bytes of some matrices.
__device__ void announce(std::uint64_t* bar, std::uint32_t matrices) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar,
                                   matrices * edge * 128);
}

/// All threads: one of them asks for C.
__device__ void bring_c(Tiles& tiles, const CUtensorMap& c_map) {
    if (threadIdx.x == 0) {
        announce(&tiles.bar, 1);
        ask_for(tiles.b, c_map, &tiles.bar);
    }
}

__device__ void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// Two neighbouring sums are one register: no element changes its thread.
__device__ void round(Scores& scores, const float (&sums)[edge / 2]) {
#pragma unroll
    for (int i = 0; i < edge / 4; ++i) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(sums[2 * i], sums[2 * i + 1]);
        scores[i / 4][i % 4] = reinterpret_cast<const std::uint32_t&>(pair);
    }
}

/// Keeps the compiler from moving changes of the scores across this line.
__device__ void tie(Scores& scores) {
#pragma unroll
    for (int i = 0; i < edge / 4; ++i)
        asm volatile("" : "+r"(scores[i / 4][i % 4]));
}

__global__ void missing_order(const __grid_constant__ CUtensorMap a_map,
                              const __grid_constant__ CUtensorMap b_map,
                              const __grid_constant__ CUtensorMap c_map, float* out) {
    __shared__ Tiles tiles;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&tiles.bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        announce(&tiles.bar, 2);
        ask_for(tiles.a, a_map, &tiles.bar);
        ask_for(tiles.b, b_map, &tiles.bar);
    }
    __syncthreads();
    wait(&tiles.bar, 0);

    const std::uint64_t a = workbook::matrix_descriptor(tiles.a, workbook::k_major(Swizzle::bytes128, edge));
    const std::uint64_t b = workbook::matrix_descriptor(tiles.b, workbook::k_major(Swizzle::bytes128, edge));
    float sums[edge / 2];
    workbook::wgmma_fence();
#pragma unroll
    for (int k = 0; k < steps; ++k)
        workbook::wgmma_multiply<MatrixType::bf16>(sums, workbook::advanced(a, 32 * k),
                                                   workbook::advanced(b, 32 * k), k > 0);
    workbook::wgmma_commit();

    Scores scores;
    //@ hole
    workbook::wgmma_wait<0>(sums);
    bring_c(tiles, c_map);
    round(scores, sums);
    wait(&tiles.bar, 1);
    tie(scores);
    workbook::wgmma_fence();
    //? bring_c(tiles, c_map);
    //? workbook::wgmma_wait<1>(sums);
    //? round(scores, sums);
    //? wait(&tiles.bar, 1);
    //@ end

    float results[edge / 2];
#pragma unroll
    for (int k = 0; k < steps; ++k)
        workbook::wgmma_multiply<MatrixType::bf16>(results, scores[k], workbook::advanced(b, 32 * k), k > 0);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(results);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < edge / 2; ++i)
        out[workbook::accumulator_row(thread, i) * edge + workbook::accumulator_column(thread, i)] =
            results[i];
}
