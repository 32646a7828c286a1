/// @file describe_the_matrix.cu
/// Exercise: fill in the layout of a tensor map.
///
/// Given    A kernel that writes the tile whose first element is (x, y) to `out`, row after row: 32 × 8
///          ints. The matrix has `width` × `height` ints; its rows are `pitch` elements apart, and pitch ≥
///          width is a multiple of 4. A box that hangs over the edge brings zeros.
/// Wanted   The layout of the tensor map. dims, strides and box are innermost first; dims and box count
///          elements, strides count bytes, and there is one stride fewer than dimensions.
/// Judged   By the tiles of matrices of several shapes and pitches, those at the edges included.
#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <cuda/ptx>

#include <cstdint>
#include <span>

namespace ptx = cuda::ptx;

constexpr int tile_width = 32;
constexpr int tile_height = 8;
constexpr int tile_ints = tile_width * tile_height;

/// What the hardware has to know about the matrix and about the boxes that copies move.
workbook::TensorLayout<2> layout_of(workbook::Matrix<const int> matrix) {
    //@ hole
    return {.dims = {matrix.width, matrix.height},
            .strides = {matrix.pitch * sizeof(int)},
            .box = {tile_width, tile_height}};
    //? return {.dims = {matrix.pitch * matrix.height, 1}, // YOUR CODE: this is one long row
    //?         .strides = {matrix.pitch * matrix.height * sizeof(int)},
    //?         .box = {tile_width, tile_height}};
    //@ end
}

__global__ void one_tile(const __grid_constant__ CUtensorMap map, int x, int y, int* out) {
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

/// Launches the kernel for the tile at (x, y); x is a multiple of 4. `out` has 256 elements.
void launch_describe_the_matrix(workbook::Matrix<const int> matrix, int x, int y, std::span<int> out) {
    workbook::launch(one_tile, {.block = tile_ints},
                     workbook::make_tensor_map(matrix.data, layout_of(matrix)), x, y, out.data());
}
