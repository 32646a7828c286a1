/// @file describe_the_operand.cu
/// Exercise: describe an operand that is nowhere.
///
/// Given    A signal of 568 samples of bf16, and the tensor map of B: 32 filters as rows of 64 bf16, for the
///          128-byte swizzle. A has 64 rows of 64 and is not stored anywhere. Its row r is a window of the
///          signal, samples 8 r to 8 r + 63: A(r, k) = signal[8 r + k]. Neighbouring windows share 56
///          samples. One block of 128 threads brings the signal to shared memory, 1,136 bytes as they are,
///          and B. Then it multiplies with four wgmma of 16 k each.
/// Wanted   out = A · B, 64 rows of 32 floats: what each filter makes of each window.
/// Missing  A descriptor that lets the tensor core find A in the signal, and where each step begins. Begin
///          with core matrix 0: where in the signal are rows 0 to 7 of k = 0 to 7? Then find its neighbours.
/// Judged   By the result; by counters: the signal comes once, nobody writes the windows out, and wgmma reads
///          64 rows all the same.
#include "workbook/wgmma.cuh"

#include <cuda.h>
#include <cuda/ptx>
#include <cuda_bf16.h>

#include <cstdint>

namespace ptx = cuda::ptx;
using workbook::MatrixType;
using workbook::Swizzle;

constexpr std::uint32_t samples = 63 * 8 + 64;
constexpr std::uint32_t columns = 32; // of B and D

/// What the block has in shared memory.
struct Tiles {
    alignas(1024) unsigned char b[columns * 128];
    alignas(128) unsigned char signal[samples * 2];
    std::uint64_t bar;
};

/// All threads: brings the signal and B; returns when they are there.
__device__ void load(Tiles& tiles, const __nv_bfloat16* signal, const CUtensorMap& b) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&tiles.bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &tiles.bar,
                                       sizeof(tiles.signal) + sizeof(tiles.b));
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tiles.signal, signal, sizeof(tiles.signal),
                           &tiles.bar);
        const std::int32_t at[] = {0, 0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tiles.b, &b, at, &tiles.bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&tiles.bar, 0)) {
    }
}

//@ hole
constexpr std::uint32_t leading = 8 * 2; // bytes from a core matrix to the next along k
constexpr std::uint32_t stride = 64 * 2; // bytes from a core matrix to that of the next eight rows
constexpr std::uint64_t mode = 0;        // bits 62 and 63 of the descriptor
//? // YOUR CODE: which mode can it be?
//? constexpr std::uint32_t leading = 0; // bytes from a core matrix to the next along k
//? constexpr std::uint32_t stride = 0;  // bytes from a core matrix to that of the next eight rows
//? constexpr std::uint64_t mode = 1;    // bits 62 and 63 of the descriptor
//@ end

/// How many bytes behind the start of the signal step k, 0 to 3, begins.
__device__ std::uint32_t start_of(std::uint32_t k) {
    //@ hole
    return k * 16 * 2;
    //? return 0; // YOUR CODE
    //@ end
}

/// The descriptor of what begins `bytes` behind the start of the signal.
__device__ std::uint64_t windows(const unsigned char* signal, std::uint32_t bytes) {
    const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(signal + bytes));
    return address >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 | mode << 62;
}

__global__ void describe_the_operand(const __nv_bfloat16* signal, const __grid_constant__ CUtensorMap b_map,
                                     float* out) {
    __shared__ Tiles tiles;
    load(tiles, signal, b_map);
    const std::uint64_t b =
        workbook::matrix_descriptor(tiles.b, workbook::k_major(Swizzle::bytes128, columns));
    float sums[columns / 2];
    workbook::wgmma_fence();
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k)
        workbook::wgmma_multiply<MatrixType::bf16>(sums, windows(tiles.signal, start_of(k)),
                                                   workbook::advanced(b, 32 * k), k > 0);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(sums);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < static_cast<int>(columns) / 2; ++i)
        out[workbook::accumulator_row(thread, i) * columns + workbook::accumulator_column(thread, i)] =
            sums[i];
}
