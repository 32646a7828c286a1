/// @file copy_paths.cuh
/// One copy, all ways into shared memory: the tile's size and the number of stages are free, all else is the
/// same. The result is the input with the 16-byte chunks of each tile in reverse order, so that threads use
/// what others brought. copy_by_ring is the way that the chapter recommends, and the program runs it.
#pragma once

#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <cuda/ptx>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace copy_paths {

namespace ptx = cuda::ptx;

inline constexpr int block_threads = 256;
inline constexpr int chunk_bytes = 16;

/// How a tile gets to shared memory, and in the last case also how it leaves.
enum class Path { registers_4, registers_16, async_4, async_8, async_16, bulk, bulk_both };

inline constexpr const char* path_names[] = {"registers, 4 bytes", "registers, 16 bytes", "cp.async, 4 bytes",
                                             "cp.async, 8 bytes",  "cp.async, 16 bytes",  "bulk load",
                                             "bulk load and store"};

/// What a kernel copies: whole tiles of chunks.
struct Job {
    const std::byte* in;
    std::byte* out;
    std::size_t tiles;
    int tile_bytes;
};

template <int bytes>
__device__ void async_copy(std::byte* to, const std::byte* from) {
    const auto shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from), "n"(bytes)
                     : "memory");
}

/// The bytes that one access of a path moves; 0 for bulk copies, which move tiles.
__host__ __device__ constexpr int access_bytes(Path path) {
    switch (path) {
    case Path::registers_4:
    case Path::async_4:
        return 4;
    case Path::async_8:
        return 8;
    case Path::registers_16:
    case Path::async_16:
        return 16;
    default:
        return 0;
    }
}

__host__ __device__ constexpr bool is_bulk(Path path) {
    return path == Path::bulk || path == Path::bulk_both;
}
__host__ __device__ constexpr bool is_async(Path path) {
    return path != Path::registers_4 && path != Path::registers_16;
}

/// Brings `bytes` through registers: as many loads as fit into 64 bytes of registers before the first store.
template <class T>
__device__ void through_registers(std::byte* to, const std::byte* from, int bytes) {
    constexpr int batch = 64 / sizeof(T);
    constexpr int stride = block_threads * sizeof(T);
    for (int first = threadIdx.x * sizeof(T); first < bytes; first += batch * stride) {
        T values[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k)
            if (first + k * stride < bytes)
                values[k] = *reinterpret_cast<const T*>(from + first + k * stride);
#pragma unroll
        for (int k = 0; k < batch; ++k)
            if (first + k * stride < bytes)
                *reinterpret_cast<T*>(to + first + k * stride) = values[k];
    }
}

/// Which tile is this block's tile number k: each block takes every gridDim.x-th.
__device__ inline std::size_t tile_of(std::size_t k) { return blockIdx.x + k * gridDim.x; }

/// Starts the bulk load of the block's tile k, if there is one. All threads call it, and one arrives on the
/// stage's barrier, announces the bytes and asks.
template <int stages>
__device__ void load_tile(std::size_t k, const Job& job, std::byte* memory, std::uint64_t* full) {
    if (tile_of(k) >= job.tiles)
        return;
    std::byte* stage = memory + k % stages * job.tile_bytes;
    std::uint64_t* bar = full + k % stages;
    const std::byte* from = job.in + tile_of(k) * job.tile_bytes;
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar,
                                       job.tile_bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, stage, from, job.tile_bytes, bar);
    }
}

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// Starts the load of a tile by all threads (or, through registers, does it).
template <Path path>
__device__ void start_load(std::byte* stage, const Job& job, std::size_t tile) {
    const std::byte* from = job.in + tile * job.tile_bytes;
    if constexpr (path == Path::registers_4)
        through_registers<std::uint32_t>(stage, from, job.tile_bytes);
    else if constexpr (path == Path::registers_16)
        through_registers<uint4>(stage, from, job.tile_bytes);
    else {
        constexpr int bytes = access_bytes(path);
        for (int i = threadIdx.x * bytes; i < job.tile_bytes; i += block_threads * bytes)
            async_copy<bytes>(stage + i, from + i);
    }
}

/// Turns the order of a tile's chunks around and stores it with 16 bytes per access.
__device__ inline void store_by_threads(const std::byte* stage, const Job& job, std::size_t tile) {
    const int chunks = job.tile_bytes / chunk_bytes;
    auto* out = reinterpret_cast<uint4*>(job.out + tile * job.tile_bytes);
    for (int i = threadIdx.x; i < chunks; i += block_threads)
        out[i] = reinterpret_cast<const uint4*>(stage)[chunks - 1 - i];
}

/// The same turned in shared memory, each thread exchanging its pairs, and stored by one bulk copy.
__device__ inline void store_by_bulk(std::byte* stage, const Job& job, std::size_t tile) {
    const int chunks = job.tile_bytes / chunk_bytes;
    auto* all = reinterpret_cast<uint4*>(stage);
    for (int i = threadIdx.x; i < chunks / 2; i += block_threads) {
        const uint4 low = all[i];
        all[i] = all[chunks - 1 - i];
        all[chunks - 1 - i] = low;
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, job.out + tile * job.tile_bytes, stage,
                           job.tile_bytes);
        ptx::cp_async_bulk_commit_group();
    }
}

/// Waits until the tile number k of this block, the oldest that is on its way, is there for all threads.
template <Path path, int stages>
__device__ void wait_for_tile(std::size_t k, std::uint64_t* full) {
    if constexpr (is_bulk(path))
        return wait(full + k % stages, k / stages % 2);
    if constexpr (is_async(path))
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
    __syncthreads();
}

/// The ring that chapter 5 recommends. Each block takes every gridDim.x-th tile, with up to `stages` tiles on
/// their way by bulk loads, and calls `use(stage, tile)` with all its threads for each. `use` takes from the
/// stage what it needs and stores by itself.
/// @tparam fenced each reader executes the proxy fence that its reads owe the next load into the stage. It is
///                left out only to measure what it costs
template <int stages, bool fenced, class Use>
__device__ void each_bulk_tile(const Job& job, const Use& use) {
    extern __shared__ __align__(128) std::byte memory[]; // a tile for each stage
    __shared__ std::uint64_t full[stages];
    if (threadIdx.x == 0)
        for (std::uint64_t& bar : full)
            ptx::mbarrier_init(&bar, 1);
    for (int k = 0; k < stages - 1; ++k)
        load_tile<stages>(k, job, memory, full);
    __syncthreads();
    for (std::size_t k = 0; tile_of(k) < job.tiles; ++k) {
        load_tile<stages>(k + stages - 1, job, memory, full);
        wait(full + k % stages, k / stages % 2);
        use(memory + k % stages * job.tile_bytes, tile_of(k));
        if constexpr (fenced)
            ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
    }
}

/// The ring as a kernel: copies each tile, turned around.
template <int stages, bool fenced>
__global__ void __launch_bounds__(block_threads) copy_by_ring(const Job job) {
    each_bulk_tile<stages, fenced>(
        job, [&](const std::byte* stage, std::size_t tile) { store_by_threads(stage, job, tile); });
}

/// Blocks that fit on an SM with this much dynamic shared memory.
template <class Kernel>
int blocks_per_sm(Kernel* kernel, std::size_t shared) {
    // The kernel's own barriers count against the default limit too, so it is raised for all.
    workbook::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(shared)),
                    "asking for shared memory");
    int blocks = 0;
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_threads, shared),
                    "asking how many blocks fit");
    return blocks;
}

/// Dynamic shared memory of a block by which just `blocks` blocks are on an SM at a time: what the stages
/// need if that does it, else so much that no more blocks fit. 0 if so many do not fit, by their registers or
/// threads.
template <class Kernel>
std::size_t shared_for(Kernel* kernel, std::size_t stages_bytes, int blocks) {
    const int most = blocks_per_sm(kernel, stages_bytes);
    if (most <= blocks)
        return most == blocks ? stages_bytes : 0;
    constexpr std::size_t per_sm = 228 * 1024;
    constexpr std::size_t besides = 1024 + 128; // what the system takes for a block, and the barriers
    const std::size_t share = per_sm / static_cast<std::size_t>(blocks) / 128 * 128 - besides;
    return blocks_per_sm(kernel, share) == blocks ? share : 0;
}

/// How the chapter's ring is launched: so many tiles to a block, and so many blocks on an SM at a time.
inline constexpr std::size_t ring_tiles = 4;
inline constexpr int ring_blocks = 6;

/// The launch of the chapter's ring. A block always has the shared memory that its stages need, also where
/// fewer than ring_blocks fit on an SM; whoever needs just so many checks it.
template <class Kernel>
workbook::LaunchShape ring_shape(Kernel* kernel, const Job& job, int stages) {
    const std::size_t bytes = static_cast<std::size_t>(job.tile_bytes) * static_cast<std::size_t>(stages);
    return {.grid = workbook::blocks_for(job.tiles, ring_tiles),
            .block = block_threads,
            .dynamic_shared = std::max(bytes, shared_for(kernel, bytes, ring_blocks))};
}

/// The tiles of launch_copy_by_ring.
inline constexpr int ring_tile_bytes = 4096;

/// Without TMA, for what is no whole tile.
__global__ void copy_plain(const int* in, int* out, std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size)
        out[i] = in[i];
}

/// Copies `in` to `out`, of the same size. The ring takes the whole tiles, and each arrives with its 16-byte
/// chunks in reverse order; what is left behind them is copied as it is. Throws std::invalid_argument unless
/// both begin at a multiple of 16 bytes.
inline void launch_copy_by_ring(std::span<const int> in, std::span<int> out) {
    const Job job{reinterpret_cast<const std::byte*>(in.data()), reinterpret_cast<std::byte*>(out.data()),
                  in.size_bytes() / ring_tile_bytes, ring_tile_bytes};
    if (reinterpret_cast<std::uintptr_t>(job.in) % chunk_bytes != 0 ||
        reinterpret_cast<std::uintptr_t>(job.out) % chunk_bytes != 0)
        throw std::invalid_argument("copy_by_ring: both addresses must be multiples of 16 bytes");
    constexpr int stages = 2;
    const auto kernel = copy_by_ring<stages, true>;
    workbook::launch(kernel, ring_shape(kernel, job, stages), job);
    const std::size_t done = job.tiles * ring_tile_bytes / sizeof(int);
    const std::size_t left = in.size() - done;
    workbook::launch(copy_plain, {.grid = workbook::blocks_for(left, block_threads), .block = block_threads},
                     in.data() + done, out.data() + done, left);
}

/// Every other way of loading, as each_bulk_tile.
template <Path path, int stages, class Use>
__device__ void each_other_tile(const Job& job, const Use& use) {
    extern __shared__ __align__(128) std::byte memory[];
    __shared__ std::uint64_t full[stages];
    const auto stage = [&](std::size_t k) { return memory + k % stages * job.tile_bytes; };
    const auto fetch = [&](std::size_t k) {
        if constexpr (is_bulk(path))
            load_tile<stages>(k, job, memory, full);
        else if (tile_of(k) < job.tiles)
            start_load<path>(stage(k), job, tile_of(k));
        if constexpr (is_async(path) && !is_bulk(path)) // an empty group after the end is a group too
            asm volatile("cp.async.commit_group;" ::: "memory");
    };
    if (is_bulk(path) && threadIdx.x == 0)
        for (std::uint64_t& bar : full)
            ptx::mbarrier_init(&bar, 1);
    // A stage that a bulk copy stores is loaded anew one tile later, so that nobody waits for the newest
    // store.
    constexpr int unread = path == Path::bulk_both && stages > 2 ? 1 : 0;
    constexpr int ahead = stages - 1 - unread;
    for (int k = 0; k < ahead; ++k)
        fetch(k);
    __syncthreads();
    for (std::size_t k = 0; tile_of(k) < job.tiles; ++k) {
        if constexpr (path == Path::bulk_both) {
            if (threadIdx.x == 0)
                ptx::cp_async_bulk_wait_group_read(ptx::n32_t<unread>());
        }
        fetch(k + ahead);
        wait_for_tile<path, stages>(k, full);
        use(stage(k), tile_of(k));
        __syncthreads(); // all have read the stage
    }
    if (path == Path::bulk_both && threadIdx.x == 0)
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

/// Every way of loading: calls `use(stage, tile)` for each tile of the block.
template <Path path, int stages, bool fenced, class Use>
__device__ void each_tile(const Job& job, const Use& use) {
    static_assert(!fenced || path == Path::bulk,
                  "only there do threads read what a bulk copy then overwrites");
    if constexpr (path == Path::bulk)
        each_bulk_tile<stages, fenced>(job, use);
    else
        each_other_tile<path, stages>(job, use);
}

/// Copies each tile, turned around.
template <Path path, int stages>
__global__ void __launch_bounds__(block_threads) copy_tiles(const Job job) {
    each_tile<path, stages, false>(job, [&](std::byte* stage, std::size_t tile) {
        if constexpr (path == Path::bulk_both)
            store_by_bulk(stage, job, tile);
        else
            store_by_threads(stage, job, tile);
    });
}

} // namespace copy_paths
