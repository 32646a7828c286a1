/// @file mistakes.cu
/// Chapter 6, wrong on purpose: one rule of tensor copies broken in each kernel.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"
#include "workbook/tensor_map.hpp"

#include <cuda/ptx>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace cuda::ptx;

constexpr int width = 48; // of the matrix; element (x, y) is y * width + x
constexpr int height = 20;
constexpr int tile_width = 16;
constexpr int tile_height = 8;
constexpr int block_threads = tile_width * tile_height; // a thread for each element of a tile

/// Initialises a barrier for one arrival, visible to all threads of the block and to the async proxy.
__device__ void init_barrier(std::uint64_t* bar) {
    if (threadIdx.x == 0) {
        mbarrier_init(bar, 1);
        fence_proxy_async(space_shared);
    }
    __syncthreads();
}

__device__ void announce(std::uint64_t* bar, std::uint32_t bytes) {
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, bar, bytes);
}

__device__ void wait(std::uint64_t* bar) {
    while (!mbarrier_try_wait_parity(bar, 0)) {
    }
}

/// The tile begins 16 bytes after a 128-byte boundary: enough for a bulk copy, not for a tensor copy.
__global__ void tile_not_aligned(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int memory[block_threads + 4];
    __shared__ std::uint64_t bar;
    int* tile = memory + 4;
    const std::int32_t at[] = {16, 8};
    init_barrier(&bar);
    if (threadIdx.x == 0) {
        announce(&bar, block_threads * sizeof(int));
        cp_async_bulk_tensor(space_shared, space_global, tile, &map, at, &bar); // expect: misaligned
    }
    wait(&bar);
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The tile at x = 32, y = 8 is wanted; the coordinates are given as (row, column). No hardware can know
/// that: a program must check what it got, as the assertion does here.
__global__ void x_and_y_swapped(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const int x = 32;
    const int y = 8;
    const std::int32_t at[] = {y, x}; // should be {x, y}
    init_barrier(&bar);
    if (threadIdx.x == 0) {
        announce(&bar, sizeof(tile));
        cp_async_bulk_tensor(space_shared, space_global, tile, &map, at, &bar);
    }
    wait(&bar);
    const int row = threadIdx.x / tile_width;
    const int column = threadIdx.x % tile_width;
    assert(tile[threadIdx.x] == (y + row) * width + x + column); // expect: assert
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The tile hangs over the lower edge by 4 rows. The barrier is told of the 4 rows that lie inside, but the
/// copy counts all 8: the tx-count ends below zero, and the phase never.
__global__ void clipped_tx_count(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {0, 16};
    init_barrier(&bar);
    if (threadIdx.x == 0) {
        const int rows_inside = height - at[1];
        announce(&bar, rows_inside * tile_width * sizeof(int)); // should be all of the tile
        cp_async_bulk_tensor(space_shared, space_global, tile, &map, at, &bar);
    }
    while (!mbarrier_try_wait_parity(&bar, 0)) { // expect: deadlock
    }
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The box begins at x = 15 to bring a halo of one column; along x it must begin at a multiple of 16 bytes.
__global__ void x_between_16_bytes(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {15, 7};
    init_barrier(&bar);
    if (threadIdx.x == 0) {
        announce(&bar, sizeof(tile));
        cp_async_bulk_tensor(space_shared, space_global, tile, &map, at, &bar); // expect: misaligned
    }
    wait(&bar);
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The tile is stored two rows above the matrix, in the hope that the store is clipped there too.
__global__ void store_before_matrix(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int tile[block_threads];
    const std::int32_t at[] = {16, -2};
    tile[threadIdx.x] = threadIdx.x;
    fence_proxy_async(space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        cp_async_bulk_tensor(space_global, space_shared, &map, at, tile); // expect: out-of-bounds
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32_t<0>());
    }
    out[threadIdx.x] = threadIdx.x;
}

/// The map is a parameter without __grid_constant__, so that taking its address makes a copy in the thread's
/// local memory, where the Tensor Memory Accelerator cannot read it.
__global__ void map_without_grid_constant(const CUtensorMap map, int* out) {
    __shared__ alignas(128) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {16, 8};
    init_barrier(&bar);
    if (threadIdx.x == 0) {
        announce(&bar, sizeof(tile));
        cp_async_bulk_tensor(space_shared, space_global, tile, &map, at, &bar); // expect: tensor-map-invalid
    }
    wait(&bar);
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The kernel gets the address of a map in the host's ordinary memory.
__global__ void map_by_reference(const CUtensorMap* map, int* out) {
    __shared__ alignas(128) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {16, 8};
    init_barrier(&bar);
    if (threadIdx.x == 0) {
        announce(&bar, sizeof(tile));
        cp_async_bulk_tensor(space_shared, space_global, tile, map, at, &bar); // expect: tensor-map-invalid
    }
    wait(&bar);
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The matrix whose tiles are copied: element (x, y) is y * width + x.
workbook::DeviceBuffer<int> numbered_matrix() {
    std::vector<int> numbers(width * height);
    std::iota(numbers.begin(), numbers.end(), 0);
    return workbook::DeviceBuffer<int>(numbers);
}

CUtensorMap map_of(const workbook::DeviceBuffer<int>& matrix, std::size_t columns = width) {
    return workbook::make_tensor_map(matrix.data(),
                                     workbook::TensorLayout<2>{.dims = {columns, height},
                                                               .strides = {width * sizeof(int)},
                                                               .box = {tile_width, tile_height}});
}

/// Launches one block with the map of the matrix.
void run(void (*kernel)(const CUtensorMap, int*)) {
    const workbook::DeviceBuffer<int> matrix = numbered_matrix();
    workbook::DeviceBuffer<int> out(block_threads);
    workbook::launch(kernel, {.block = block_threads}, map_of(matrix), out.data());
    workbook::synchronize();
}

void run_map_by_reference() {
    const workbook::DeviceBuffer<int> matrix = numbered_matrix();
    workbook::DeviceBuffer<int> out(block_threads);
    const CUtensorMap map = map_of(matrix);
    workbook::launch(map_by_reference, {.block = block_threads}, &map, out.data());
    workbook::synchronize();
}

/// Nothing is wrong with this kernel. The map that it should get cannot be made: see below.
__global__ void stride_not_multiple_of_16(const __grid_constant__ CUtensorMap map, int* out) {
    __shared__ alignas(128) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {16, 8};
    init_barrier(&bar);
    if (threadIdx.x == 0) {
        announce(&bar, sizeof(tile));
        cp_async_bulk_tensor(space_shared, space_global, tile, &map, at, &bar);
    }
    wait(&bar);
    out[threadIdx.x] = tile[threadIdx.x];
}

/// Rows of 47 ints, one after the other: 188 bytes.
void run_stride_not_multiple_of_16() {
    const workbook::DeviceBuffer<int> matrix = numbered_matrix();
    workbook::DeviceBuffer<int> out(block_threads);
    const workbook::TensorLayout<2> layout{
        .dims = {47, height}, .strides = {47 * sizeof(int)}, .box = {tile_width, tile_height}};
    const CUtensorMap map = workbook::make_tensor_map(matrix.data(), layout); // expect: tensor-map-refused
    workbook::launch(stride_not_multiple_of_16, {.block = block_threads}, map, out.data());
}

constexpr int named = 30; // the columns that the map of lost_columns has, of 48

/// Adds one to the tile at (16, 8), through a map of the left 30 columns. The store is cut where the next 16
/// bytes end, so the first two columns beyond the map are overwritten. The kernel looks at the tile's first
/// row, since nothing else notices it.
__global__ void lost_columns(const __grid_constant__ CUtensorMap map, const int* matrix) {
    __shared__ alignas(128) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {16, 8}; // columns 16 to 31
    init_barrier(&bar);
    if (threadIdx.x == 0) {
        announce(&bar, sizeof(tile));
        cp_async_bulk_tensor(space_shared, space_global, tile, &map, at, &bar);
    }
    wait(&bar);
    tile[threadIdx.x] += 1;
    fence_proxy_async(space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        cp_async_bulk_tensor(space_global, space_shared, &map, at, tile);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group(n32_t<0>()); // until the elements have been written
        for (int x = named; x < width; ++x)
            assert(matrix[8 * width + x] == 8 * width + x); // expect: assert
    }
}

void run_lost_columns() {
    const workbook::DeviceBuffer<int> matrix = numbered_matrix();
    workbook::launch(lost_columns, {.block = block_threads}, map_of(matrix, named), matrix.data());
    workbook::synchronize();
}

constexpr workbook::Mistake mistakes[] = {
    {"tile_not_aligned", "a shared tile that is not 128-byte aligned", [] { run(tile_not_aligned); }},
    {"x_and_y_swapped", "coordinates given as (y, x)", [] { run(x_and_y_swapped); }},
    {"clipped_tx_count", "the tx-count computed from the clipped size", [] { run(clipped_tx_count); }},
    {"x_between_16_bytes", "a box that begins between multiples of 16 bytes",
     [] { run(x_between_16_bytes); }},
    {"store_before_matrix", "a store at a negative coordinate", [] { run(store_before_matrix); }},
    {"map_without_grid_constant", "a tensor map that is copied to local memory",
     [] { run(map_without_grid_constant); }},
    {"map_by_reference", "a tensor map in ordinary host memory", run_map_by_reference},
    {"stride_not_multiple_of_16", "rows of 188 bytes", run_stride_not_multiple_of_16},
    {"lost_columns", "a store through a map of 30 columns, in a wider matrix", run_lost_columns},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
