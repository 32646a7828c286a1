/// @file numerics.cuh
/// Chapter 11: one sum of products by a tensor core, to see what it rounds and where.
#pragma once

#include "tiles.cuh"

namespace wgmma {

/// Products that one wgmma adds up: 16 of bf16 and f16, 8 of tf32, 32 of e4m3.
template <MatrixType type>
inline constexpr int terms = static_cast<int>(workbook::wgmma_k_bytes / sizeof(Element<type>));

/// d[block] = c[block] + a[0] · b[0] + a[1] · b[1] + …: element (0, 0) of a product whose other elements are
/// zero. A block has `terms` elements of A and of B. The threads write the tiles themselves.
template <MatrixType type>
__global__ void one_sum(const Element<type>* a, const Element<type>* b, const float* c, float* d) {
    constexpr int count = terms<type>, in_chunk = 16 / sizeof(Element<type>);
    constexpr std::uint32_t chunk_bytes = 64 * 16; // no swizzle: 64 rows of 16 bytes, then the next 16 bytes
    __shared__ alignas(128) Element<type> tile[2][2 * 64 * in_chunk];
    for (int i = static_cast<int>(threadIdx.x); i < 2 * 64 * in_chunk; i += block_threads)
        tile[0][i] = tile[1][i] = Element<type>{};
    __syncthreads();
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
        const int place = i / in_chunk * 64 * in_chunk + i % in_chunk; // row 0
        tile[0][place] = a[blockIdx.x * count + i];
        tile[1][place] = b[blockIdx.x * count + i];
    }
    ptx::fence_proxy_async(ptx::space_shared); // wgmma reads through the async proxy
    __syncthreads();
    const workbook::MatrixLayout layout{.leading = chunk_bytes, .stride = 8 * 16};
    float sums[4] = {};
    if (threadIdx.x == 0)
        sums[0] = c[blockIdx.x];
    workbook::wgmma_tie(sums);
    workbook::wgmma_fence();
    workbook::wgmma_multiply<type>(sums, workbook::matrix_descriptor(tile[0], layout),
                                   workbook::matrix_descriptor(tile[1], layout), true);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(sums);
    if (threadIdx.x == 0)
        d[blockIdx.x] = sums[0];
}

/// `count` sums: of a and b each has terms<type> elements.
template <MatrixType type>
void launch_one_sum(const Element<type>* a, const Element<type>* b, const float* c, float* d,
                    unsigned count) {
    workbook::launch(one_sum<type>, {.grid = count, .block = block_threads}, a, b, c, d);
}

} // namespace wgmma
