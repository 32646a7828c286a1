/// @file mistakes.cu
/// Chapter 8, wrong on purpose: transpositions that lack a wait, a fence or a barrier, or mix up rows and
/// columns.
#include "tma_transpose.cuh"

#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace transpose;

constexpr Extent matrix{32, 64}; ///< two tiles side by side
constexpr int threads = tile_edge * tile_rows;

/// A warp reads a column, which the whole block wrote, and does not wait for it.
__global__ void sync_missing(const float* in, float* out) {
    __shared__ float tile[tile_edge][tile_edge + 1];
    const std::size_t corner = blockIdx.x * tile_edge;
    for (int k = threadIdx.x / tile_edge, x = threadIdx.x % tile_edge; k < tile_edge; k += tile_rows)
        tile[k][x] = in[k * matrix.columns + corner + x]; // expect: race-shared
    for (int k = threadIdx.x / tile_edge, x = threadIdx.x % tile_edge; k < tile_edge; k += tile_rows)
        out[(corner + k) * matrix.rows + x] = tile[x][k]; // expect: race-shared
}

/// Each thread asks whether its place lies in the matrix, with rows and columns exchanged. In a square matrix
/// nobody would notice.
__global__ void bounds_swapped(const float* in, float* out) {
    const std::size_t row = blockIdx.x * tile_edge + threadIdx.x / tile_edge;
    const std::size_t column = blockIdx.y * tile_edge + threadIdx.x % tile_edge;
    if (row < matrix.columns && column < matrix.rows) {
        const float value = in[row * matrix.columns + column]; // expect: out-of-bounds
        out[column * matrix.rows + row] = value;
    }
}

/// The first tile of the matrix, on its way into shared memory.
__device__ void load_first(float* tile, const CUtensorMap& in, std::uint64_t* bar) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar,
                                       tile_edge * tile_edge * sizeof(float));
        load_box(tile, in, 0, 0, bar);
    }
    __syncthreads();
}

/// The tile is turned while it may still be on its way: __syncthreads() does not wait for a copy.
__global__ void wait_missing(const __grid_constant__ CUtensorMap in, float* out) {
    __shared__ alignas(1024) float loaded[tile_edge * tile_edge];
    __shared__ std::uint64_t bar;
    load_first(loaded, in, &bar);
    for (int i = threadIdx.x; i < tile_edge * tile_edge; i += threads) {
        const int from = i % tile_edge * tile_edge + i / tile_edge;
        out[i] = loaded[from]; // expect: read-before-completion
    }
    wait(&bar, 0); // too late
}

/// Threads turn the tile, TMA stores it, and no fence orders the threads' writes before the store's reads.
__global__ void proxy_fence_missing(const __grid_constant__ CUtensorMap in,
                                    const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(1024) float loaded[tile_edge * tile_edge];
    __shared__ alignas(1024) float turned[tile_edge * tile_edge];
    __shared__ std::uint64_t bar;
    load_first(loaded, in, &bar);
    wait(&bar, 0);
    for (int i = threadIdx.x; i < tile_edge * tile_edge; i += threads) {
        const int from = i % tile_edge * tile_edge + i / tile_edge;
        turned[i] = loaded[from]; // expect: missing-proxy-fence
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        store_box(out, 0, 0, turned);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

/// The second tile is turned into the memory from which the first is perhaps still being stored.
__global__ void stage_reused_too_early(const __grid_constant__ CUtensorMap in,
                                       const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(1024) float loaded[tile_edge * tile_edge];
    __shared__ alignas(1024) float turned[tile_edge * tile_edge];
    __shared__ std::uint64_t bar;
    load_first(loaded, in, &bar);
    wait(&bar, 0);
    for (int round = 0; round < 2; ++round) {
        for (int i = threadIdx.x; i < tile_edge * tile_edge; i += threads) {
            const int from = i % tile_edge * tile_edge + i / tile_edge;
            turned[i] = loaded[from] + round; // expect: reuse-before-read-done
        }
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            store_box(out, 0, round * tile_edge, turned);
            ptx::cp_async_bulk_commit_group(); // should be followed by wait_group.read
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

/// A matrix of different numbers and its transposed, without guard zones: the emulator names the line that
/// even reads beyond.
struct Buffers {
    Buffers() : out(matrix.size(), 0, workbook::Guards::none), in(numbers(), 0, workbook::Guards::none) {}
    static std::vector<float> numbers() {
        std::vector<float> values(matrix.size());
        std::iota(values.begin(), values.end(), 1.0f);
        return values;
    }
    [[nodiscard]] CUtensorMap in_map() const {
        return matrix_map(in.data(), matrix, tile_edge, tile_edge, Swizzle::none);
    }
    [[nodiscard]] CUtensorMap out_map() const {
        return matrix_map(out.data(), {matrix.columns, matrix.rows}, tile_edge, tile_edge, Swizzle::none);
    }
    workbook::DeviceBuffer<float> out; ///< first, so that it does not lie where reads beyond `in` land
    workbook::DeviceBuffer<float> in;
};

constexpr workbook::Mistake mistakes[] = {
    {"sync_missing", "a column of the tile is read before all of it is written",
     [] {
         Buffers buffers;
         workbook::launch(sync_missing, {.grid = 2, .block = threads}, buffers.in.data(), buffers.out.data());
         workbook::synchronize();
     }},
    {"bounds_swapped", "rows are compared with the number of columns",
     [] {
         Buffers buffers;
         workbook::launch(bounds_swapped, {.grid = {2, 1}, .block = tile_edge * tile_edge}, buffers.in.data(),
                          buffers.out.data());
         workbook::synchronize();
     }},
    {"wait_missing", "the tile is turned before it has come",
     [] {
         Buffers buffers;
         workbook::launch(wait_missing, {.block = threads}, buffers.in_map(), buffers.out.data());
         workbook::synchronize();
     }},
    {"proxy_fence_missing", "the async proxy stores what it may not see",
     [] {
         Buffers buffers;
         workbook::launch(proxy_fence_missing, {.block = threads}, buffers.in_map(), buffers.out_map());
         workbook::synchronize();
     }},
    {"stage_reused_too_early", "a tile is overwritten while it is being stored",
     [] {
         Buffers buffers;
         workbook::launch(stage_reused_too_early, {.block = threads}, buffers.in_map(), buffers.out_map());
         workbook::synchronize();
     }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
