/// @file issuers.cuh
/// Chapter 5: five ways to choose the one thread that issues a bulk copy, and nothing else. What differs is
/// what the compiler knows of the choice.
#pragma once

#include "tma_1d.cuh"

#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tma_1d {

namespace cg = cooperative_groups;

/// True in one lane of the warp, which the hardware elects. All lanes must ask. PTX ISA, elect.sync.
__device__ inline bool elect_sync() {
    std::uint32_t elected;
    asm volatile("{\n\t"
                 ".reg .pred elected;\n\t"
                 "elect.sync _|elected, 0xffffffff;\n\t"
                 "selp.u32 %0, 1, 0, elected;\n\t"
                 "}"
                 : "=r"(elected));
    return elected != 0;
}

/// What the five kernels share: `choose` calls its argument in one thread, and that one loads the tile.
template <class Choose>
__device__ inline void reverse_tile(const int* in, int* out, std::size_t size, const Choose& choose) {
    __shared__ alignas(16) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_elements;
    const int count = tile_count(start, size);
    if (threadIdx.x == 0)
        ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    choose([&] {
        const std::uint32_t bytes = count * sizeof(int);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, in + start, bytes, &bar);
    });
    wait(&bar, 0);
    workbook::store_reversed(tile, out + start, count);
}

__global__ void issue_first_thread(const int* in, int* out, std::size_t size) {
    reverse_tile(in, out, size, [](const auto& issue) {
        if (threadIdx.x == 0)
            issue();
    });
}

__global__ void issue_elected(const int* in, int* out, std::size_t size) {
    reverse_tile(in, out, size, [](const auto& issue) {
        if (threadIdx.x < 32 && elect_sync())
            issue();
    });
}

__global__ void issue_one_of_block(const int* in, int* out, std::size_t size) {
    reverse_tile(in, out, size, [](const auto& issue) { cg::invoke_one(cg::this_thread_block(), issue); });
}

__global__ void issue_one_of_warp(const int* in, int* out, std::size_t size) {
    reverse_tile(in, out, size, [](const auto& issue) {
        if (threadIdx.x < 32)
            cg::invoke_one(cg::tiled_partition<32>(cg::this_thread_block()), issue);
    });
}

__global__ void issue_one_of_coalesced(const int* in, int* out, std::size_t size) {
    reverse_tile(in, out, size, [](const auto& issue) {
        if (threadIdx.x < 32)
            cg::invoke_one(cg::coalesced_threads(), issue);
    });
}

/// Reverses tiles of tile_elements ints. Throws std::invalid_argument unless `in` is 16-byte aligned and a
/// multiple of 16 bytes long.
inline void launch_issue(void (*kernel)(const int*, int*, std::size_t), std::span<const int> in,
                         std::span<int> out) {
    if (reinterpret_cast<std::uintptr_t>(in.data()) % bulk_bytes != 0 || in.size_bytes() % bulk_bytes != 0)
        throw std::invalid_argument("issue: address and size must be multiples of 16 bytes");
    workbook::launch(kernel, {.grid = workbook::blocks_for(in.size(), tile_elements), .block = block_threads},
                     in.data(), out.data(), in.size());
}

} // namespace tma_1d
