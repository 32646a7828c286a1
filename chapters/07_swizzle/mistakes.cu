/// @file mistakes.cu
/// Chapter 7, wrong on purpose: tiles whose swizzle was forgotten, taken for another, or wider than its tile.
/// In the first two the bytes arrive and no rule of memory is broken, so no memory checker can see it: the
/// kernels check what they read, as tests must.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"
#include "workbook/swizzle.hpp"
#include "workbook/tensor_map.hpp"

#include <cuda/ptx>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace cuda::ptx;
using workbook::Swizzle;

constexpr int columns =
    32; // of the matrix, which is one tile; element (row, column) is row * columns + column
constexpr int rows = 16;
constexpr int block_threads = columns * rows; // a thread for each element

/// Loads the whole matrix to `tile`; returns when it is there, to all threads.
__device__ void load(int* tile, const CUtensorMap& map, std::uint64_t* bar) {
    if (threadIdx.x == 0) {
        mbarrier_init(bar, 1);
        fence_proxy_async(space_shared);
        const std::int32_t at[] = {0, 0};
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, bar, block_threads * sizeof(int));
        cp_async_bulk_tensor(space_shared, space_global, tile, &map, at, bar);
    }
    __syncthreads();
    while (!mbarrier_try_wait_parity(bar, 0)) {
    }
}

/// The tile is swizzled; it is read as if it were not.
__global__ void index_not_swizzled(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(1024) int tile[block_threads];
    __shared__ std::uint64_t bar;
    load(tile, map, &bar);
    const int row = threadIdx.x / columns;
    const int column = threadIdx.x % columns;
    const int element = tile[row * columns + column]; // should be swizzled_index<int>(row, column, mode)
    assert(element == row * columns + column);        // expect: assert
    out[threadIdx.x] = element;
}

/// The tile begins 128 bytes after a 1024-byte boundary, where every tensor copy may write, but in the second
/// row of the pattern. The index function counts rows from the start of the tile.
__global__ void tile_inside_pattern(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(1024) int memory[columns + block_threads];
    __shared__ std::uint64_t bar;
    int* tile = memory + columns; // should be a multiple of 1024 bytes, or the absolute address be swizzled
    load(tile, map, &bar);
    const int row = threadIdx.x / columns;
    const int column = threadIdx.x % columns;
    const int element = tile[workbook::swizzled_index<int>(row, column, Swizzle::bytes128)];
    assert(element == row * columns + column); // expect: assert
    out[threadIdx.x] = element;
}

constexpr int narrow = columns / 2; // of a box half as wide as the mode

/// The box is 64 bytes wide, the mode 128: rows lie 128 bytes apart, so the tile takes twice the bytes that
/// arrive. Here it has room for those bytes only, and what lies after it is overwritten.
__global__ void narrow_tile_too_small(const __grid_constant__ CUtensorMap map, int* out) {
    struct Memory {
        alignas(1024) int tile[rows * narrow]; // should be rows * columns
        int weights[block_threads];
        std::uint64_t bar;
    };
    __shared__ Memory own;
    own.weights[threadIdx.x] = 1; // expect: race-shared
    if (threadIdx.x == 0) {
        mbarrier_init(&own.bar, 1);
        fence_proxy_async(space_shared);
        const std::int32_t at[] = {0, 0};
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &own.bar,
                                  rows * narrow * sizeof(int));
        cp_async_bulk_tensor(space_shared, space_global, own.tile, &map, at, &own.bar); // expect: race-shared
    }
    __syncthreads();
    while (!mbarrier_try_wait_parity(&own.bar, 0)) {
    }
    out[threadIdx.x] = own.weights[threadIdx.x];
}

/// The matrix that is loaded: element (row, column) is row * columns + column.
workbook::DeviceBuffer<int> numbered_matrix() {
    std::vector<int> numbers(block_threads);
    std::iota(numbers.begin(), numbers.end(), 0);
    return workbook::DeviceBuffer<int>(numbers);
}

/// Launches one block with the matrix, swizzled by 128 bytes, for boxes of so many columns.
void run(void (*kernel)(const CUtensorMap, int*), std::uint32_t box_columns = columns) {
    const workbook::DeviceBuffer<int> matrix = numbered_matrix();
    workbook::DeviceBuffer<int> out(block_threads);
    const workbook::TensorLayout<2> layout{.dims = {columns, rows},
                                           .strides = {columns * sizeof(int)},
                                           .box = {box_columns, rows},
                                           .swizzle = Swizzle::bytes128};
    workbook::launch(kernel, {.block = block_threads}, workbook::make_tensor_map(matrix.data(), layout),
                     out.data());
    workbook::synchronize();
}

/// Nothing is wrong with this kernel. The map that it should get cannot be made: see below.
__global__ void box_wider_than_mode(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(512) int tile[block_threads];
    __shared__ std::uint64_t bar;
    load(tile, map, &bar);
    out[threadIdx.x] = tile[threadIdx.x];
}

/// Rows of 128 bytes and the 64-byte mode: a wider tile must be put together from boxes of 64 bytes.
void run_box_wider_than_mode() {
    const workbook::DeviceBuffer<int> matrix = numbered_matrix();
    workbook::DeviceBuffer<int> out(block_threads);
    const workbook::TensorLayout<2> layout{.dims = {columns, rows},
                                           .strides = {columns * sizeof(int)},
                                           .box = {columns, rows},
                                           .swizzle = Swizzle::bytes64};
    const CUtensorMap map = workbook::make_tensor_map(matrix.data(), layout); // expect: tensor-map-refused
    workbook::launch(box_wider_than_mode, {.block = block_threads}, map, out.data());
}

constexpr workbook::Mistake mistakes[] = {
    {"index_not_swizzled", "a swizzled tile read without the index function",
     [] { run(index_not_swizzled); }},
    {"tile_inside_pattern", "a tile that is not aligned to the pattern", [] { run(tile_inside_pattern); }},
    {"narrow_tile_too_small", "room for the bytes that arrive, not for the rows where they lie",
     [] { run(narrow_tile_too_small, narrow); }},
    {"box_wider_than_mode", "rows of 128 bytes with the 64-byte mode", run_box_wider_than_mode},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
