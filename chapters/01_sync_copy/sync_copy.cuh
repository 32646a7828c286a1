/// @file sync_copy.cuh
/// Chapter 1: copies that pass through the registers, and what they wait for.
///
/// Every copying kernel takes the array in tiles, brings a tile to shared memory and writes it back in
/// reverse order: out[start + i] = in[start + count - 1 - i]. So threads write elements that other
/// threads brought, which is why the barrier between the two steps is needed.
#pragma once

#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/random.hpp"
#include "workbook/tile.cuh"

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace sync_copy {

namespace cg = cooperative_groups;
using workbook::add_neighbour;
using workbook::store_reversed;
using workbook::tile_count;

inline constexpr int block_threads = 256;

// ---- one element per thread ----

/// Each thread brings one element: address, global memory to register (LDG), register to shared memory (STS).
__global__ void one_per_thread(const float* in, float* out, std::size_t size) {
    __shared__ float tile[block_threads];
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = tile_count(start, block_threads, size);
    if (threadIdx.x < count)
        tile[threadIdx.x] = in[start + threadIdx.x];
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// Reverses tiles of block_threads elements. `in` and `out` have the same size and lie in device memory.
inline void launch_one_per_thread(std::span<const float> in, std::span<float> out) {
    workbook::launch(one_per_thread,
                     {.grid = workbook::blocks_for(in.size(), block_threads), .block = block_threads},
                     in.data(), out.data(), in.size());
}

// ---- several elements per thread, in a loop whose length is known only at run time ----

/// Thread t brings elements t·num_per_thread + k: neighbouring threads read addresses far apart.
__global__ void loop_strided(const float* in, float* out, std::size_t size, int num_per_thread) {
    extern __shared__ float tile[]; // blockDim.x * num_per_thread
    const int tile_size = static_cast<int>(blockDim.x) * num_per_thread;
    const std::size_t start = std::size_t{blockIdx.x} * tile_size;
    const int count = tile_count(start, tile_size, size);
    for (int k = 0; k < num_per_thread; ++k) {
        const int i = threadIdx.x * num_per_thread + k;
        if (i < count)
            tile[i] = in[start + i];
    }
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// Thread t brings elements k·blockDim.x + t: a warp's 32 loads are 128 neighbouring bytes, four sectors.
__global__ void loop_coalesced(const float* in, float* out, std::size_t size, int num_per_thread) {
    extern __shared__ float tile[]; // blockDim.x * num_per_thread
    const int tile_size = static_cast<int>(blockDim.x) * num_per_thread;
    const std::size_t start = std::size_t{blockIdx.x} * tile_size;
    const int count = tile_count(start, tile_size, size);
    for (int k = 0; k < num_per_thread; ++k) {
        const int i = k * blockDim.x + threadIdx.x;
        if (i < count)
            tile[i] = in[start + i];
    }
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// Shape of both loops: tiles of block_threads · num_per_thread elements.
inline workbook::LaunchShape loop_shape(std::size_t size, int num_per_thread) {
    const auto tile_size = static_cast<std::size_t>(block_threads) * static_cast<std::size_t>(num_per_thread);
    return {.grid = workbook::blocks_for(size, tile_size),
            .block = block_threads,
            .dynamic_shared = tile_size * sizeof(float)};
}

/// Reverses tiles of block_threads · num_per_thread elements; num_per_thread from 1 to 56 (shared memory of
/// an SM).
inline void launch_loop_strided(std::span<const float> in, std::span<float> out, int num_per_thread) {
    workbook::launch(loop_strided, loop_shape(in.size(), num_per_thread), in.data(), out.data(), in.size(),
                     num_per_thread);
}

/// As launch_loop_strided, with neighbouring threads on neighbouring elements.
inline void launch_loop_coalesced(std::span<const float> in, std::span<float> out, int num_per_thread) {
    workbook::launch(loop_coalesced, loop_shape(in.size(), num_per_thread), in.data(), out.data(), in.size(),
                     num_per_thread);
}

// ---- 16 bytes per thread ----

inline constexpr int vector_width = 4;
inline constexpr int vector_tile = block_threads * vector_width;

/// Each thread brings four neighbouring elements with one 16-byte load. `in` is 16-byte aligned.
__global__ void vectorized(const float* in, float* out, std::size_t size) {
    __shared__ alignas(16) float tile[vector_tile];
    const std::size_t start = std::size_t{blockIdx.x} * vector_tile;
    const int count = tile_count(start, vector_tile, size);
    const int first = threadIdx.x * vector_width;
    if (first + vector_width <= count)
        *reinterpret_cast<float4*>(tile + first) = *reinterpret_cast<const float4*>(in + start + first);
    else
        for (int i = first; i < count; ++i) // the last vector of the array may be cut
            tile[i] = in[start + i];
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// Reverses tiles of vector_tile elements. An input that is not 16-byte aligned takes the scalar loop
/// instead.
inline void launch_vectorized(std::span<const float> in, std::span<float> out) {
    if (reinterpret_cast<std::uintptr_t>(in.data()) % sizeof(float4) != 0)
        return launch_loop_coalesced(in, out, vector_width);
    workbook::launch(vectorized,
                     {.grid = workbook::blocks_for(in.size(), vector_tile), .block = block_threads},
                     in.data(), out.data(), in.size());
}

// ---- copy and compute in batches ----

/// Each block brings one tile after the other to the same shared memory, adds to each element its right
/// neighbour, and must wait twice per tile: until all have written it, and until all have read it. While it
/// waits and while it copies, it computes nothing.
__global__ void without_memcpy_async(const float* in, float* out, std::size_t size, int batches) {
    const auto grid = cg::this_grid();
    const auto block = cg::this_thread_block();
    __shared__ float tile[block_threads];
    for (int batch = 0; batch < batches; ++batch) {
        const std::size_t start = batch * grid.size() + std::size_t{blockIdx.x} * block_threads;
        if (start >= size)
            break; // the same for all threads of the block
        const int count = tile_count(start, block_threads, size);
        if (threadIdx.x < count)
            tile[threadIdx.x] = in[start + threadIdx.x];
        block.sync(); // all have written
        add_neighbour(tile, out + start, count);
        block.sync(); // all have read
    }
}

/// Sums neighbours within tiles of block_threads elements; each block takes `batches` tiles.
inline void launch_without_memcpy_async(std::span<const float> in, std::span<float> out, int batches) {
    const std::size_t per_block = static_cast<std::size_t>(block_threads) * static_cast<std::size_t>(batches);
    workbook::launch(without_memcpy_async,
                     {.grid = workbook::blocks_for(in.size(), per_block), .block = block_threads}, in.data(),
                     out.data(), in.size(), batches);
}

// ---- the latency probe ----

/// Where a chase ended, and how many SM clock cycles it took.
struct Probe {
    unsigned end;
    long long cycles;
};

/// One thread follows a chain of indices. Each load needs the one before, so the time per step is the
/// latency.
/// `__ldcg` reads through L2 and not L1.
__global__ void chase_global(const unsigned* next, int steps, Probe* result) {
    unsigned at = 0;
    const long long begin = clock64();
    for (int step = 0; step < steps; ++step)
        at = __ldcg(next + at);
    *result = {at, clock64() - begin};
}

inline constexpr int shared_nodes = 1024;

/// The same in shared memory: the first shared_nodes indices of `next`, a chain of their own.
__global__ void chase_shared(const unsigned* next, int steps, Probe* result) {
    __shared__ unsigned chain[shared_nodes];
    for (int i = 0; i < shared_nodes; ++i)
        chain[i] = next[i];
    unsigned at = 0;
    const long long begin = clock64();
    for (int step = 0; step < steps; ++step)
        at = chain[at];
    *result = {at, clock64() - begin};
}

/// A chain of integer multiply-adds whose operands are in registers.
__global__ void chase_registers(unsigned factor, int steps, Probe* result) {
    unsigned value = 1;
    const long long begin = clock64();
    for (int step = 0; step < steps; ++step)
        value = value * factor + 1;
    *result = {value, clock64() - begin};
}

/// Follows `steps` links of a chain in global memory, and waits for the result.
inline Probe launch_chase_global(std::span<const unsigned> next, int steps) {
    workbook::DeviceBuffer<Probe> result(1);
    workbook::launch(chase_global, {}, next.data(), steps, result.data());
    return result.download().front();
}

/// Copies a chain of shared_nodes links to shared memory and follows it.
inline Probe launch_chase_shared(std::span<const unsigned> next, int steps) {
    workbook::DeviceBuffer<Probe> result(1);
    workbook::launch(chase_shared, {}, next.data(), steps, result.data());
    return result.download().front();
}

/// Computes value = value · factor + 1, starting from 1, `steps` times.
inline Probe launch_chase_registers(unsigned factor, int steps) {
    workbook::DeviceBuffer<Probe> result(1);
    workbook::launch(chase_registers, {}, factor, steps, result.data());
    return result.download().front();
}

/// A chain through all of `nodes` nodes in random order, one every `stride` words: a cycle, so no cache or
/// prefetcher can guess ahead. Words between the nodes are 0. Sattolo's algorithm makes one cycle, never
/// several.
inline std::vector<unsigned> random_cycle(std::size_t nodes, std::size_t stride, std::uint64_t seed) {
    std::vector<unsigned> order(nodes);
    std::iota(order.begin(), order.end(), 0u);
    workbook::Random random(seed);
    for (std::size_t i = nodes; i-- > 1;)
        std::swap(order[i], order[random.below(i)]);
    std::vector<unsigned> next(nodes * stride);
    for (std::size_t i = 0; i < nodes; ++i)
        next[i * stride] = order[i] * static_cast<unsigned>(stride);
    return next;
}

/// Where a chase through `next` ends after `steps` links: the reference.
inline unsigned follow(std::span<const unsigned> next, int steps) {
    unsigned at = 0;
    for (int step = 0; step < steps; ++step)
        at = next[at];
    return at;
}

} // namespace sync_copy
