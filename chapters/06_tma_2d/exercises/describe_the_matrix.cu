/// @file describe_the_matrix.cu
/// Exercise: describe a matrix so that a copy sorts its rows.
///
/// Given    An interlaced picture: a matrix of `width` × `height` ints, whose rows are `pitch` elements apart
///          (pitch ≥ width, a multiple of 4; height is even). Its rows 0, 2, 4 … are one half-picture, field
///          0; its rows 1, 3, 5 … are the other, field 1. The kernel `describe_the_matrix` loads a tile of
///          one field by its coordinates (x, y, field), where y counts the rows of that field, and writes it
///          to `out`, row after row: 32 × 8 ints. `layout` hands the judge what layout_of says, and the judge
///          makes the tensor map of it: in a program layout_of is host code, as in tma_2d.cuh.
/// Wanted   The layout of a tensor map of rank 3, by which one copy brings 8 neighbouring rows of a field,
///          and zeros beyond the edges of the field. dims, strides and box are innermost first; dims and
///          box count elements, strides count bytes, and there is one stride fewer than dimensions.
/// Judged   By tiles of both fields of several pictures, those at the edges included; by the layout.
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
    std::uint64_t dims[3];
    std::uint64_t strides[2];
    std::uint32_t box[3];
};

/// What the hardware has to know about the picture and about the boxes that copies move.
__host__ __device__ inline Layout layout_of(workbook::Matrix<const int> matrix) {
    const std::uint64_t row = matrix.pitch * sizeof(int);
    return {.dims = {matrix.width, matrix.height, 1}, // YOUR CODE: this is one picture, not two fields
            .strides = {row, matrix.height * row},
            .box = {tile_width, tile_height, 1}};
}

/// For the judge; one thread.
__global__ void layout(workbook::Matrix<const int> matrix, Layout* result) { *result = layout_of(matrix); }

__global__ void describe_the_matrix(const __grid_constant__ CUtensorMap map, int x, int y, int field,
                                    int* out) {
    __shared__ alignas(128) int tile[tile_ints];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {x, y, field};
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
