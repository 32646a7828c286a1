/// @file tma_transpose.cuh
/// Chapter 8: the rungs of the ladder that load and store their tiles with tensor maps, for float.
///
/// A tensor copy does not transpose: it brings a tile to shared memory, threads turn it into a second tile,
/// and another tensor copy stores that. Both maps may swizzle, which costs nothing and spreads the columns of
/// a tile over the banks. Tensor maps want rows of a multiple of 16 bytes; what hangs over the edge of the
/// matrix arrives as zeros and is not stored.
#pragma once

#include "transpose.cuh"

#include "workbook/device.hpp"
#include "workbook/swizzle.hpp"
#include "workbook/tensor_map.hpp"

#include <cuda/ptx>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace transpose {

namespace ptx = cuda::ptx;
using workbook::Swizzle;

/// The map of a matrix of rows × columns floats, copied in boxes of box_columns × box_rows.
inline CUtensorMap matrix_map(const float* data, Extent extent, std::uint32_t box_columns,
                              std::uint32_t box_rows, Swizzle swizzle) {
    return workbook::make_tensor_map(data,
                                     workbook::TensorLayout<2>{.dims = {extent.columns, extent.rows},
                                                               .strides = {extent.columns * sizeof(float)},
                                                               .box = {box_columns, box_rows},
                                                               .swizzle = swizzle});
}

/// Waits until the phase with this parity is complete. The tile it counted is then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// Loads a box whose first element is (x, y) = (column, row), to be counted on `bar`.
__device__ inline void load_box(float* to, const CUtensorMap& map, std::size_t column, std::size_t row,
                                std::uint64_t* bar) {
    const std::int32_t place[2] = {static_cast<std::int32_t>(column), static_cast<std::int32_t>(row)};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, place, bar);
}

/// Stores a box; the caller commits it.
__device__ inline void store_box(const CUtensorMap& map, std::size_t column, std::size_t row,
                                 const float* from) {
    const std::int32_t place[2] = {static_cast<std::int32_t>(column), static_cast<std::int32_t>(row)};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, place, from);
}

// ---- one element at a time: 32 x 32 tiles ----

/// The index of element (row, column) in a 32 × 32 tile, whose rows are exactly 128 bytes wide.
template <Swizzle mode>
__device__ std::uint32_t tile_index(std::uint32_t row, std::uint32_t column) {
    if constexpr (mode == Swizzle::none)
        return row * tile_edge + column;
    else
        return workbook::swizzled_index<float>(row, column, mode);
}

/// Loads a tile, turns it with `per_thread` elements per thread, stores it. A warp reads a column of what was
/// loaded and writes a row of what is stored.
template <Swizzle mode, int per_thread>
__device__ void turn_by_tma(const CUtensorMap& in, const CUtensorMap& out, const Tiling& tiles) {
    __shared__ alignas(1024) float loaded[tile_edge * tile_edge];
    __shared__ alignas(1024) float turned[tile_edge * tile_edge];
    __shared__ std::uint64_t bar;
    const Corner corner = tiles.corner(blockIdx.x, Walk::along_rows);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(loaded));
        load_box(loaded, in, corner.column, corner.row, &bar);
    }
    __syncthreads();
    wait(&bar, 0);
    const std::uint32_t lane = threadIdx.x % tile_edge;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        const std::uint32_t line = threadIdx.x / tile_edge + k * (tile_edge / per_thread);
        turned[tile_index<mode>(line, lane)] = loaded[tile_index<mode>(lane, line)];
    }
    ptx::fence_proxy_async(ptx::space_shared); // each writer: what I wrote, before the store reads it
    __syncthreads();
    if (threadIdx.x == 0) {
        store_box(out, corner.row, corner.column, turned);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

/// Without swizzle a column of the loaded tile lies in one bank.
__global__ void tma_plain(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                          Tiling tiles) {
    turn_by_tma<Swizzle::none, 1>(in, out, tiles);
}

/// With a swizzle of 128 bytes on both sides a column lies in eight groups: 4 wavefronts for 32.
__global__ void tma_swizzled(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                             Tiling tiles) {
    turn_by_tma<Swizzle::bytes128, 1>(in, out, tiles);
}

inline constexpr int batch = 8; ///< elements per thread of tma_batched

/// The same with eight elements per thread: 128 threads instead of 1024, so that more tiles are on their way
/// per SM, and the cost of a block is shared by more elements.
__global__ void tma_batched(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                            Tiling tiles) {
    turn_by_tma<Swizzle::bytes128, batch>(in, out, tiles);
}

/// Launches one of the three; what tensor maps cannot take, padded_tile does.
inline const char* launch_tma(void (*kernel)(CUtensorMap, CUtensorMap, Tiling), const char* name,
                              Swizzle mode, int per_thread, std::span<const float> in, std::span<float> out,
                              Extent extent) {
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    if (extent.size() == 0)
        return name;
    const Tiling tiles = tiling(extent, tile_edge);
    workbook::launch(
        kernel, {.grid = tiles.count(), .block = static_cast<unsigned>(tile_edge * tile_edge / per_thread)},
        matrix_map(in.data(), extent, tile_edge, tile_edge, mode),
        matrix_map(out.data(), {extent.columns, extent.rows}, tile_edge, tile_edge, mode), tiles);
    return name;
}

inline const char* launch_tma_plain(std::span<const float> in, std::span<float> out, Extent extent) {
    return launch_tma(tma_plain, "tma_plain", Swizzle::none, 1, in, out, extent);
}
inline const char* launch_tma_swizzled(std::span<const float> in, std::span<float> out, Extent extent) {
    return launch_tma(tma_swizzled, "tma_swizzled", Swizzle::bytes128, 1, in, out, extent);
}
inline const char* launch_tma_batched(std::span<const float> in, std::span<float> out, Extent extent) {
    return launch_tma(tma_batched, "tma_batched", Swizzle::bytes128, batch, in, out, extent);
}

// ---- 16 bytes at a time: 64 x 64 tiles ----

inline constexpr int wide_edge = micro_tile_edge<float>; ///< 64
inline constexpr int panel_columns = 32;                 ///< what a swizzle of 128 bytes allows
inline constexpr int panel_elements = panel_columns * wide_edge;

/// A tile in shared memory: two panels of 64 rows of 128 bytes, each the box of one copy.
struct Panels {
    alignas(1024) float at[2][panel_elements];

    /// Chunk number `chunk` (0 to 15) of row `row`.
    __device__ uint4& chunk(int row, int chunk) {
        float* panel = at[chunk / 8];
        return *reinterpret_cast<uint4*>(
            panel + workbook::swizzled_index<float>(row, chunk % 8 * 4, Swizzle::bytes128));
    }
};

__device__ inline void load_panels(Panels& to, const CUtensorMap& map, Corner corner, std::uint64_t* bar) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, sizeof(to.at));
    for (int p = 0; p < 2; ++p)
        load_box(to.at[p], map, corner.column + p * panel_columns, corner.row, bar);
}

__device__ inline void store_panels(const CUtensorMap& map, Corner corner, const Panels& from) {
    for (int p = 0; p < 2; ++p)
        store_box(map, corner.row + p * panel_columns, corner.column, from.at[p]);
    ptx::cp_async_bulk_commit_group();
}

/// Which micro-tile a thread turns is a matter of banks: its column is thread % 16, its row this. So eight
/// lanes that go together meet all eight groups of banks, both when they read and when they write (a test
/// tries all).
__host__ __device__ constexpr int micro_down(int thread) {
    return thread / chunks_per_row ^ thread % chunks_per_row;
}

/// Turns a tile with one micro-tile of 4 × 4 per thread.
__device__ inline void turn_panels(Panels& loaded, Panels& turned) {
    constexpr int edge = micro_edge<float>;
    const int across = threadIdx.x % chunks_per_row;
    const int down = micro_down(threadIdx.x);
    MicroTile<float> micro;
#pragma unroll
    for (int i = 0; i < edge; ++i)
        micro.chunks[i] = loaded.chunk(down * edge + i, across);
    micro.turn();
#pragma unroll
    for (int i = 0; i < edge; ++i)
        turned.chunk(across * edge + i, down) = micro.chunks[i];
}

/// TMA on both sides, micro-tiles in between, blocks walking down columns: no conflict among the lanes.
__global__ void __launch_bounds__(micro_threads)
    tma_micro_tiles(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                    Tiling tiles) {
    __shared__ Panels loaded;
    __shared__ Panels turned;
    __shared__ std::uint64_t bar;
    const Corner corner = tiles.corner(blockIdx.x, Walk::down_columns);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        load_panels(loaded, in, corner, &bar);
    }
    __syncthreads();
    wait(&bar, 0);
    turn_panels(loaded, turned);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        store_panels(out, corner, turned);
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

inline constexpr int stages = 3;

/// Dynamic shared memory of tma_persistent: 96 KiB of tiles and a barrier per stage.
struct Ring {
    Panels loaded[stages];
    Panels turned[stages];
    std::uint64_t full[stages];
};

/// Few blocks that stay: each takes every gridDim.x-th tile. While one tile is turned, the next ones are
/// being loaded and the last ones stored.
__global__ void __launch_bounds__(micro_threads)
    tma_persistent(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                   Tiling tiles, unsigned count) {
    extern __shared__ Ring rings[]; // one; the type brings the alignment
    Ring& ring = rings[0];
    const auto corner = [&](unsigned k) {
        return tiles.corner(blockIdx.x + k * gridDim.x, Walk::down_columns);
    };
    const unsigned mine = (count - blockIdx.x + gridDim.x - 1) / gridDim.x; // no more blocks than tiles
    if (threadIdx.x == 0) {
        for (std::uint64_t& full : ring.full)
            ptx::mbarrier_init(&full, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        for (unsigned k = 0; k < min(mine, stages); ++k)
            load_panels(ring.loaded[k], in, corner(k), &ring.full[k]);
    }
    __syncthreads();
    for (unsigned k = 0; k < mine; ++k) {
        const unsigned stage = k % stages;
        if (threadIdx.x == 0) // the store that used this stage's turned tile has read it
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<stages - 1>());
        __syncthreads();
        wait(&ring.full[stage], k / stages % 2);
        turn_panels(ring.loaded[stage], ring.turned[stage]);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads(); // all have read the loaded tile and written the turned one
        if (threadIdx.x == 0) {
            store_panels(out, corner(k), ring.turned[stage]);
            if (k + stages < mine)
                load_panels(ring.loaded[stage], in, corner(k + stages), &ring.full[stage]);
        }
    }
    if (threadIdx.x == 0)
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

/// The maps of both matrices in panels.
struct PanelMaps {
    PanelMaps(const float* in_data, const float* out_data, Extent extent)
        : in(matrix_map(in_data, extent, panel_columns, wide_edge, Swizzle::bytes128)),
          out(matrix_map(out_data, {extent.columns, extent.rows}, panel_columns, wide_edge,
                         Swizzle::bytes128)) {}
    CUtensorMap in;
    CUtensorMap out;
};

inline const char* launch_tma_micro_tiles(std::span<const float> in, std::span<float> out, Extent extent) {
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    if (extent.size() > 0) {
        const Tiling tiles = tiling(extent, wide_edge);
        const PanelMaps maps(in.data(), out.data(), extent);
        workbook::launch(tma_micro_tiles, {.grid = tiles.count(), .block = micro_threads}, maps.in, maps.out,
                         tiles);
    }
    return "tma_micro_tiles";
}

/// @param blocks_per_sm how many blocks stay on each SM; two have room
inline const char* launch_tma_persistent(std::span<const float> in, std::span<float> out, Extent extent,
                                         int blocks_per_sm = 2) {
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    if (extent.size() > 0) {
        const Tiling tiles = tiling(extent, wide_edge);
        const PanelMaps maps(in.data(), out.data(), extent);
        const int staying = workbook::device_attribute(cudaDevAttrMultiProcessorCount) * blocks_per_sm;
        workbook::launch(tma_persistent,
                         {.grid = std::min(tiles.count(), static_cast<unsigned>(staying)),
                          .block = micro_threads,
                          .dynamic_shared = sizeof(Ring)},
                         maps.in, maps.out, tiles, tiles.count());
    }
    return "tma_persistent";
}

} // namespace transpose
