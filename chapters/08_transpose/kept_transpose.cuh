/// @file kept_transpose.cuh
/// Chapter 8: the last rungs. They tell the L2 cache to keep what was read, though nobody will read it again.
///
/// Our guess: read lines that are kept leave the written ones little room, so that L2 writes these back soon
/// and together with their neighbours. kept_reads differs from column_walk in its loads, which have a policy
/// and leave nothing in L1, and in the number of blocks per SM, tma_kept_reads from tma_micro_tiles in the
/// policy and in the size that L2 fetches; the tuner beside this file found all of it. far_columns differs
/// from kept_reads in the order of the columns, and asks nothing in tiles that are whole.
#pragma once

#include "tma_transpose.cuh"
#include "transpose.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace transpose {

/// A policy for L2: evict last. PTX ISA, createpolicy.
__device__ inline std::uint64_t keep_policy() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/// Reads 16 bytes with a policy for L2, and leaves nothing in L1. PTX ISA, ld.global.nc.
__device__ inline uint4 load_with(const void* from, std::uint64_t policy) {
    uint4 chunk;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(chunk.x), "=r"(chunk.y), "=r"(chunk.z), "=r"(chunk.w)
                 : "l"(__cvta_generic_to_global(from)), "l"(policy));
    return chunk;
}

/// As load_box, with a policy for L2. PTX ISA, cp.async.bulk.tensor.
__device__ inline void load_box_with(float* to, const CUtensorMap& map, std::size_t column, std::size_t row,
                                     std::uint64_t* bar, std::uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(&map), "r"(static_cast<std::int32_t>(column)), "r"(static_cast<std::int32_t>(row)),
                 "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(bar))), "l"(policy)
                 : "memory");
}

/// by_micro_tiles, and what is read is kept in L2. The shared memory is dynamic, so that the launch says how
/// many blocks an SM has room for. `whole`: all rows and columns of the tile are there.
template <bool whole, class T>
__device__ void keep_and_turn(const T* in, T* out, const Extent& extent, const Corner& corner) {
    constexpr int edge = micro_edge<T>;
    extern __shared__ uint4 turned_rows[];
    auto* const tile = reinterpret_cast<uint4(*)[chunks_per_row]>(turned_rows); // [micro_tile_edge<T>]
    const auto [rows, columns] = extent;
    const int down = threadIdx.x / chunks_per_row;
    const int across = threadIdx.x % chunks_per_row;
    if (whole || (corner.row + down * edge < rows && corner.column + across * edge < columns)) {
        // [kept-loads]
        const std::uint64_t policy = keep_policy();
        const T* from = in + (corner.row + down * edge) * columns + corner.column + across * edge;
        MicroTile<T> micro;
#pragma unroll
        for (int i = 0; i < edge; ++i)
            micro.chunks[i] = load_with(from + i * columns, policy);
        // [/kept-loads]
        micro.turn();
#pragma unroll
        for (int i = 0; i < edge; ++i)
            tile[across * edge + i][down ^ across] = micro.chunks[i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < edge; ++k) {
        const int r = down + k * chunks_per_row;
        if (whole || (corner.column + r < columns && corner.row + across * edge < rows))
            *reinterpret_cast<uint4*>(out + (corner.column + r) * rows + corner.row + across * edge) =
                tile[r][across ^ (r / edge)];
    }
}

/// column_walk, and what is read is kept in L2.
template <class T>
__global__ void __launch_bounds__(micro_threads) kept_reads(const T* in, T* out, Tiling tiles) {
    keep_and_turn<false>(in, out, tiles.extent, tiles.corner(blockIdx.x, Walk::down_columns));
}

/// kept_reads, where the next column of tiles lies far away: blocks begin in the order of x, then y, then z,
/// and from one y to the next are gridDim.z columns. Some of the last columns may be none.
template <class T>
__global__ void __launch_bounds__(micro_threads) far_columns(const T* in, T* out, Extent extent) {
    constexpr std::size_t edge = micro_tile_edge<T>;
    const Corner corner{blockIdx.x * edge, (std::size_t{blockIdx.y} * gridDim.z + blockIdx.z) * edge};
    if (corner.row + edge <= extent.rows && corner.column + edge <= extent.columns)
        keep_and_turn<true>(in, out, extent, corner);
    else
        keep_and_turn<false>(in, out, extent, corner);
}

/// tma_micro_tiles, and what is read is kept in L2.
__global__ void __launch_bounds__(micro_threads)
    tma_kept_reads(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                   Tiling tiles) {
    __shared__ Panels loaded;
    __shared__ Panels turned;
    __shared__ std::uint64_t bar;
    const Corner corner = tiles.corner(blockIdx.x, Walk::down_columns);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(loaded.at));
        for (int p = 0; p < 2; ++p)
            load_box_with(loaded.at[p], in, corner.column + p * panel_columns, corner.row, &bar,
                          keep_policy());
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

/// Shared memory of a block of kept_reads and far_columns. The tile needs 16 or 32 KiB; so much leaves room
/// for four blocks per SM. Three are too few; from four on the number hardly matters where the pitch is a
/// power of two, and with 33024 columns more are better.
inline constexpr std::size_t quarter_of_shared = 56 * 1024;

template <class T>
const char* launch_kept_reads(std::span<const T> in, std::span<T> out, Extent extent) {
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    const Tiling tiles = tiling(extent, micro_tile_edge<T>);
    workbook::launch(kept_reads<T>,
                     {.grid = tiles.count(), .block = micro_threads, .dynamic_shared = quarter_of_shared},
                     in.data(), out.data(), tiles);
    return "kept_reads";
}

/// So many columns of tiles, far from each other, come before a neighbour of the first.
inline constexpr unsigned far_places = 16;

/// How far one column of tiles is from the next. Where several are under way at once they had better be
/// neighbours, and write neighbouring memory; where one keeps most of the GPU busy, the next lies far away.
/// Our guess: with a pitch of a power of two neighbours share channels of memory. The pitch is not asked.
[[nodiscard]] inline unsigned columns_apart(const Tiling& tiles) {
    const auto blocks =
        4u * static_cast<unsigned>(workbook::device_attribute(cudaDevAttrMultiProcessorCount));
    return tiles.down > blocks / 2 ? workbook::blocks_for(tiles.across, far_places) : 1;
}

/// `apart`: from one column of tiles to the next, at least 1.
template <class T>
const char* launch_columns_apart(std::span<const T> in, std::span<T> out, Extent extent, unsigned apart) {
    constexpr unsigned most = 65535; // blocks along y and z
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    const Tiling tiles = tiling(extent, micro_tile_edge<T>);
    const unsigned z = std::clamp(apart, std::max(1u, workbook::blocks_for(tiles.across, most)), most);
    workbook::launch(far_columns<T>,
                     {.grid = dim3(tiles.down, workbook::blocks_for(tiles.across, z), z),
                      .block = micro_threads,
                      .dynamic_shared = quarter_of_shared},
                     in.data(), out.data(), extent);
    return "far_columns";
}

template <class T>
const char* launch_far_columns(std::span<const T> in, std::span<T> out, Extent extent) {
    return launch_columns_apart(in, out, extent, columns_apart(tiling(extent, micro_tile_edge<T>)));
}

/// The map of the input in panels, with a word to L2: fetch 256 bytes at a time, a panel and its neighbour.
inline CUtensorMap promoted_map(const float* data, Extent extent) {
    return workbook::make_tensor_map(
        data, workbook::TensorLayout<2>{.dims = {extent.columns, extent.rows},
                                        .strides = {extent.columns * sizeof(float)},
                                        .box = {panel_columns, wide_edge},
                                        .swizzle = Swizzle::bytes128,
                                        .l2_promotion = workbook::L2Promotion::bytes256});
}

inline const char* launch_tma_kept_reads(std::span<const float> in, std::span<float> out, Extent extent) {
    check_sizes(in, out, extent);
    if (!takes_16_bytes(in, out, extent))
        return launch_padded_tile(in, out, extent);
    if (extent.size() > 0) {
        const Tiling tiles = tiling(extent, wide_edge);
        const PanelMaps maps(in.data(), out.data(), extent);
        workbook::launch(tma_kept_reads, {.grid = tiles.count(), .block = micro_threads},
                         promoted_map(in.data(), extent), maps.out, tiles);
    }
    return "tma_kept_reads";
}

} // namespace transpose
