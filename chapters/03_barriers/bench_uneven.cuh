/// @file bench_uneven.cuh
/// A measurement: a ring with consumers that are unevenly busy. Full and empty barriers let each warp go on
/// when its own tile is there, a meeting lets all wait for the slowest. For each, the producers bring the
/// tiles by their loads, or one thread asks for bulk copies.
#pragma once

#include "bench_cycles.cuh"
#include "twins.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"
#include "workbook/ring.cuh"

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

inline constexpr int consumer_warps = consumer_threads / 32;

/// The 32 producers bring a tile by their loads, 16 on their way at a time.
struct Loads {
    static constexpr const char* name = "loads of 32 producers";
    static constexpr int arrivals = producer_threads; ///< at a full barrier
    /// True for those of the first warp who call bring().
    __device__ static bool chosen() { return true; }
    /// Brings tile k, and arrives at its full barrier.
    __device__ static void bring(unsigned* tile, std::uint64_t* full, const Tiles& tiles, std::size_t k) {
        bring_tile<16>(tile, tiles, k);
        mbarrier_arrive(full);
    }
};

/// One lane asks for a tile, which comes by one copy; the announcement is the arrival. Whole tiles only.
struct BulkCopy {
    static constexpr const char* name = "one bulk copy";
    static constexpr int arrivals = 1;
    __device__ static bool chosen() { return workbook::elect_one(); }
    __device__ static void bring(unsigned* tile, std::uint64_t* full, const Tiles& tiles, std::size_t k) {
        constexpr std::uint32_t bytes = buffer_size * sizeof(unsigned);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, tiles.in + tiles.start(k), bytes,
                           full);
    }
};

/// What a consumer warp does with a tile besides its part of it: `few` or `many` multiply-adds.
struct Work {
    int few;
    int many;
    bool by_clock;  ///< instead it looks at the clock until they would be done
    unsigned never; ///< an odd number
};

inline constexpr int step_cycles = 8; ///< of a multiply-add, where all warps do them

/// A random bit for each tile, the warp's own, says which it is.
struct Consumer {
    unsigned random = workbook::random_word(blockIdx.x * (block_threads / 32) + threadIdx.x / 32);

    /// The work and then consume(): the tile is in use until the end. The value is even and stays so. Only
    /// the compiler does not know, and has to compute it.
    __device__ void use(const unsigned* tile, const Tiles& tiles, std::size_t k, const Work& work) {
        __syncwarp(); // lanes that had left the wait one by one would do the work one by one
        random = random * 1664525u + 1013904223u;
        const int steps = random >> 31 != 0 ? work.many : work.few;
        const long long begin = clock64();
        while (work.by_clock && clock64() - begin < steps * step_cycles) {
        }
        const unsigned value = sync_cost::multiply_adds(tile[threadIdx.x] & ~1u, work.by_clock ? 0 : steps);
        if (value == work.never)
            tiles.out[0] = value;
        consume(tile, tiles, k);
    }
};

/// All meet after each tile; a tile is asked for `stages` - 1 tiles ahead.
template <class Source, int stages>
__global__ void __launch_bounds__(block_threads, 8) by_meeting(Tiles tiles, Work work) {
    __shared__ alignas(128) unsigned tile[stages][buffer_size];
    __shared__ workbook::RingBarriers<stages> ring;
    if (threadIdx.x == 0)
        ring.initialise(Source::arrivals, consumer_warps);
    __syncthreads();
    const bool consumes = threadIdx.x >= producer_threads;
    const bool produces = !consumes && Source::chosen();
    // [meeting-loops]
    constexpr int ahead = stages - 1;
    workbook::RingState<stages> to; // nobody waits for its phase
    workbook::RingState<stages> from;
    Consumer consumer;
    for (std::size_t k = 0; produces && k < ahead && tiles.has(k); ++k, to.advance())
        Source::bring(tile[to.index], &ring.full[to.index], tiles, k);
    for (std::size_t k = 0; tiles.has(k); ++k, to.advance(), from.advance()) {
        if (produces && tiles.has(k + ahead))
            Source::bring(tile[to.index], &ring.full[to.index], tiles, k + ahead);
        if (consumes) {
            workbook::wait_parity(&ring.full[from.index], from.phase);
            consumer.use(tile[from.index], tiles, k, work);
            ptx::fence_proxy_async(ptx::space_shared); // arrive_as_warp() has it too
        }
        __syncthreads(); // the meeting: all have read tile k
    }
    // [/meeting-loops]
}

/// Full and empty barriers: a warp may be ahead of another by as many tiles as there are stages.
template <class Source, int stages>
__global__ void __launch_bounds__(block_threads, 8) by_pair(Tiles tiles, Work work) {
    __shared__ alignas(128) unsigned tile[stages][buffer_size];
    __shared__ workbook::RingBarriers<stages> ring;
    if (threadIdx.x == 0)
        ring.initialise(Source::arrivals, consumer_warps);
    __syncthreads();
    const bool consumes = threadIdx.x >= producer_threads;
    const bool produces = !consumes && Source::chosen();
    auto to = workbook::producer_start<stages>();
    workbook::RingState<stages> from;
    Consumer consumer;
    for (std::size_t k = 0; produces && tiles.has(k); ++k, to.advance()) {
        workbook::wait_parity(&ring.empty[to.index], to.phase); // the pair: until this buffer is empty
        Source::bring(tile[to.index], &ring.full[to.index], tiles, k);
    }
    for (std::size_t k = 0; consumes && tiles.has(k); ++k, from.advance()) {
        workbook::wait_parity(&ring.full[from.index], from.phase);
        consumer.use(tile[from.index], tiles, k, work);
        workbook::arrive_as_warp(&ring.empty[from.index]); // the pair: this warp has read it
    }
}

struct Handover {
    const char* name;
    void (*kernel)(Tiles, Work);
};

/// How one row is run.
struct Setting {
    const char* source = "";
    int buffers = 0;
    int blocks_per_sm = 1;
    const char* spread = "uneven";
    int work;              ///< multiply-adds for a tile, on average over tiles and warps
    bool by_clock = false; ///< the warps wait as long instead
    int tiles;             ///< of each block
};

inline void time_ring(Bench& bench, const Handover& handover, const Setting& setting,
                      const DeviceBuffer<unsigned>& in, DeviceBuffer<unsigned>& out) {
    const bool even = setting.spread == std::string("even");
    const Work work{.few = even ? setting.work : 0,
                    .many = even ? setting.work : 2 * setting.work,
                    .by_clock = setting.by_clock,
                    .never = 1};
    const auto blocks =
        static_cast<unsigned>(setting.blocks_per_sm * bench.size(bench.device().multiprocessors, 1));
    const Tiles tiles{in.data(), out.data(), std::size_t{blocks} * setting.tiles * buffer_size};
    const std::size_t alone = setting.blocks_per_sm == 1 ? 120u * 1024 : 0; // more than half of an SM's
    const auto launch = [&](cudaStream_t) {
        workbook::launch(handover.kernel, {.grid = blocks, .block = block_threads, .dynamic_shared = alone},
                         tiles, work);
    };
    out.poison();
    DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
    launch(nullptr);
    workbook::launch(count_not_reversed, workbook::striding(tiles.size), out.data(), tiles.size,
                     wrong.data());
    if (wrong.download().front() > 0)
        return bench.wrong(std::string(handover.name) + ", " + setting.source + ", " + setting.spread +
                           ", work " + std::to_string(setting.work) + ": wrong result");
    const std::size_t bytes = 2 * tiles.size * sizeof(unsigned);
    const auto timing = bench.time_checked(bytes, launch);
    std::vector<BenchCell> cells{{"handover", handover.name},
                                 {"source", setting.source},
                                 {"buffers", setting.buffers},
                                 {"blocks_per_sm", setting.blocks_per_sm},
                                 {"spread", setting.spread},
                                 {"work", setting.work},
                                 {"busy", setting.by_clock ? "the clock" : "multiply-adds"},
                                 {"tiles", setting.tiles}};
    if (timing)
        cells.emplace_back("tile_ns", timing->median_ms * 1e6 / setting.tiles);
    bench.row("uneven_ring", workbook::joined(std::move(cells), workbook::timing_cells(timing, bytes)));
}

/// The tiles of a block, where nothing else is said.
inline int usual_tiles(const Bench& bench) { return bench.size(512, 10); }

/// All rows of one pair of kernels.
template <class Source, int stages>
void time_rings(Bench& bench, const DeviceBuffer<unsigned>& in, DeviceBuffer<unsigned>& out) {
    constexpr Handover handovers[] = {{"full and empty barriers", by_pair<Source, stages>},
                                      {"__syncthreads()", by_meeting<Source, stages>}};
    const auto time_both = [&](Setting setting) {
        setting.source = Source::name;
        setting.buffers = stages;
        for (const Handover& handover : handovers)
            time_ring(bench, handover, setting, in, out);
    };
    const int tiles = usual_tiles(bench);
    for (const int blocks_per_sm : {1, 8})
        for (const char* spread : {"even", "uneven"})
            for (const int work : bench.ends({0, 128, 512, 1024}))
                if (work > 0 || spread == std::string("even")) // no work is even
                    time_both(
                        {.blocks_per_sm = blocks_per_sm, .spread = spread, .work = work, .tiles = tiles});
    const int work = bench.size(512, 16);
    for (const char* spread : {"even", "uneven"})
        time_both({.spread = spread, .work = work, .by_clock = true, .tiles = tiles});
    for (const int fewer_or_more : {bench.size(64, 3), bench.size(4096, 20)})
        time_both({.work = work, .tiles = fewer_or_more});
}

inline void uneven_part(Bench& bench) {
    bench.table("uneven_ring", "A ring with consumers that are unevenly busy",
                workbook::joined<workbook::BenchColumn>({{"handover", "a buffer is handed over by"},
                                                         {"source", "a tile comes by"},
                                                         {"buffers", "buffers"},
                                                         {"blocks_per_sm", "blocks on an SM"},
                                                         {"spread", "the consumers' work"},
                                                         {"work", "multiply-adds for a tile, on average"},
                                                         {"busy", "a warp is kept busy by"},
                                                         {"tiles", "tiles of a block"},
                                                         {"tile_ns", "time of one tile of a block", "ns"}},
                                                        workbook::timing_columns()));
    const std::size_t most_blocks = std::size_t{8} * bench.size(bench.device().multiprocessors, 1);
    DeviceBuffer<unsigned> in(most_blocks * usual_tiles(bench) * buffer_size);
    DeviceBuffer<unsigned> out(in.size());
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(in.size()), in.data(),
                     in.size());
    time_rings<Loads, 2>(bench, in, out);
    time_rings<Loads, 4>(bench, in, out);
    time_rings<BulkCopy, 2>(bench, in, out);
    time_rings<BulkCopy, 4>(bench, in, out);
}

} // namespace uneven
