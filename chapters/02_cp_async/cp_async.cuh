/// @file cp_async.cuh
/// Chapter 2: copies from global to shared memory that no register sees, and that nobody waits for until
/// their data is needed.
///
/// As in chapter 1, the copies take the array in tiles and write each tile back in reverse order, so that
/// threads write what other threads brought.
#pragma once

#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace cp_async {

namespace cg = cooperative_groups;
using workbook::store_reversed;
using workbook::tile_count;

inline constexpr int block_threads = 256;
inline constexpr int chunk_floats = 4; ///< 16 bytes, the most that one cp.async copies
inline constexpr int tile_floats = block_threads * chunk_floats;

// ---- the instructions ----

/// An address as an instruction on shared memory wants it: 32 bits, within the block's shared memory.
__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Starts a copy of 4, 8 or 16 bytes through L1 and L2 ('cache at all levels'). Both addresses are multiples
/// of the size. `.L2::128B` has L2 fetch the rest of the 128 bytes too. PTX ISA, cp.async.
template <int bytes>
__device__ inline void cp_async_ca(void* shared, const void* global) {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(shared_address(shared)),
                 "l"(__cvta_generic_to_global(global)), "n"(bytes)
                 : "memory");
}

/// Starts a copy of 16 bytes through L2 only ('cache at global level'), the one size that `.cg` has.
__device__ inline void cp_async_cg(void* shared, const void* global) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared_address(shared)),
                 "l"(__cvta_generic_to_global(global))
                 : "memory");
}

/// Closes the group of all copies that this thread started since its last group.
__device__ inline void cp_async_commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most `pending` of this thread's groups, the newest ones, are still on their way.
template <int pending>
__device__ inline void cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Waits for all copies that this thread started, in groups or not.
__device__ inline void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ---- 4, 8 and 16 bytes per copy ----

/// 4 bytes per copy: LDGSTS instead of LDG and STS, and no register in between.
__global__ void copy_4_bytes(const float* in, float* out, std::size_t size) {
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    for (int i = threadIdx.x; i < count; i += block_threads)
        cp_async_ca<4>(tile + i, in + start + i);
    cp_async_wait_all(); // my copies have landed, and I see them;
    __syncthreads();     // everybody's have, and everybody sees all
    store_reversed(tile, out + start, count);
}

/// 8 bytes per copy, still through L1. `in` is 8-byte aligned.
__global__ void copy_8_bytes(const float* in, float* out, std::size_t size) {
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    for (int i = 2 * threadIdx.x; i + 1 < count; i += 2 * block_threads)
        cp_async_ca<8>(tile + i, in + start + i);
    if (count % 2 == 1 && threadIdx.x == 0) // the last element of the array has no partner
        cp_async_ca<4>(tile + count - 1, in + start + count - 1);
    cp_async_wait_all();
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// 16 bytes per copy, past the registers and past L1. `in` is 16-byte aligned.
__global__ void copy_16_bytes(const float* in, float* out, std::size_t size) {
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    const int first = threadIdx.x * chunk_floats;
    if (first + chunk_floats <= count)
        cp_async_cg(tile + first, in + start + first);
    else
        for (int i = first; i < count; ++i) // the last chunk of the array may be cut
            cp_async_ca<4>(tile + i, in + start + i);
    cp_async_wait_all();
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// One block per tile.
inline workbook::LaunchShape tile_shape(std::size_t size) {
    return {.grid = workbook::blocks_for(size, tile_floats), .block = block_threads};
}

inline bool is_aligned(const void* pointer, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

/// Reverses tiles of tile_floats elements. `in` and `out` have the same size and lie in device memory.
inline void launch_copy_4_bytes(std::span<const float> in, std::span<float> out) {
    workbook::launch(copy_4_bytes, tile_shape(in.size()), in.data(), out.data(), in.size());
}

/// The same with a kernel whose copies need `alignment`; an input that lies elsewhere gets 4-byte copies.
inline void launch_aligned(void (*kernel)(const float*, float*, std::size_t), std::size_t alignment,
                           std::span<const float> in, std::span<float> out) {
    if (!is_aligned(in.data(), alignment))
        return launch_copy_4_bytes(in, out);
    workbook::launch(kernel, tile_shape(in.size()), in.data(), out.data(), in.size());
}

inline void launch_copy_8_bytes(std::span<const float> in, std::span<float> out) {
    launch_aligned(copy_8_bytes, 8, in, out);
}

inline void launch_copy_16_bytes(std::span<const float> in, std::span<float> out) {
    launch_aligned(copy_16_bytes, 16, in, out);
}

// ---- hints for L2 ----

/// Starts this thread's part of a tile: 16 bytes with `copy_chunk`, or what is left of the array.
template <class CopyChunk>
__device__ inline void start_chunk(float* tile, const float* in, int count, CopyChunk copy_chunk) {
    const int first = threadIdx.x * chunk_floats;
    if (first + chunk_floats <= count)
        copy_chunk(tile + first, in + first);
    else
        for (int i = first; i < count; ++i)
            cp_async_ca<4>(tile + i, in + i);
}

/// As copy_16_bytes, but L2 fetches `prefetch` bytes around each chunk: 64, 128 or 256. Only a hint.
template <int prefetch>
__global__ void l2_prefetch(const float* in, float* out, std::size_t size) {
    static_assert(prefetch == 64 || prefetch == 128 || prefetch == 256);
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    start_chunk(tile, in + start, count, [](float* shared, const float* global) {
        asm volatile("cp.async.cg.shared.global.L2::%2B [%0], [%1], 16;" ::"r"(shared_address(shared)),
                     "l"(__cvta_generic_to_global(global)), "n"(prefetch)
                     : "memory");
    });
    cp_async_wait_all();
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// Reverses tiles of tile_floats elements.
template <int prefetch>
void launch_l2_prefetch(std::span<const float> in, std::span<float> out) {
    launch_aligned(l2_prefetch<prefetch>, 16, in, out);
}

/// As copy_16_bytes, with a policy for L2: every line of the input is the first to be evicted, as nobody will
/// read it again. PTX ISA, createpolicy.
__global__ void evict_first(const float* in, float* out, std::size_t size) {
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    start_chunk(tile, in + start, count, [policy](float* shared, const float* global) {
        asm volatile(
            "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
            "l"(__cvta_generic_to_global(global)), "l"(policy)
            : "memory");
    });
    cp_async_wait_all();
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// Reverses tiles of tile_floats elements.
inline void launch_evict_first(std::span<const float> in, std::span<float> out) {
    launch_aligned(evict_first, 16, in, out);
}

// ---- bytes that are not copied ----

/// Every chunk is written whole, but only `src-size` bytes of it come from global memory and the rest is
/// zero: 16 for most chunks, 4 to 12 for a cut one, 0 past the end. No branch, and every tile is full.
__global__ void zero_filled_tail(const float* in, float* out, std::size_t size) {
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    const int first = threadIdx.x * chunk_floats;
    const int left = count - first;
    const int src_size = (left < 0 ? 0 : left < chunk_floats ? left : chunk_floats) * sizeof(float);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(tile + first)),
                 "l"(__cvta_generic_to_global(in + start + first)), "r"(src_size)
                 : "memory");
    cp_async_wait_all();
    __syncthreads();
    store_reversed(tile, out + start, tile_floats);
}

/// Size of the output of zero_filled_tail: whole tiles.
inline std::size_t whole_tiles(std::size_t size) {
    return std::size_t{workbook::blocks_for(size, tile_floats)} * tile_floats;
}

/// Reverses tiles of tile_floats elements, the last one padded with zeros. `out` has whole_tiles(in.size())
/// elements. Throws std::invalid_argument unless it has, and `in` is 16-byte aligned.
inline void launch_zero_filled_tail(std::span<const float> in, std::span<float> out) {
    if (out.size() != whole_tiles(in.size()))
        throw std::invalid_argument("zero_filled_tail: the output must be a whole number of tiles");
    if (!is_aligned(in.data(), 16))
        throw std::invalid_argument("zero_filled_tail: the input must be 16-byte aligned");
    workbook::launch(zero_filled_tail, tile_shape(in.size()), in.data(), out.data(), in.size());
}

/// Copies the elements whose flag is not 0. For the others the predicate `ignore-src` is true: the source is
/// not read, and zeros are written.
__global__ void ignore_src(const float* in, const unsigned char* keep, float* out, std::size_t size) {
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    for (int i = threadIdx.x; i < count; i += block_threads) {
        const int ignore = keep[start + i] == 0;
        asm volatile("{\n\t"
                     ".reg .pred ignore;\n\t"
                     "setp.ne.s32 ignore, %2, 0;\n\t"
                     "cp.async.ca.shared.global [%0], [%1], 4, ignore;\n\t"
                     "}" ::"r"(shared_address(tile + i)),
                     "l"(__cvta_generic_to_global(in + start + i)), "r"(ignore)
                     : "memory");
    }
    cp_async_wait_all();
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// Reverses tiles of tile_floats elements after those without a flag became 0. One flag per element.
inline void launch_ignore_src(std::span<const float> in, std::span<const unsigned char> keep,
                              std::span<float> out) {
    workbook::launch(ignore_src, tile_shape(in.size()), in.data(), keep.data(), out.data(), in.size());
}

// ---- several groups in flight ----

/// Each block takes every gridDim.x-th tile and has `stages` tiles in shared memory: one group per tile, the
/// oldest being written back while `stages - 1` younger ones are on their way.
/// @tparam floats the size of a tile: a multiple of 4, at most 4 for each thread of the block
template <int stages, int floats = tile_floats>
__global__ void groups_in_flight(const float* in, float* out, std::size_t size) {
    static_assert(floats % chunk_floats == 0);
    __shared__ alignas(128) float tiles[stages][floats];
    const auto tile_start = [](unsigned k) { return (blockIdx.x + std::size_t{k} * gridDim.x) * floats; };
    const auto start_group = [&](unsigned k) { // past the end the group is empty, but it is a group
        const int count = tile_count(tile_start(k), floats, size);
        start_chunk(tiles[k % stages], in + tile_start(k), count,
                    [](float* shared, const float* global) { cp_async_cg(shared, global); });
        cp_async_commit_group();
    };
    for (int k = 0; k < stages - 1; ++k)
        start_group(k);
    for (unsigned k = 0; tile_start(k) < size; ++k) {
        start_group(k + stages - 1);
        cp_async_wait_group<stages - 1>(); // all but the stages - 1 newest: number k is complete
        __syncthreads();
        store_reversed(tiles[k % stages], out + tile_start(k), tile_count(tile_start(k), floats, size));
        __syncthreads(); // all have read the tile: the next group may overwrite it
    }
}

/// A grid whose blocks take `tiles_per_block` tiles each, or more if there are many.
inline unsigned looping_grid(std::size_t size, int tiles_per_block) {
    constexpr unsigned most = 8 * 132; // 8 blocks on each SM of an H200
    const std::size_t per_block = static_cast<std::size_t>(tiles_per_block) * tile_floats;
    return std::min(most, workbook::blocks_for(size, per_block));
}

/// Reverses tiles of tile_floats elements.
template <int stages>
void launch_groups_in_flight(std::span<const float> in, std::span<float> out) {
    if (!is_aligned(in.data(), 16))
        return launch_copy_4_bytes(in, out);
    workbook::launch(groups_in_flight<stages>,
                     {.grid = looping_grid(in.size(), 2 * stages), .block = block_threads}, in.data(),
                     out.data(), in.size());
}

// ---- the same in C and C++ ----

/// The C primitives: one function per instruction. 16 bytes become `.cg`, 8 and 4 bytes `.ca`.
__global__ void pipeline_primitives(const float* in, float* out, std::size_t size) {
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    const int first = threadIdx.x * chunk_floats;
    if (first + chunk_floats <= count)
        __pipeline_memcpy_async(tile + first, in + start + first, 16);
    else
        for (int i = first; i < count; ++i)
            __pipeline_memcpy_async(tile + i, in + start + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// Reverses tiles of tile_floats elements.
inline void launch_pipeline_primitives(std::span<const float> in, std::span<float> out) {
    launch_aligned(pipeline_primitives, 16, in, out);
}

/// Cooperative groups: chapter 1's without_memcpy_async with the copy made asynchronous. The group shares the
/// bytes out among its threads, in pieces of alignof(float), and `wait` is wait_group 0 and a block barrier.
__global__ void with_memcpy_async(const float* in, float* out, std::size_t size, unsigned batches) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float tile[block_threads];
    for (unsigned batch = 0; batch < batches; ++batch) {
        const std::size_t start = (std::size_t{batch} * gridDim.x + blockIdx.x) * block_threads;
        const int count = tile_count(start, block_threads, size);
        cg::memcpy_async(block, tile, in + start, count * sizeof(float));
        cg::wait(block); // all copies have landed
        workbook::add_neighbour(tile, out + start, count);
        block.sync(); // all have read
    }
}

/// The same with the next tile on its way: `wait_prior<1>` leaves the newest copy pending.
__global__ void with_wait_prior(const float* in, float* out, std::size_t size, unsigned batches) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float tiles[2][block_threads];
    const auto start_of = [](unsigned batch) {
        return (std::size_t{batch} * gridDim.x + blockIdx.x) * block_threads;
    };
    const auto copy = [&](unsigned batch) {
        const std::size_t start = start_of(batch);
        cg::memcpy_async(block, tiles[batch % 2], in + start,
                         tile_count(start, block_threads, size) * sizeof(float));
    };
    copy(0);
    for (unsigned batch = 0; batch < batches; ++batch) {
        copy(batch + 1); // after the last batch nothing is left to copy
        cg::wait_prior<1>(block);
        const std::size_t start = start_of(batch);
        workbook::add_neighbour(tiles[batch % 2], out + start, tile_count(start, block_threads, size));
        block.sync();
    }
}

/// Sums neighbours within tiles of block_threads elements; each block takes `batches` tiles.
inline void launch_batches(void (*kernel)(const float*, float*, std::size_t, unsigned),
                           std::span<const float> in, std::span<float> out, unsigned batches) {
    const std::size_t per_block = std::size_t{batches} * block_threads;
    workbook::launch(kernel, {.grid = workbook::blocks_for(in.size(), per_block), .block = block_threads},
                     in.data(), out.data(), in.size(), batches);
}

inline void launch_with_memcpy_async(std::span<const float> in, std::span<float> out, unsigned batches) {
    launch_batches(with_memcpy_async, in, out, batches);
}

inline void launch_with_wait_prior(std::span<const float> in, std::span<float> out, unsigned batches) {
    launch_batches(with_wait_prior, in, out, batches);
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;

#pragma nv_diag_suppress static_var_with_dynamic_init // init() sets the barrier up, no constructor runs

/// libcu++ with a barrier: every thread's arrival counts when its copies have landed, so that one wait stands
/// for wait_group and block barrier. A plain number of bytes promises alignof(float): 4-byte copies.
/// With cuda::aligned_size_t<16> the same call is a bulk copy on Hopper: chapter 5.
__global__ void memcpy_async_barrier(const float* in, float* out, std::size_t size) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float tile[tile_floats];
    __shared__ Barrier bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    if (block.thread_rank() == 0)
        init(&bar, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in + start, count * sizeof(float), bar);
    bar.arrive_and_wait();
    store_reversed(tile, out + start, count);
}

#pragma nv_diag_default static_var_with_dynamic_init

/// libcu++ with a pipeline of thread scope, which is a counter of this thread's groups. aligned_size_t<16>
/// promises that both addresses and the size are multiples of 16: 16-byte copies.
__global__ void memcpy_async_pipeline(const float* in, float* out, std::size_t size) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    if (count == tile_floats)
        cuda::memcpy_async(block, tile, in + start, cuda::aligned_size_t<16>(sizeof(tile)), pipe);
    else
        cuda::memcpy_async(block, tile, in + start, count * sizeof(float), pipe);
    pipe.producer_commit(); // cp.async.commit_group
    pipe.consumer_wait();   // cp.async.wait_group
    __syncthreads();
    store_reversed(tile, out + start, count);
    pipe.consumer_release();
}

/// Reverses tiles of tile_floats elements.
inline void launch_memcpy_async_barrier(std::span<const float> in, std::span<float> out) {
    workbook::launch(memcpy_async_barrier, tile_shape(in.size()), in.data(), out.data(), in.size());
}

/// Reverses tiles of tile_floats elements.
inline void launch_memcpy_async_pipeline(std::span<const float> in, std::span<float> out) {
    launch_aligned(memcpy_async_pipeline, 16, in, out);
}

// ---- when the hardware path is not taken ----

inline constexpr int tile_bytes = tile_floats * sizeof(float);

/// Bytes at any address. cooperative_groups looks at both addresses when the kernel runs: it copies with
/// cp.async only where both have the same distance to a multiple of 4, 8 or 16, and else with ordinary loads
/// and stores. Where that distance is a multiple of 2 and no more, it moves pairs of bytes and forgets the
/// last of an odd number (CUDA 13.0, cooperative_groups/details/async.h), so the kernel brings that one.
__global__ void unaligned_fallback(const unsigned char* in, unsigned char* out, std::size_t size) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) unsigned char tile[tile_bytes];
    const std::size_t start = std::size_t{blockIdx.x} * tile_bytes;
    const int count = tile_count(start, tile_bytes, size);
    const int pairs = count / 2;
    cg::memcpy_async(block, tile, in + start, std::size_t{2} * pairs);
    if (count % 2 == 1 && threadIdx.x == 0)
        tile[count - 1] = in[start + count - 1];
    cg::wait(block);
    store_reversed(tile, out + start, count);
}

/// The same bytes with libcu++, which decides when the kernel is compiled: elements of alignment 1 can never
/// be copied by cp.async, so the machine code has none. An asynchronous copy by name only.
__global__ void synchronous_fallback(const unsigned char* in, unsigned char* out, std::size_t size) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) unsigned char tile[tile_bytes];
    const std::size_t start = std::size_t{blockIdx.x} * tile_bytes;
    const int count = tile_count(start, tile_bytes, size);
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile, in + start, static_cast<std::size_t>(count), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    store_reversed(tile, out + start, count);
    pipe.consumer_release();
}

/// Reverses tiles of tile_bytes bytes.
inline void launch_bytes(void (*kernel)(const unsigned char*, unsigned char*, std::size_t),
                         std::span<const unsigned char> in, std::span<unsigned char> out) {
    workbook::launch(kernel, {.grid = workbook::blocks_for(in.size(), tile_bytes), .block = block_threads},
                     in.data(), out.data(), in.size());
}

inline void launch_unaligned_fallback(std::span<const unsigned char> in, std::span<unsigned char> out) {
    launch_bytes(unaligned_fallback, in, out);
}

inline void launch_synchronous_fallback(std::span<const unsigned char> in, std::span<unsigned char> out) {
    launch_bytes(synchronous_fallback, in, out);
}

} // namespace cp_async
