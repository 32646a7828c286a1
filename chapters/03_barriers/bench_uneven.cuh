/// @file bench_uneven.cuh
/// A measurement: the ring of producer_consumer with consumers that are unevenly busy. Full and empty
/// barriers let each warp go on when its own tile is there, a meeting lets all wait for the slowest. For
/// each, the producers bring the tiles by their loads, or one thread asks for bulk copies.
#pragma once

#include "bench_cycles.cuh"
#include "twins.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace uneven {

using namespace twins;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

enum class Source {
    loads, ///< of the 32 producers, 16 on their way at a time
    bulk   ///< one copy for a tile; thread 0 is the only producer. Whole tiles only
};

/// What a consumer warp does with a tile besides its part of it: `few` or `many` multiply-adds.
struct Work {
    int few;
    int many;
    unsigned never; ///< an odd number
};

/// A random bit for each tile, the warp's own, says which it is.
struct Consumer {
    unsigned random = workbook::random_word(blockIdx.x * (block_threads / 32) + threadIdx.x / 32);

    /// The multiply-adds and then consume(): the buffer is in use until the end. The value is even and stays
    /// so. Only the compiler does not know, and has to compute it.
    __device__ void use(const unsigned* buffer, const Tiles& tiles, std::size_t k, const Work& work) {
        __syncwarp(); // lanes that had left the wait one by one would do the work one by one
        random = random * 1664525u + 1013904223u;
        const unsigned value =
            sync_cost::multiply_adds(buffer[threadIdx.x] & ~1u, random >> 31 != 0 ? work.many : work.few);
        if (value == work.never)
            tiles.out[0] = value;
        consume(buffer, tiles, k);
    }
};

/// What both sides share.
/// @tparam meets all meet after each tile; then `empty` is not used, and `full` only if copies bring the
/// tiles
template <Source source, int stages, bool meets>
struct SourceRing {
    static constexpr int buffers = stages;
    static constexpr bool counts_full = source == Source::bulk || !meets;

    alignas(128) unsigned words[buffers][buffer_size];
    Gate<Wait::parity> empty[buffers];
    Gate<Wait::parity> full[buffers];

    __device__ void set_up() {
        if (threadIdx.x < buffers) {
            empty[threadIdx.x].set_up(consumer_threads);
            full[threadIdx.x].set_up(source == Source::bulk ? 1 : producer_threads);
        }
        __syncthreads();
    }
    /// True for those of the first warp who call bring().
    __device__ static bool brings() { return source == Source::bulk ? threadIdx.x == 0 : true; }

    /// Brings tile k, and arrives at its full barrier: a copy's announcement is the arrival.
    __device__ void bring(const Tiles& tiles, std::size_t k) {
        unsigned* buffer = words[k % buffers];
        std::uint64_t* bar = &full[k % buffers].bar;
        if constexpr (source == Source::bulk) {
            constexpr std::uint32_t bytes = buffer_size * sizeof(unsigned);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
            ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, buffer, tiles.in + tiles.start(k), bytes,
                               bar);
        } else {
            bring_tile<16>(buffer, tiles, k);
            if constexpr (counts_full)
                mbarrier_arrive(bar);
        }
    }
    __device__ void await_full(std::size_t k) {
        if constexpr (counts_full)
            full[k % buffers].await(k / buffers % 2);
    }
    __device__ void await_empty(std::size_t k) { empty[k % buffers].await(k / buffers % 2 ^ 1); }
    __device__ void arrive_at_empty(std::size_t k) { empty[k % buffers].arrive(); }

    /// What a consumer does with tile k when it is there.
    __device__ void use(Consumer& consumer, const Tiles& tiles, std::size_t k, const Work& work) {
        consumer.use(words[k % buffers], tiles, k, work);
        if constexpr (source == Source::bulk)
            ptx::fence_proxy_async(ptx::space_shared); // my reads before the next copy's writes
    }
};

/// All meet after each tile; a tile is asked for `buffers` - 1 tiles ahead.
template <class Ring>
__global__ void __launch_bounds__(block_threads, 8) by_meeting(Tiles tiles, Work work) {
    constexpr std::size_t ahead = Ring::buffers - 1;
    __shared__ Ring ring;
    ring.set_up();
    Consumer consumer;
    for (std::size_t k = 0; k < ahead || tiles.has(k - ahead); ++k) {
        if (threadIdx.x < producer_threads) {
            if (tiles.has(k) && ring.brings())
                ring.bring(tiles, k);
        } else if (k >= ahead && tiles.has(k - ahead)) {
            ring.await_full(k - ahead);
            ring.use(consumer, tiles, k - ahead, work);
        }
        __syncthreads();
    }
}

/// Full and empty barriers: a warp may be ahead of another by as many tiles as there are buffers.
template <class Ring>
__global__ void __launch_bounds__(block_threads, 8) by_pair(Tiles tiles, Work work) {
    __shared__ Ring ring;
    ring.set_up();
    if (threadIdx.x < producer_threads) {
        if (ring.brings())
            for (std::size_t k = 0; tiles.has(k); ++k) {
                ring.await_empty(k);
                ring.bring(tiles, k);
            }
        return;
    }
    Consumer consumer;
    for (std::size_t k = 0; tiles.has(k); ++k) {
        ring.await_full(k);
        ring.use(consumer, tiles, k, work);
        ring.arrive_at_empty(k);
    }
}

struct Handover {
    const char* name;
    void (*kernel)(Tiles, Work);
};

/// How one row is run.
struct Setting {
    const char* source;
    int buffers;
    int blocks_per_sm;
    const char* spread;
    int work; ///< multiply-adds for a tile, on average over tiles and warps
};

inline void time_ring(Bench& bench, const Handover& handover, const Setting& setting,
                      const DeviceBuffer<unsigned>& in, DeviceBuffer<unsigned>& out) {
    const bool even = setting.spread == std::string("even");
    const Work work{
        .few = even ? setting.work : 0, .many = even ? setting.work : 2 * setting.work, .never = 1};
    const Tiles tiles{in.data(), out.data(), in.size()};
    const auto blocks =
        static_cast<unsigned>(setting.blocks_per_sm * bench.size(bench.device().multiprocessors, 1));
    const std::size_t alone = setting.blocks_per_sm == 1 ? 120u * 1024 : 0; // more than half of an SM's
    const auto launch = [&](cudaStream_t) {
        workbook::launch(handover.kernel, {.grid = blocks, .block = block_threads, .dynamic_shared = alone},
                         tiles, work);
    };
    out.poison();
    DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
    launch(nullptr);
    workbook::launch(count_not_reversed, workbook::striding(in.size()), out.data(), in.size(), wrong.data());
    if (wrong.download().front() > 0)
        return bench.wrong(std::string(handover.name) + ", " + setting.source + ", " + setting.spread +
                           ", work " + std::to_string(setting.work) + ": wrong result");
    const std::size_t bytes = 2 * in.size_bytes();
    const auto timing = bench.time_checked(bytes, launch);
    std::vector<BenchCell> cells{{"handover", handover.name},  {"source", setting.source},
                                 {"buffers", setting.buffers}, {"blocks_per_sm", setting.blocks_per_sm},
                                 {"spread", setting.spread},   {"work", setting.work}};
    if (timing)
        cells.emplace_back("tile_ns",
                           timing->median_ms * 1e6 * blocks / (static_cast<double>(in.size()) / buffer_size));
    bench.row("uneven_ring", workbook::joined(std::move(cells), workbook::timing_cells(timing, bytes)));
}

/// All rows of one pair of kernels.
template <Source source, int buffers>
void time_rings(Bench& bench, const DeviceBuffer<unsigned>& in, DeviceBuffer<unsigned>& out) {
    constexpr Handover handovers[] = {
        {"full and empty barriers", by_pair<SourceRing<source, buffers, false>>},
        {"__syncthreads()", by_meeting<SourceRing<source, buffers, true>>}};
    for (const int blocks_per_sm : {1, 8})
        for (const char* spread : {"even", "uneven"})
            for (const int work : bench.ends({0, 64, 128, 256, 512, 1024}))
                for (const Handover& handover : handovers) {
                    if (work == 0 && spread == std::string("uneven"))
                        continue; // no work is even
                    time_ring(bench, handover,
                              {.source = source == Source::bulk ? "one bulk copy" : "loads of 32 producers",
                               .buffers = buffers,
                               .blocks_per_sm = blocks_per_sm,
                               .spread = spread,
                               .work = work},
                              in, out);
                }
}

inline void uneven_part(Bench& bench) {
    bench.table("uneven_ring", "The ring of producer_consumer, with consumers that are unevenly busy",
                workbook::joined<workbook::BenchColumn>({{"handover", "a buffer is handed over by"},
                                                         {"source", "a tile comes by"},
                                                         {"buffers", "buffers"},
                                                         {"blocks_per_sm", "blocks on an SM"},
                                                         {"spread", "the consumers' work"},
                                                         {"work", "multiply-adds for a tile, on average"},
                                                         {"tile_ns", "time of one tile of a block", "ns"}},
                                                        workbook::timing_columns()));
    // As many tiles for each block, with one block on an SM or eight.
    const std::size_t most_blocks = std::size_t{8} * bench.size(bench.device().multiprocessors, 1);
    DeviceBuffer<unsigned> in(most_blocks * bench.size(64, 2) * buffer_size);
    DeviceBuffer<unsigned> out(in.size());
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(in.size()), in.data(),
                     in.size());
    time_rings<Source::loads, 2>(bench, in, out);
    time_rings<Source::loads, 4>(bench, in, out);
    time_rings<Source::bulk, 2>(bench, in, out);
    time_rings<Source::bulk, 4>(bench, in, out);
}

} // namespace uneven
