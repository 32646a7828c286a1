/// @file barriers.cuh
/// Chapter 3: cuda::barrier and the mbarrier under it. An arrival is not a wait.
#pragma once

#include "sync_and_fence.cuh"

#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

namespace barriers {

namespace ptx = cuda::ptx;
using workbook::store_reversed;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

#pragma nv_diag_suppress static_var_with_dynamic_init // init() sets barriers up, no constructor runs

// ---- cuda::barrier: arrive is not wait ----

/// Work that needs nobody else: some rounds of a random number generator. Unrolled, the compiler would make
/// one multiply-add of them.
__host__ __device__ inline unsigned own_work(unsigned value) {
#pragma unroll 1
    for (int round = 0; round < 16; ++round)
        value = value * 1664525u + 1013904223u;
    return value;
}

/// Arrives as soon as its own value is written, and waits only when it needs a neighbour's. What lies between
/// hides the time until the slowest thread has arrived.
__global__ void split_arrive_wait(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ unsigned tile[block_threads];
    __shared__ Barrier bar;
    if (threadIdx.x == 0)
        init(&bar, block_threads);
    __syncthreads(); // the barrier exists
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = tile_count(start, block_threads, size);
    const int i = threadIdx.x;
    const unsigned value = i < count ? in[start + i] : 0;
    tile[i] = value;
    Barrier::arrival_token token = bar.arrive(); // I have written
    unsigned own = own_work(value);              // meanwhile, without the others
    asm volatile("" : "+r"(own));                // now: the compiler would move the work after the wait
    bar.wait(std::move(token));                  // all have written
    if (i < count)
        out[start + i] = own ^ tile[count - 1 - i];
}

/// out[i] = own_work(in[i]) ^ the element at the opposite place of the tile.
inline void launch_split_arrive_wait(std::span<const unsigned> in, std::span<unsigned> out) {
    workbook::launch(split_arrive_wait, tile_shape(in.size()), in.data(), out.data(), in.size());
}

/// Copy and compute in batches. The barrier counts the threads and, for each, its asynchronous copies: one
/// object says 'all copies have landed' and 'all have read', phase after phase.
__global__ void with_barrier(const unsigned* in, unsigned* out, std::size_t size, unsigned batches) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) unsigned tile[block_threads];
    __shared__ Barrier bar;
    if (block.thread_rank() == 0)
        init(&bar, block.size());
    block.sync();
    for (unsigned batch = 0; batch < batches; ++batch) {
        const std::size_t start = (std::size_t{batch} * gridDim.x + blockIdx.x) * block_threads;
        const int count = tile_count(start, block_threads, size);
        cuda::memcpy_async(block, tile, in + start, count * sizeof(unsigned), bar);
        bar.arrive_and_wait(); // all copies have landed
        workbook::add_neighbour(tile, out + start, count);
        bar.arrive_and_wait(); // all have read
    }
}

/// Sums neighbours within tiles of block_threads elements; each block takes `batches` tiles.
inline void launch_with_barrier(std::span<const unsigned> in, std::span<unsigned> out, unsigned batches) {
    const std::size_t per_block = std::size_t{batches} * block_threads;
    workbook::launch(with_barrier,
                     {.grid = workbook::blocks_for(in.size(), per_block), .block = block_threads}, in.data(),
                     out.data(), in.size(), batches);
}

/// A sum by halves. In every round the upper half of the threads has done its last work: it arrives and drops
/// out, so that the next phase expects only those that are left.
__global__ void drop_out(const unsigned* in, unsigned* sums, std::size_t size) {
    __shared__ unsigned partial[block_threads];
    __shared__ Barrier bar;
    const unsigned i = threadIdx.x;
    if (i == 0)
        init(&bar, block_threads);
    __syncthreads();
    const std::size_t at = std::size_t{blockIdx.x} * block_threads + i;
    partial[i] = at < size ? in[at] : 0;
    for (unsigned half = block_threads / 2; half > 0; half /= 2) {
        if (i >= half) {
            bar.arrive_and_drop();
            return;
        }
        bar.arrive_and_wait();
        partial[i] += partial[i + half];
    }
    sums[blockIdx.x] = partial[0];
}

/// One sum modulo 2^32 per block of block_threads elements.
inline void launch_drop_out(std::span<const unsigned> in, std::span<unsigned> sums) {
    workbook::launch(drop_out, tile_shape(in.size()), in.data(), sums.data(), in.size());
}

// ---- the transaction count ----

inline constexpr int pair_tile = 1024;

/// Two arrays of one size, of different types.
struct Pair {
    const unsigned* values;
    const unsigned short* codes;
    std::size_t size;
};

/// Where the two tiles land: 4 KiB and 2 KiB.
struct PairTile {
    alignas(128) unsigned values[pair_tile];
    alignas(128) unsigned short codes[pair_tile];
};

/// Elements of a tile that bulk copies can bring: they move multiples of 16 bytes, here 8 codes.
__device__ inline int bulk_count(int count) { return count / 8 * 8; }

/// The threads bring the up to seven elements that no bulk copy can.
__device__ inline void copy_rest(PairTile& tile, const Pair& in, std::size_t start, int count) {
    const int i = bulk_count(count) + threadIdx.x;
    if (i < count) {
        tile.values[i] = in.values[start + i];
        tile.codes[i] = in.codes[start + i];
    }
}

/// Uses both tiles: the sum of value and code, last element first.
__device__ inline void store_pair_sums(const PairTile& tile, unsigned* out, int count) {
    for (int i = threadIdx.x; i < count; i += block_threads)
        out[i] = tile.values[count - 1 - i] + tile.codes[count - 1 - i];
}

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

/// True in the one thread that issues the bulk copies of a tile; in none if there is nothing for them.
__device__ inline bool issues_copies(int count) {
    return bulk_count(count) > 0 && threadIdx.x < 32 && elect_sync();
}

/// Two bulk copies of different types complete on one barrier. The elected thread announces the bytes of
/// both, the total tx-count; the phase ends when all threads have arrived and all bytes too.
__global__ void two_copies_one_barrier(Pair in, unsigned* out) {
    __shared__ PairTile tile;
    __shared__ Barrier bar;
    if (threadIdx.x == 0)
        init(&bar, block_threads);
    __syncthreads();
    const std::size_t start = std::size_t{blockIdx.x} * pair_tile;
    const int count = tile_count(start, pair_tile, in.size);
    Barrier::arrival_token token;
    if (issues_copies(count)) {
        const cuda::aligned_size_t<16> value_bytes(bulk_count(count) * sizeof(unsigned));
        const cuda::aligned_size_t<16> code_bytes(bulk_count(count) * sizeof(unsigned short));
        cuda::device::memcpy_async_tx(tile.values, in.values + start, value_bytes, bar);
        cuda::device::memcpy_async_tx(tile.codes, in.codes + start, code_bytes, bar);
        copy_rest(tile, in, start, count);
        token = cuda::device::barrier_arrive_tx(bar, 1, value_bytes + code_bytes);
    } else {
        copy_rest(tile, in, start, count);
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    store_pair_sums(tile, out + start, count);
}

/// The same by the instructions on the barrier's native handle, an mbarrier object. `expect_tx` announces
/// bytes and is no arrival: the elected thread arrives with all the others.
__global__ void two_copies_native_handle(Pair in, unsigned* out) {
    __shared__ PairTile tile;
    __shared__ Barrier bar;
    if (threadIdx.x == 0)
        init(&bar, block_threads);
    __syncthreads();
    const std::size_t start = std::size_t{blockIdx.x} * pair_tile;
    const int count = tile_count(start, pair_tile, in.size);
    if (issues_copies(count)) {
        std::uint64_t* handle = cuda::device::barrier_native_handle(bar);
        const std::uint32_t value_bytes = bulk_count(count) * sizeof(unsigned);
        const std::uint32_t code_bytes = bulk_count(count) * sizeof(unsigned short);
        cuda::device::barrier_expect_tx(bar, value_bytes + code_bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile.values, in.values + start, value_bytes,
                           handle);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile.codes, in.codes + start, code_bytes,
                           handle);
    }
    copy_rest(tile, in, start, count);
    bar.arrive_and_wait();
    store_pair_sums(tile, out + start, count);
}

/// out = values + codes, in tiles of pair_tile elements, each reversed. Throws std::invalid_argument unless
/// both inputs are 16-byte aligned and of one size.
inline void launch_two_copies(void (*kernel)(Pair, unsigned*), std::span<const unsigned> values,
                              std::span<const unsigned short> codes, std::span<unsigned> out) {
    if (reinterpret_cast<std::uintptr_t>(values.data()) % 16 != 0 ||
        reinterpret_cast<std::uintptr_t>(codes.data()) % 16 != 0)
        throw std::invalid_argument("two_copies: bulk copies need 16-byte aligned inputs");
    if (values.size() != codes.size())
        throw std::invalid_argument("two_copies: there must be as many codes as values");
    workbook::launch(kernel, {.grid = workbook::blocks_for(values.size(), pair_tile), .block = block_threads},
                     Pair{values.data(), codes.data(), values.size()}, out.data());
}

inline void launch_two_copies_one_barrier(std::span<const unsigned> values,
                                          std::span<const unsigned short> codes, std::span<unsigned> out) {
    launch_two_copies(two_copies_one_barrier, values, codes, out);
}

inline void launch_two_copies_native_handle(std::span<const unsigned> values,
                                            std::span<const unsigned short> codes, std::span<unsigned> out) {
    launch_two_copies(two_copies_native_handle, values, codes, out);
}

// ---- producers and consumers ----

inline constexpr int producer_threads = 32; ///< the first warp
inline constexpr int consumer_threads = block_threads - producer_threads;
inline constexpr int buffer_size = 512; ///< elements per buffer; there are two

/// The tiles of a block: every gridDim.x-th of the array.
struct Tiles {
    const unsigned* in;
    unsigned* out;
    std::size_t size;

    __device__ std::size_t start(std::size_t k) const { return (blockIdx.x + k * gridDim.x) * buffer_size; }
    __device__ bool has(std::size_t k) const { return start(k) < size; }
    __device__ int count(std::size_t k) const { return tile_count(start(k), buffer_size, size); }
};

/// What a producer does with a free buffer: brings tile k.
__device__ inline void produce(unsigned* buffer, const Tiles& tiles, std::size_t k) {
    for (int i = threadIdx.x; i < tiles.count(k); i += producer_threads)
        buffer[i] = tiles.in[tiles.start(k) + i];
}

/// What a consumer does with a full buffer: writes tile k back, last element first.
__device__ inline void consume(const unsigned* buffer, const Tiles& tiles, std::size_t k) {
    const int count = tiles.count(k);
    for (int i = threadIdx.x - producer_threads; i < count; i += consumer_threads)
        tiles.out[tiles.start(k) + i] = buffer[count - 1 - i];
}

__device__ inline void producer(const Tiles& tiles, unsigned (*buffer)[buffer_size], Barrier* empty,
                                Barrier* full) {
    for (std::size_t k = 0; tiles.has(k); ++k) {
        empty[k % 2].arrive_and_wait(); // the consumers have left buffer k % 2
        produce(buffer[k % 2], tiles, k);
        (void)full[k % 2].arrive(); // it is full; no need to wait for anybody
    }
}

__device__ inline void consumer(const Tiles& tiles, unsigned (*buffer)[buffer_size], Barrier* empty,
                                Barrier* full) {
    (void)empty[0].arrive(); // both buffers start empty
    (void)empty[1].arrive();
    for (std::size_t k = 0; tiles.has(k); ++k) {
        full[k % 2].arrive_and_wait(); // the producers have filled buffer k % 2
        consume(buffer[k % 2], tiles, k);
        (void)empty[k % 2].arrive(); // it is empty; no need to wait for anybody
    }
}

/// Warp specialisation: one warp only copies, seven only compute. Two buffers, and a pair of barriers for
/// each, 'full' and 'empty'. All threads take part in each barrier, but each side waits at one and only
/// arrives at the other.
__global__ void producer_consumer(Tiles tiles) {
    __shared__ unsigned buffer[2][buffer_size];
    __shared__ Barrier empty[2];
    __shared__ Barrier full[2];
    if (threadIdx.x < 2) {
        init(&empty[threadIdx.x], block_threads);
        init(&full[threadIdx.x], block_threads);
    }
    __syncthreads();
    if (threadIdx.x < producer_threads)
        producer(tiles, buffer, empty, full);
    else
        consumer(tiles, buffer, empty, full);
}

/// A grid whose blocks take about eight tiles each, or more if there are many.
inline unsigned looping_grid(std::size_t size) {
    constexpr unsigned most = 8 * 132; // 8 blocks on each SM of an H200
    return std::min(most, workbook::blocks_for(size, std::size_t{8} * buffer_size));
}

/// Reverses tiles of buffer_size elements.
inline void launch_producer_consumer(std::span<const unsigned> in, std::span<unsigned> out) {
    workbook::launch(producer_consumer, {.grid = looping_grid(in.size()), .block = block_threads},
                     Tiles{in.data(), out.data(), in.size()});
}

// ---- the same in PTX ----

/// An address as an instruction on shared memory wants it.
__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// An mbarrier object whose phases end after `count` arrivals. PTX ISA, mbarrier.init.
__device__ inline void mbarrier_init(std::uint64_t* bar, std::uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

/// One arrival. What this thread wrote before is visible to whom the phase lets go on.
__device__ inline void mbarrier_arrive(std::uint64_t* bar) {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar))
                 : "memory");
}

/// True if the phase of this parity is complete. A fresh barrier is in phase 0; the phase before it counts as
/// complete and has parity 1.
__device__ inline bool mbarrier_try_wait_parity(std::uint64_t* bar, std::uint32_t parity) {
    std::uint32_t complete;
    asm volatile("{\n\t"
                 ".reg .pred complete;\n\t"
                 "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 complete, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, complete;\n\t"
                 "}"
                 : "=r"(complete)
                 : "r"(shared_address(bar)), "r"(parity)
                 : "memory");
    return complete != 0;
}

__device__ inline void wait_parity(std::uint64_t* bar, std::uint32_t parity) {
    while (!mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// producer_consumer on bare mbarriers. A wait needs no arrival here, so 'empty' counts only the consumers
/// and 'full' only the producers. Instead of a token each side keeps the parity it waits for: the n-th use
/// of a buffer has parity n % 2. The producers' first wait is for parity 1, which passes at once, and
/// nobody has to declare the buffers empty.
__global__ void producer_consumer_mbarrier(Tiles tiles) {
    __shared__ unsigned buffer[2][buffer_size];
    __shared__ std::uint64_t empty[2];
    __shared__ std::uint64_t full[2];
    if (threadIdx.x < 2) {
        mbarrier_init(&empty[threadIdx.x], consumer_threads);
        mbarrier_init(&full[threadIdx.x], producer_threads);
    }
    __syncthreads();
    for (std::size_t k = 0; tiles.has(k); ++k) {
        const std::uint32_t parity = k / 2 % 2;
        if (threadIdx.x < producer_threads) {
            wait_parity(&empty[k % 2], parity ^ 1);
            produce(buffer[k % 2], tiles, k);
            mbarrier_arrive(&full[k % 2]);
        } else {
            wait_parity(&full[k % 2], parity);
            consume(buffer[k % 2], tiles, k);
            mbarrier_arrive(&empty[k % 2]);
        }
    }
}

/// Reverses tiles of buffer_size elements.
inline void launch_producer_consumer_mbarrier(std::span<const unsigned> in, std::span<unsigned> out) {
    workbook::launch(producer_consumer_mbarrier, {.grid = looping_grid(in.size()), .block = block_threads},
                     Tiles{in.data(), out.data(), in.size()});
}

// ---- two ways to hear of the end of a copy ----

/// The async-group: each thread waits for the groups of its own copies, and a block barrier makes it
/// everybody's.
__global__ void complete_by_group(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ unsigned tile[block_threads];
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = tile_count(start, block_threads, size);
    if (threadIdx.x < count)
        __pipeline_memcpy_async(&tile[threadIdx.x], &in[start + threadIdx.x], sizeof(unsigned));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    store_reversed(tile, out + start, count);
}

/// The mbarrier: the arrival itself is asynchronous and comes when all earlier copies of its thread have
/// landed. `.noinc`: it is the one arrival that the count expects of this thread.
__global__ void complete_by_mbarrier(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ unsigned tile[block_threads];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0)
        mbarrier_init(&bar, block_threads);
    __syncthreads();
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = tile_count(start, block_threads, size);
    if (threadIdx.x < count)
        __pipeline_memcpy_async(&tile[threadIdx.x], &in[start + threadIdx.x], sizeof(unsigned));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&bar))
                 : "memory");
    wait_parity(&bar, 0);
    store_reversed(tile, out + start, count);
}

/// Reverses tiles of block_threads elements.
inline void launch_complete_by_group(std::span<const unsigned> in, std::span<unsigned> out) {
    workbook::launch(complete_by_group, tile_shape(in.size()), in.data(), out.data(), in.size());
}

/// Reverses tiles of block_threads elements.
inline void launch_complete_by_mbarrier(std::span<const unsigned> in, std::span<unsigned> out) {
    workbook::launch(complete_by_mbarrier, tile_shape(in.size()), in.data(), out.data(), in.size());
}

#pragma nv_diag_default static_var_with_dynamic_init

} // namespace barriers
