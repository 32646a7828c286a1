/// @file describe_the_matrix.cu
/// Exercise: fill in the layout of a tensor map.
///
/// Given    Two kernels. `describe_the_matrix` writes the tile whose first element is (x, y) to `out`, row
///          after row: 32 × 8 ints. `layout` hands the judge what layout_of says, and the judge makes the
///          tensor map of it: in a program layout_of is host code, as in tma_2d.cuh. The matrix has `width` ×
///          `height` ints; its rows are `pitch` elements apart, and pitch ≥ width is a multiple of 4. A box
///          that hangs over the edge brings zeros.
/// Wanted   The layout of the tensor map. dims, strides and box are innermost first; dims and box count
///          elements, strides count bytes, and there is one stride fewer than dimensions.
/// Judged   By the tiles of matrices of several shapes and pitches, those at the edges included.
#include "workbook/matrix.hpp"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int tile_width = 32;
constexpr int tile_height = 8;
constexpr int tile_ints = tile_width * tile_height;

/// A tensor in global memory and the box that one copy moves.
struct Layout {
    std::uint64_t dims[2];
    std::uint64_t strides[1];
    std::uint32_t box[2];
};

/// What the hardware has to know about the matrix and about the boxes that copies move.
__host__ __device__ inline Layout layout_of(workbook::Matrix<const int> matrix) {
    return {.dims = {matrix.pitch * matrix.height, 1}, // YOUR CODE: this is one long row
            .strides = {matrix.pitch * matrix.height * sizeof(int)},
            .box = {tile_width, tile_height}};
}

/// For the judge; one thread.
__global__ void layout(workbook::Matrix<const int> matrix, Layout* result) { *result = layout_of(matrix); }

__global__ void describe_the_matrix(const __grid_constant__ CUtensorMap map, int x, int y, int* out) {
    __shared__ alignas(128) int tile[tile_ints];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {x, y};
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(tile));
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, &bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    out[threadIdx.x] = tile[threadIdx.x];
}
