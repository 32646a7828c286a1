/// @file roles_transpose.cuh
/// Chapter 8: blocks that stay, with warps for different jobs. They are measured beside the ladder and are no
/// rung.
///
/// tma_persistent meets at two barriers of the block for every tile. Here nobody meets: one warp loads, eight
/// turn, one stores, and a pair of mbarriers for each stage, full and empty, hands tiles from role to role.
#pragma once

#include "kept_transpose.cuh"
#include "tma_transpose.cuh"

#include "workbook/launch.hpp"

#include <cuda/ptx>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace transpose {

/// How a block gets its tiles.
enum class Deal {
    fixed,  ///< every gridDim.x-th, as tma_persistent
    claimed ///< the next that nobody has, from a counter in global memory
};

/// A place in a ring of `stages`, and the parity of its phase.
template <int stages>
struct RingState {
    std::uint32_t index = 0;
    std::uint32_t phase = 0;

    __device__ void advance() {
        if (++index == stages) {
            index = 0;
            phase ^= 1;
        }
    }
};

/// Tiles that go from one role to another: full when they have been written, empty when they have been read.
/// A tile number beyond the last one says that there are no more.
template <int stages>
struct TileRing {
    Panels tiles[stages];
    unsigned numbers[stages];
    std::uint64_t full[stages];
    std::uint64_t empty[stages];

    __device__ void initialise(std::uint32_t writers, std::uint32_t readers) {
        for (int s = 0; s < stages; ++s) {
            ptx::mbarrier_init(&full[s], writers);
            ptx::mbarrier_init(&empty[s], readers);
        }
    }
    __device__ unsigned wait_full(RingState<stages> at) {
        wait(&full[at.index], at.phase);
        return numbers[at.index];
    }
    /// Passes at once in the first round: nobody has used the stage yet.
    __device__ void wait_empty(RingState<stages> at) { wait(&empty[at.index], at.phase ^ 1); }
};

inline constexpr int turning_warps = micro_threads / 32;

/// A whole warp has read or written its part of a tile. What it did comes before what the async proxy does
/// with the tile next.
__device__ inline void hand_over(std::uint64_t* bar) {
    ptx::fence_proxy_async(ptx::space_shared);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        ptx::mbarrier_arrive(bar);
}

// [load-role]
/// One thread: asks for every tile as soon as its stage is empty, and at the end says that it was the last.
template <Deal deal, bool keep, int stages>
__device__ void load_role(TileRing<stages>& ring, const CUtensorMap& map, const Tiling& tiles,
                          unsigned* next) {
    const unsigned count = tiles.across * tiles.down;
    RingState<stages> at;
    for (unsigned mine = blockIdx.x;; mine += gridDim.x, at.advance()) {
        const unsigned number = deal == Deal::fixed ? mine : atomicAdd(next, 1u);
        ring.wait_empty(at);
        ring.numbers[at.index] = number;
        std::uint64_t* full = &ring.full[at.index];
        if (number >= count) {
            ptx::mbarrier_arrive(full);
            return;
        }
        const Corner corner = tiles.corner(number, Walk::down_columns);
        Panels& to = ring.tiles[at.index];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                       sizeof(to.at));
        for (int p = 0; p < 2; ++p)
            if constexpr (keep)
                load_box_with(to.at[p], map, corner.column + p * panel_columns, corner.row, full,
                              keep_policy());
            else
                load_box(to.at[p], map, corner.column + p * panel_columns, corner.row, full);
    }
}
// [/load-role]

/// One thread: stores every tile as soon as it is full, and empties its stage when the store has read it.
template <int stages>
__device__ void store_role(TileRing<stages>& ring, const CUtensorMap& map, const Tiling& tiles) {
    RingState<stages> at;
    RingState<stages> read;
    for (int stored = 1;; ++stored, at.advance()) {
        const unsigned number = ring.wait_full(at);
        if (number >= tiles.across * tiles.down)
            break;
        store_panels(map, tiles.corner(number, Walk::down_columns), ring.tiles[at.index]);
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<stages - 1>());
        if (stored >= stages) { // the oldest of the last `stages` stores has read its tile
            ptx::mbarrier_arrive(&ring.empty[read.index]);
            read.advance();
        }
    }
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

/// Eight warps: each takes its part of a tile into registers, gives the stage back, and puts the turned part
/// into the other ring.
template <int loaded_stages, int turned_stages>
__device__ void turn_role(TileRing<loaded_stages>& loaded, TileRing<turned_stages>& turned,
                          const Tiling& tiles) {
    constexpr int edge = micro_edge<float>;
    const int across = threadIdx.x % chunks_per_row;
    const int down = micro_down(threadIdx.x);
    RingState<loaded_stages> from;
    RingState<turned_stages> to;
    for (bool more = true; more; from.advance(), to.advance()) {
        MicroTile<float> micro;
        const unsigned number = loaded.wait_full(from);
        more = number < tiles.across * tiles.down;
        if (more) {
#pragma unroll
            for (int i = 0; i < edge; ++i)
                micro.chunks[i] = loaded.tiles[from.index].chunk(down * edge + i, across);
            hand_over(&loaded.empty[from.index]);
            micro.turn();
        }
        turned.wait_empty(to);
        if (threadIdx.x == 0)
            turned.numbers[to.index] = number;
        if (more)
#pragma unroll
            for (int i = 0; i < edge; ++i)
                turned.tiles[to.index].chunk(across * edge + i, down) = micro.chunks[i];
        hand_over(&turned.full[to.index]);
    }
}

template <int loaded_stages, int turned_stages>
struct RoleRings {
    TileRing<loaded_stages> loaded;
    TileRing<turned_stages> turned;
};

extern __shared__ __align__(1024) unsigned char ring_memory[]; ///< the dynamic shared memory of both kernels

inline constexpr int role_threads = micro_threads + 2 * 32; ///< and a warp that loads, and one that stores

/// Blocks that stay, tensor copies on both sides, a warp for each job.
template <int loaded_stages, int turned_stages, Deal deal, bool keep>
__global__ void __launch_bounds__(role_threads)
    tma_roles(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, Tiling tiles,
              unsigned* next) {
    auto& [loaded, turned] = *reinterpret_cast<RoleRings<loaded_stages, turned_stages>*>(ring_memory);
    if (threadIdx.x == 0) {
        loaded.initialise(1, turning_warps);
        turned.initialise(turning_warps, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x < micro_threads)
        turn_role(loaded, turned, tiles);
    else if (threadIdx.x == micro_threads)
        load_role<deal, keep>(loaded, in, tiles, next);
    else if (threadIdx.x == micro_threads + 32)
        store_role(turned, out, tiles);
}

/// Puts chunk i ^ order to its place i, for orders 0 to 3.
__device__ inline void put_in_order(MicroTile<float>& micro, int order) {
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if ((i & bit) == 0) {
                const uint4 a = micro.chunks[i];
                const uint4 b = micro.chunks[i | bit];
                const bool other = (order & bit) != 0;
                micro.chunks[i] = other ? b : a;
                micro.chunks[i | bit] = other ? a : b;
            }
}

/// The warps that turn, where they store to global memory themselves. A half-warp has sixteen micro-tiles
/// below each other, so that it writes 256 bytes of a row of the output; to read them without conflicts its
/// lanes take their four chunks in different orders.
template <int stages>
__device__ void turn_and_store_role(TileRing<stages>& ring, float* out, const Tiling& tiles) {
    constexpr int edge = micro_edge<float>;
    const auto [rows, columns] = tiles.extent;
    const int across = threadIdx.x / chunks_per_row;
    const int down = threadIdx.x % chunks_per_row;
    const int order = down / 2 % 4;
    for (RingState<stages> at;; at.advance()) {
        const unsigned number = ring.wait_full(at);
        if (number >= tiles.across * tiles.down)
            return;
        MicroTile<float> micro;
#pragma unroll
        for (int i = 0; i < edge; ++i)
            micro.chunks[i] = ring.tiles[at.index].chunk(down * edge + (i ^ order), across);
        hand_over(&ring.empty[at.index]);
        put_in_order(micro, order);
        micro.turn();
        const Corner corner = tiles.corner(number, Walk::down_columns);
        const std::size_t row = corner.row + down * edge;
        const std::size_t column = corner.column + across * edge;
        if (row < rows)
#pragma unroll
            for (int i = 0; i < edge; ++i)
                if (column + i < columns)
                    *reinterpret_cast<uint4*>(out + (column + i) * rows + row) = micro.chunks[i];
    }
}

inline constexpr int direct_threads = micro_threads + 32;

/// The same without a second tile: the warps that turn store to global memory themselves.
template <int stages, Deal deal, bool keep>
__global__ void __launch_bounds__(direct_threads)
    tma_roles_direct(const __grid_constant__ CUtensorMap in, float* out, Tiling tiles, unsigned* next) {
    TileRing<stages>& ring = *reinterpret_cast<TileRing<stages>*>(ring_memory);
    if (threadIdx.x == 0) {
        ring.initialise(1, turning_warps);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x < micro_threads)
        turn_and_store_role(ring, out, tiles);
    else if (threadIdx.x == micro_threads)
        load_role<deal, keep>(ring, in, tiles, next);
}

__device__ unsigned next_tile; ///< what Deal::claimed counts

/// The counter, set to 0.
inline unsigned* fresh_counter() {
    void* counter = nullptr;
    workbook::check(cudaGetSymbolAddress(&counter, next_tile), "asking for the counter of tiles");
    workbook::check(cudaMemsetAsync(counter, 0, sizeof(unsigned)), "setting the counter of tiles to 0");
    return static_cast<unsigned*>(counter);
}

/// As many blocks as stay, each with `shared` bytes of dynamic shared memory.
template <class... Params>
workbook::LaunchShape staying_shape(void (*kernel)(Params...), unsigned threads, std::size_t shared,
                                    const Tiling& tiles) {
    workbook::LaunchShape shape{.grid = tiles.count(), .block = threads, .dynamic_shared = shared};
    workbook::raise_limits(kernel, shape);
    int fit = 0;
    workbook::check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, static_cast<int>(threads), shared),
        "asking how many blocks fit");
    const int staying = workbook::device_attribute(cudaDevAttrMultiProcessorCount) * fit;
    shape.grid.x = std::min(tiles.count(), static_cast<unsigned>(staying));
    return shape;
}

template <int loaded_stages, int turned_stages, Deal deal, bool keep>
const char* launch_tma_roles(std::span<const float> in, std::span<float> out, Extent extent) {
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    if (extent.size() > 0) {
        const Tiling tiles = tiling(extent, wide_edge);
        const PanelMaps maps(in.data(), out.data(), extent);
        const auto kernel = tma_roles<loaded_stages, turned_stages, deal, keep>;
        constexpr std::size_t shared = sizeof(RoleRings<loaded_stages, turned_stages>);
        workbook::launch(kernel, staying_shape(kernel, role_threads, shared, tiles), maps.in, maps.out, tiles,
                         fresh_counter());
    }
    return "tma_roles";
}

template <int stages, Deal deal, bool keep>
const char* launch_tma_roles_direct(std::span<const float> in, std::span<float> out, Extent extent) {
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    if (extent.size() > 0) {
        const Tiling tiles = tiling(extent, wide_edge);
        const auto kernel = tma_roles_direct<stages, deal, keep>;
        workbook::launch(kernel, staying_shape(kernel, direct_threads, sizeof(TileRing<stages>), tiles),
                         matrix_map(in.data(), extent, panel_columns, wide_edge, Swizzle::bytes128),
                         out.data(), tiles, fresh_counter());
    }
    return "tma_roles_direct";
}

} // namespace transpose
