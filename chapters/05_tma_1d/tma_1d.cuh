/// @file tma_1d.cuh
/// Chapter 5: bulk copies. One thread asks the Tensor Memory Accelerator to move a whole tile.
///
/// A bulk copy moves a multiple of 16 bytes between 16-byte aligned addresses (PTX ISA, cp.async.bulk). An
/// array need not be like that: split_for_bulk cuts it, and a plain kernel does the few elements that are
/// left.
#pragma once

#include "workbook/device.hpp"
#include "workbook/launch.hpp"
#include "workbook/ring.cuh"
#include "workbook/warpgroups.cuh"

#include <cuda/barrier>
#include <cuda/ptx>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

namespace tma_1d {

namespace ptx = cuda::ptx;

inline constexpr int block_threads = 128;
inline constexpr int tile_elements = 1024; // 4 KiB of int or float
inline constexpr std::size_t bulk_bytes = 16;

/// An array cut for bulk copies: the body starts 16-byte aligned and is a multiple of 16 bytes long.
template <class T>
struct BulkParts {
    std::span<T> head; ///< fewer than 16 bytes
    std::span<T> body;
    std::span<T> tail; ///< fewer than 16 bytes
};

/// Cuts `all`. Its elements are aligned to their own size, and that size divides 16.
template <class T>
BulkParts<T> split_for_bulk(std::span<T> all) {
    constexpr std::size_t per_chunk = bulk_bytes / sizeof(T);
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(all.data()) % bulk_bytes / sizeof(T);
    const std::size_t head = std::min(all.size(), (per_chunk - misplaced) % per_chunk);
    const std::size_t body = (all.size() - head) / per_chunk * per_chunk;
    return {all.first(head), all.subspan(head, body), all.subspan(head + body)};
}

/// Elements in the tile that starts at `start`.
__device__ inline int tile_count(std::size_t start, std::size_t size) {
    const std::size_t left = size - start;
    return left < tile_elements ? static_cast<int>(left) : tile_elements;
}

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

// ---- add one: load, modify, store back ----

/// The half that the three spellings share: adds one to the tile and stores it with one bulk copy.
__device__ inline void add_one_and_store(int* tile, int* data, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        tile[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared); // each writer: what I wrote, before the store reads it,
    __syncthreads();                           // and all have written
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, data, tile, count * sizeof(int));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>()); // the tile must live until it has been read
    }
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;

#pragma nv_diag_suppress static_var_with_dynamic_init // init() below sets the barriers up, not a constructor

/// First spelling: cuda::memcpy_async counts the bytes on the barrier by itself.
__global__ void add_one_memcpy_async(int* data, std::size_t size) {
    __shared__ alignas(16) int tile[tile_elements];
    __shared__ Barrier bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_elements;
    const int count = tile_count(start, size);
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::memcpy_async(tile, data + start, cuda::aligned_size_t<16>(count * sizeof(int)), bar);
    bar.wait(bar.arrive()); // all threads arrive, and wait for each other and for the bytes
    add_one_and_store(tile, data + start, count);
}

/// Second spelling: memcpy_async_tx always is a bulk copy, and the issuing thread announces its bytes.
__global__ void add_one_memcpy_async_tx(int* data, std::size_t size) {
    __shared__ alignas(16) int tile[tile_elements];
    __shared__ Barrier bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_elements;
    const int count = tile_count(start, size);
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        const auto bytes = cuda::aligned_size_t<16>(count * sizeof(int));
        cuda::device::memcpy_async_tx(tile, data + start, bytes, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, bytes);
    } else
        token = bar.arrive();
    bar.wait(std::move(token));
    add_one_and_store(tile, data + start, count);
}

#pragma nv_diag_default static_var_with_dynamic_init

/// Third spelling: the instructions themselves. Only the issuing thread arrives; the others just wait.
__global__ void add_one_ptx(int* data, std::size_t size) {
    __shared__ alignas(16) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_elements;
    const int count = tile_count(start, size);
    if (threadIdx.x == 0) {
        const std::uint32_t bytes = count * sizeof(int);
        ptx::mbarrier_init(&bar, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, data + start, bytes, &bar);
    }
    __syncthreads(); // nobody waits on a barrier that is not initialised
    wait(&bar, 0);
    add_one_and_store(tile, data + start, count);
}

/// Without TMA, for the elements that no bulk copy can take.
__global__ void add_one_plain(int* data, std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size)
        data[i] += 1;
}

inline void launch_add_one_plain(std::span<int> data) {
    workbook::launch(add_one_plain,
                     {.grid = workbook::blocks_for(data.size(), block_threads), .block = block_threads},
                     data.data(), data.size());
}

/// Adds one to an array of any size at any address: the body with `kernel`, a block per tile; the ends
/// plainly.
inline void launch_add_one(void (*kernel)(int*, std::size_t), std::span<int> data) {
    const BulkParts<int> parts = split_for_bulk(data);
    workbook::launch(kernel,
                     {.grid = workbook::blocks_for(parts.body.size(), tile_elements), .block = block_threads},
                     parts.body.data(), parts.body.size());
    launch_add_one_plain(parts.head);
    launch_add_one_plain(parts.tail);
}

inline void launch_add_one_memcpy_async(std::span<int> data) { launch_add_one(add_one_memcpy_async, data); }
inline void launch_add_one_memcpy_async_tx(std::span<int> data) {
    launch_add_one(add_one_memcpy_async_tx, data);
}
inline void launch_add_one_ptx(std::span<int> data) { launch_add_one(add_one_ptx, data); }

// ---- the same tile, addressed by offset ----

/// Adds one to a single tile of `count` elements at data + offset. A bulk copy knows no tiles, only an
/// address: any offset that is a multiple of 16 bytes will do.
__global__ void add_one_at_offset(int* data, std::size_t offset, int count) {
    __shared__ alignas(16) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0) {
        const std::uint32_t bytes = count * sizeof(int);
        ptx::mbarrier_init(&bar, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, data + offset, bytes, &bar);
    }
    __syncthreads();
    wait(&bar, 0);
    add_one_and_store(tile, data + offset, count);
}

/// Adds one to `count` elements of `data` from `offset` on; count is at most tile_elements. Throws
/// std::invalid_argument if the place is outside of the array or not a multiple of 16 bytes.
inline void launch_add_one_at_offset(std::span<int> data, std::size_t offset, std::size_t count) {
    if (offset > data.size() || count > data.size() - offset || count > tile_elements)
        throw std::invalid_argument("add_one_at_offset: the tile lies outside of the array");
    if (reinterpret_cast<std::uintptr_t>(data.data() + offset) % bulk_bytes != 0 ||
        count * sizeof(int) % bulk_bytes != 0)
        throw std::invalid_argument("add_one_at_offset: address and size must be multiples of 16 bytes");
    if (count > 0)
        workbook::launch(add_one_at_offset, {.block = block_threads}, data.data(), offset,
                         static_cast<int>(count));
}

// ---- prefetch into L2 ----

/// Asks for `bytes` at `address` to be brought into the L2 cache; a multiple of 16 each.
/// PTX ISA, cp.async.bulk.prefetch. It changes no memory and nobody can wait for it.
__device__ inline void prefetch_l2(const void* address, std::uint32_t bytes) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
                 "r"(bytes)
                 : "memory");
}

/// Adds one to every gridDim.x-th tile. With `ahead` the next tile is on its way into L2 while the block
/// works on this one; all else is the same.
template <bool ahead>
__device__ inline void add_one_to_tiles(int* data, std::size_t size) {
    __shared__ alignas(16) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0)
        ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    const std::size_t step = std::size_t{gridDim.x} * tile_elements;
    std::uint32_t parity = 0;
    for (std::size_t start = std::size_t{blockIdx.x} * tile_elements; start < size; start += step) {
        const int count = tile_count(start, size);
        if (threadIdx.x == 0) {
            const std::uint32_t bytes = count * sizeof(int);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
            ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, data + start, bytes, &bar);
            if (ahead && start + step < size)
                prefetch_l2(data + start + step, tile_count(start + step, size) * sizeof(int));
        }
        wait(&bar, parity);
        parity ^= 1;
        add_one_and_store(tile, data + start,
                          count); // ends when the tile was read, so the next load may come
    }
}

__global__ void add_one_loop(int* data, std::size_t size) { add_one_to_tiles<false>(data, size); }
__global__ void add_one_prefetch(int* data, std::size_t size) { add_one_to_tiles<true>(data, size); }

/// A grid that gives each block several of the `tiles` tiles: `per_sm` blocks on each SM at most.
inline unsigned looping_grid(std::size_t tiles, int per_sm, std::size_t tiles_per_block) {
    const auto resident =
        static_cast<std::size_t>(workbook::device_attribute(cudaDevAttrMultiProcessorCount) * per_sm);
    return static_cast<unsigned>(std::min(resident, (tiles + tiles_per_block - 1) / tiles_per_block));
}

/// Adds one to an array of any size at any address, with blocks that take several tiles.
inline void launch_add_one_tiles(void (*kernel)(int*, std::size_t), std::span<int> data) {
    const BulkParts<int> parts = split_for_bulk(data);
    const std::size_t tiles = workbook::blocks_for(parts.body.size(), tile_elements);
    workbook::launch(kernel, {.grid = looping_grid(tiles, 16, 4), .block = block_threads}, parts.body.data(),
                     parts.body.size());
    launch_add_one_plain(parts.head);
    launch_add_one_plain(parts.tail);
}

inline void launch_add_one_loop(std::span<int> data) { launch_add_one_tiles(add_one_loop, data); }
inline void launch_add_one_prefetch(std::span<int> data) { launch_add_one_tiles(add_one_prefetch, data); }

// ---- one tile ahead of its registers ----

inline constexpr int per_thread = tile_elements / block_threads;

/// Adds one, tile after tile, and stores from registers: the next tile is on its way into the same place
/// while the results of this one are written. The fence is for the reads: without it the copy may overtake
/// them.
__global__ void add_one_from_registers(int* data, std::size_t size) {
    __shared__ alignas(16) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    const auto load = [&](std::size_t start) {
        const std::uint32_t bytes = tile_count(start, size) * sizeof(int);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, data + start, bytes, &bar);
    };
    const std::size_t step = std::size_t{gridDim.x} * tile_elements;
    std::size_t start = std::size_t{blockIdx.x} * tile_elements;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        load(start);
    }
    __syncthreads(); // nobody waits on a barrier that is not initialised
    for (std::uint32_t parity = 0; start < size; start += step, parity ^= 1) {
        const int count = tile_count(start, size);
        wait(&bar, parity);
        int values[per_thread];
        for (int j = 0, i = threadIdx.x; j < per_thread; ++j, i += block_threads)
            values[j] = i < count ? tile[i] : 0;
        ptx::fence_proxy_async(ptx::space_shared); // each reader: my reads before the next copy's writes,
        __syncthreads();                           // and all have read
        if (threadIdx.x == 0 && start + step < size)
            load(start + step);
        for (int j = 0, i = threadIdx.x; j < per_thread; ++j, i += block_threads)
            if (i < count)
                data[start + i] = values[j] + 1;
    }
}

inline void launch_add_one_from_registers(std::span<int> data) {
    launch_add_one_tiles(add_one_from_registers, data);
}

// ---- a ring of bulk loads: y = a·x + y ----

inline constexpr int stages = 4;

/// Shared memory of the ring: two tiles and a barrier per stage, 32 KiB in all.
struct Ring {
    alignas(16) float x[stages][tile_elements];
    alignas(16) float y[stages][tile_elements];
    std::uint64_t full[stages];
};

/// Where the k-th tile of this block begins: each block takes every gridDim.x-th tile.
__device__ inline std::size_t tile_start(std::size_t k) {
    return (blockIdx.x + k * gridDim.x) * tile_elements;
}

/// Loads the tiles of x and y at `start` into a stage. Both copies count on the stage's one barrier.
__device__ inline void load_stage(Ring& ring, int stage, const float* x, const float* y, std::size_t start,
                                  std::size_t size) {
    const std::uint32_t bytes = tile_count(start, size) * sizeof(float);
    std::uint64_t* full = &ring.full[stage];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, 2 * bytes);
    ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, ring.x[stage], x + start, bytes, full);
    ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, ring.y[stage], y + start, bytes, full);
}

/// A stage is loaded anew in the next round, when the bulk store of its result has read it: after the first
/// round at most stages - 1 tiles are on their way.
__global__ void axpy_ring(float a, const float* x, float* y, std::size_t size) {
    __shared__ Ring ring;
    if (threadIdx.x == 0) {
        for (std::uint64_t& full : ring.full)
            ptx::mbarrier_init(&full, 1);
        for (int k = 0; k < stages && tile_start(k) < size; ++k)
            load_stage(ring, k, x, y, tile_start(k), size);
    }
    __syncthreads();
    for (std::size_t k = 0; tile_start(k) < size; ++k) {
        const int stage = k % stages;
        const int count = tile_count(tile_start(k), size);
        wait(&ring.full[stage], k / stages % 2); // the phase of a barrier flips once per lap of the ring
        for (int i = threadIdx.x; i < count; i += blockDim.x)
            ring.y[stage][i] = fmaf(a, ring.x[stage][i], ring.y[stage][i]);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + tile_start(k), ring.y[stage],
                               count * sizeof(float));
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(
                ptx::n32_t<1>());                    // all stores but this one have read their stage
            const std::size_t next = k + stages - 1; // the tile for the stage of the store before
            if (k > 0 && tile_start(next) < size)
                load_stage(ring, next % stages, x, y, tile_start(next), size);
        }
    }
    if (threadIdx.x == 0)
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// ---- the same ring with a warp that loads ----

inline constexpr int consumer_threads = block_threads;
inline constexpr int consumer_warps = consumer_threads / 32;
inline constexpr int roles_threads = consumer_threads + 32; ///< and a warp that loads

/// The producer, one thread: loads tile after tile, each as soon as its stage is empty.
__device__ inline void produce(Ring& ring, std::uint64_t* empty, const float* x, const float* y,
                               std::size_t size) {
    auto to = workbook::producer_start<stages>();
    for (std::size_t k = 0; tile_start(k) < size; ++k, to.advance()) {
        wait(&empty[to.index], to.phase);
        load_stage(ring, to.index, x, y, tile_start(k), size);
    }
}

/// A consumer: computes its part of each tile. One of them stores it, and gives the stage back when the store
/// has read it.
__device__ inline void consume(Ring& ring, std::uint64_t* empty, float a, float* y, std::size_t size) {
    workbook::RingState<stages> from;
    for (std::size_t k = 0; tile_start(k) < size; ++k, from.advance()) {
        const int stage = from.index;
        const int count = tile_count(tile_start(k), size);
        wait(&ring.full[stage], from.phase);
        for (int i = threadIdx.x; i < count; i += consumer_threads)
            ring.y[stage][i] = fmaf(a, ring.x[stage][i], ring.y[stage][i]);
        ptx::fence_proxy_async(ptx::space_shared); // each: my reads and writes, before the copies to come,
        workbook::named_sync(1, consumer_threads); // and all consumers have made theirs
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + tile_start(k), ring.y[stage],
                               count * sizeof(float));
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>()); // the store has read the stage:
            (void)ptx::mbarrier_arrive(&empty[stage]);           // it is empty
        }
    }
}

/// Four warps compute and store, a fifth loads. The block stays, and its roles meet only at full and empty.
__global__ void axpy_full_empty(float a, const float* x, float* y, std::size_t size) {
    __shared__ Ring ring;
    __shared__ std::uint64_t empty[stages];
    if (threadIdx.x == 0)
        for (int stage = 0; stage < stages; ++stage) {
            ptx::mbarrier_init(&ring.full[stage], 1); // the producer arrives, with the bytes
            ptx::mbarrier_init(&empty[stage], 1);     // the consumer that stores arrives
        }
    __syncthreads(); // the last time that all meet
    if (workbook::warp_index() < consumer_warps)
        consume(ring, empty, a, y, size);
    else if (workbook::elect_one())
        produce(ring, empty, x, y, size);
}

/// Without TMA, for the elements that no bulk copy can take.
__global__ void axpy_plain(float a, const float* x, float* y, std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size)
        y[i] = fmaf(a, x[i], y[i]);
}

inline void launch_axpy_plain(float a, std::span<const float> x, std::span<float> y) {
    workbook::launch(axpy_plain,
                     {.grid = workbook::blocks_for(y.size(), block_threads), .block = block_threads}, a,
                     x.data(), y.data(), y.size());
}

/// y = a·x + y with one rounding per element, for arrays of one size at any addresses. Where x and y lie
/// differently within their 16 bytes, no cut makes both aligned, and the plain kernel does it all.
/// @param kernel axpy_ring or axpy_full_empty, with blocks of `threads` threads
inline void launch_axpy(void (*kernel)(float, const float*, float*, std::size_t), unsigned threads, float a,
                        std::span<const float> x, std::span<float> y) {
    const BulkParts<const float> x_parts = split_for_bulk(x);
    const BulkParts<float> y_parts = split_for_bulk(y);
    if (x_parts.head.size() != y_parts.head.size())
        return launch_axpy_plain(a, x, y);
    const std::size_t tiles = workbook::blocks_for(y_parts.body.size(), tile_elements);
    workbook::launch(kernel, {.grid = looping_grid(tiles, 6, 3 * stages), .block = threads}, a,
                     x_parts.body.data(), y_parts.body.data(), y_parts.body.size());
    launch_axpy_plain(a, x_parts.head, y_parts.head);
    launch_axpy_plain(a, x_parts.tail, y_parts.tail);
}

inline void launch_axpy_ring(float a, std::span<const float> x, std::span<float> y) {
    launch_axpy(axpy_ring, block_threads, a, x, y);
}
inline void launch_axpy_full_empty(float a, std::span<const float> x, std::span<float> y) {
    launch_axpy(axpy_full_empty, roles_threads, a, x, y);
}

// ---- reduce-add into global memory ----

/// Adds every tile of `data` to `totals`: one thread per block, and no element ever enters a register.
/// The tile was written and is read by the async proxy, so that no proxy fence is needed in between.
__global__ void sum_tiles(const int* data, std::size_t size, int* totals) {
    __shared__ alignas(16) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    const std::size_t start = std::size_t{blockIdx.x} * tile_elements;
    const std::uint32_t bytes = tile_count(start, size) * sizeof(int);
    ptx::mbarrier_init(&bar, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
    ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, data + start, bytes, &bar);
    wait(&bar, 0);
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, totals, tile, bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

/// The same with one atomic addition per element; `first` is the index of data[0] in its tile.
__global__ void sum_tiles_plain(const int* data, std::size_t size, int* totals, int first) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size)
        atomicAdd(totals + (first + i) % tile_elements, data[i]);
}

/// totals[i] += the sum of data[i + k·tile_elements] over all k. `totals` has tile_elements elements. If
/// either is not 16-byte aligned, ordinary atomic additions do it.
inline void launch_sum_tiles(std::span<const int> data, std::span<int> totals) {
    if (totals.size() != tile_elements)
        throw std::invalid_argument("sum_tiles: totals must have one element per element of a tile");
    const auto plain = [&](std::span<const int> part) {
        workbook::launch(sum_tiles_plain,
                         {.grid = workbook::blocks_for(part.size(), block_threads), .block = block_threads},
                         part.data(), part.size(), totals.data(),
                         static_cast<int>((part.data() - data.data()) % tile_elements));
    };
    const BulkParts<const int> parts = split_for_bulk(data);
    if (!parts.head.empty() || !split_for_bulk(totals).head.empty())
        return plain(data);
    workbook::launch(sum_tiles, {.grid = workbook::blocks_for(parts.body.size(), tile_elements)},
                     parts.body.data(), parts.body.size(), totals.data());
    plain(parts.tail);
}

} // namespace tma_1d
