/// @file bench_spared.cuh
/// Chapter 5's measurements: what it is worth that one thread issues for all. The ring that the chapter
/// recommends, loaded by cp.async or by bulk loads, computes with each word before it is stored: the more it
/// computes, the more an instruction counts that need not be issued. cp.async also runs two rings with one
/// block barrier for each tile, as bulk loads have it: without these a difference could be the second
/// barrier's.
#pragma once

#include "bench_fenced.cuh"

#include "workbook/interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace copy_paths {

/// What becomes of a word: `times` multiply-adds.
struct Work {
    int times; ///< a multiple of work_step
    float factor;
    float addend;
};

inline constexpr int work_step = 16; ///< so many multiply-adds between two looks at the count

/// A chunk's four words, as numbers from 1 to 2, each put through the multiply-adds.
__device__ inline uint4 worked(uint4 chunk, const Work& work) {
    const auto number = [](unsigned word) { return __uint_as_float((word & 0x007fffff) | 0x3f800000); };
    float values[] = {number(chunk.x), number(chunk.y), number(chunk.z), number(chunk.w)};
    for (int done = 0; done < work.times; done += work_step)
#pragma unroll
        for (int step = 0; step < work_step; ++step)
            for (float& value : values)
                value = fmaf(value, work.factor, work.addend);
    return {__float_as_uint(values[0]), __float_as_uint(values[1]), __float_as_uint(values[2]),
            __float_as_uint(values[3])};
}

/// store_by_threads with work: each thread computes with the chunks that it stores.
__device__ inline void work_and_store(const std::byte* stage, const Job& job, std::size_t tile,
                                      const Work& work) {
    const int chunks = job.tile_bytes / chunk_bytes;
    auto* out = reinterpret_cast<uint4*>(job.out + tile * job.tile_bytes);
#pragma unroll 1
    for (int i = threadIdx.x; i < chunks; i += block_threads)
        out[i] = worked(reinterpret_cast<const uint4*>(stage)[chunks - 1 - i], work);
}

/// each_bulk_tile, loaded by all threads: each copies by cp.async and has its copies arrive on the stage's
/// barrier when they have landed. All else is as there, with one block barrier for each tile; cp.async is the
/// generic proxy, so no fence.
template <int stages, class Use>
__device__ void each_arriving_tile(const Job& job, const Use& use) {
    extern __shared__ __align__(128) std::byte memory[];
    __shared__ std::uint64_t full[stages];
    const auto stage = [&](std::size_t k) { return memory + k % stages * job.tile_bytes; };
    const auto load = [&](std::size_t k) {
        if (tile_of(k) >= job.tiles)
            return;
        start_load<Path::async_16>(stage(k), job, tile_of(k));
        const auto bar = static_cast<std::uint32_t>(__cvta_generic_to_shared(full + k % stages));
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
    };
    if (threadIdx.x == 0)
        for (std::uint64_t& bar : full)
            ptx::mbarrier_init(&bar, block_threads);
    __syncthreads(); // nobody arrives on a barrier that is not initialised
    for (int k = 0; k < stages - 1; ++k)
        load(k);
    for (std::size_t k = 0; tile_of(k) < job.tiles; ++k) {
        load(k + stages - 1);
        wait(full + k % stages, k / stages % 2);
        use(stage(k), tile_of(k));
        __syncthreads();
    }
}

/// A ring of cp.async without an mbarrier, in the order of chapter 4 that needs one block barrier for each
/// tile: it says that the tile is there and that all have read the one before. While a block waits, a stage
/// less is under way than there are.
template <int stages, class Use>
__device__ void each_tile_met_once(const Job& job, const Use& use) {
    extern __shared__ __align__(128) std::byte memory[];
    const auto stage = [&](std::size_t k) { return memory + k % stages * job.tile_bytes; };
    const auto fetch = [&](std::size_t k) {
        if (tile_of(k) < job.tiles)
            start_load<Path::async_16>(stage(k), job, tile_of(k));
        asm volatile("cp.async.commit_group;" ::: "memory"); // an empty group after the end is a group too
    };
    for (int k = 0; k < stages - 1; ++k)
        fetch(k);
    for (std::size_t k = 0; tile_of(k) < job.tiles; ++k) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        __syncthreads(); // everybody's copies of this tile have landed, and all have read the one before
        fetch(k + stages - 1);
        use(stage(k), tile_of(k));
    }
}

/// Every way of loading, with work.
template <Path path, int stages, bool fenced>
__global__ void __launch_bounds__(block_threads) work_on_tiles(const Job job, const Work work) {
    each_tile<path, stages, fenced>(
        job, [&](const std::byte* stage, std::size_t tile) { work_and_store(stage, job, tile, work); });
}

/// The same with each_arriving_tile.
template <int stages>
__global__ void __launch_bounds__(block_threads) work_on_arriving(const Job job, const Work work) {
    each_arriving_tile<stages>(
        job, [&](const std::byte* stage, std::size_t tile) { work_and_store(stage, job, tile, work); });
}

/// The same with each_tile_met_once.
template <int stages>
__global__ void __launch_bounds__(block_threads) work_met_once(const Job job, const Work work) {
    each_tile_met_once<stages>(
        job, [&](const std::byte* stage, std::size_t tile) { work_and_store(stage, job, tile, work); });
}

/// Adds to *wrong how many 16-byte chunks are not what work_on_tiles makes of the input.
__global__ void count_not_worked(const uint4* in, const uint4* out, std::size_t chunks, int per_tile,
                                 const Work work, unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < chunks; i += step) {
        const std::size_t tile = i / per_tile;
        const uint4 a = worked(in[tile * per_tile + (per_tile - 1 - i % per_tile)], work);
        const uint4 b = out[i];
        if (a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w)
            atomicAdd(wrong, 1ull);
    }
}

/// One way of loading the ring.
struct Spared {
    const char* name;
    int stages;
    bool fenced;
    void (*kernel)(Job, Work);
};

/// All ways in turns, with one amount of work. The tile, the blocks and the tiles of each are the chapter's
/// recommendation, and so are two stages. Others have three or four, because a ring that meets once needs
/// three at least, and the place of a stage among three takes a division by three.
inline void spared_rows(Bench& bench, Arrays& arrays, const std::vector<Spared>& ways, int times,
                        double ceiling) {
    constexpr int tile_bytes = 4096;
    const Job job = arrays.job(tile_bytes);
    const Work work{times, -1.0f, 3.0f}; // maps 1 … 2 to itself, and no value to one that is rounded
    std::vector<workbook::Contender> contenders;
    for (const Spared& way : ways) {
        const workbook::LaunchShape shape = ring_shape(way.kernel, job, way.stages);
        const auto launch = [=] { workbook::launch(way.kernel, shape, job, work); };
        const char* name = way.name;
        if (blocks_per_sm(way.kernel, shape.dynamic_shared) != ring_blocks)
            return bench.wrong(std::string("spared, ") + name + ": no six blocks on an SM");
        arrays.out.poison();
        launch();
        arrays.wrong.upload(std::vector<unsigned long long>{0});
        const std::size_t chunks = arrays.in.size_bytes() / chunk_bytes;
        workbook::launch(count_not_worked, workbook::striding(chunks),
                         reinterpret_cast<const uint4*>(arrays.in.data()),
                         reinterpret_cast<const uint4*>(arrays.out.data()), chunks, tile_bytes / chunk_bytes,
                         work, arrays.wrong.data());
        if (arrays.wrong.download().front() > 0)
            return bench.wrong(std::string("spared, ") + name + ", " + std::to_string(times) +
                               " multiply-adds: wrong result");
        contenders.push_back({name, launch});
    }
    std::vector<std::optional<workbook::Timing>> timings(ways.size());
    if (!bench.dry()) {
        const auto measured = workbook::measure_in_turns(contenders, {.rounds = 21, .launches = 10});
        std::copy(measured.begin(), measured.end(), timings.begin());
    }
    for (std::size_t i = 0; i < ways.size(); ++i)
        bench.row("spared_issues",
                  workbook::joined<BenchCell>({{"work", times},
                                               {"path", contenders[i].name},
                                               {"fence", ways[i].fenced ? "yes" : "no"},
                                               {"tile_bytes", tile_bytes},
                                               {"stages", ways[i].stages},
                                               {"blocks_per_sm", ring_blocks},
                                               {"tiles_per_block", ring_tiles}},
                                              workbook::timing_cells(timings[i], arrays.bytes(), ceiling)));
}

inline void spared_issues(Bench& bench) {
    bench.table("spared_issues",
                "A ring that computes with each word: loaded by every thread with cp.async, or by one",
                workbook::joined<workbook::BenchColumn>({{"path", "way to shared memory"},
                                                         {"work", "multiply-adds per word"},
                                                         {"fence", "fence"},
                                                         {"tile_bytes", "tile", "bytes"},
                                                         {"stages", "stages"},
                                                         {"blocks_per_sm", "blocks per SM"},
                                                         {"tiles_per_block", "tiles per block"}},
                                                        workbook::timing_columns()));
    Arrays arrays(bench.size(std::size_t{1} << 28, std::size_t{1} << 14)); // 1 GiB each
    const double ceiling = copy_row(bench, "spared_issues", "path", "copy before", arrays.bytes());
    const char* const wide = path_names[static_cast<int>(Path::async_16)];
    const char* const bulk = path_names[static_cast<int>(Path::bulk)];
    const char* const arriving = "cp.async, 16 bytes, arriving on mbarriers";
    const char* const met_once = "cp.async, 16 bytes, one block barrier";
    const std::vector<Spared> ways{
        {path_names[static_cast<int>(Path::async_4)], 2, false, work_on_tiles<Path::async_4, 2, false>},
        {wide, 2, false, work_on_tiles<Path::async_16, 2, false>},
        {wide, 3, false, work_on_tiles<Path::async_16, 3, false>},
        {wide, 4, false, work_on_tiles<Path::async_16, 4, false>},
        {arriving, 2, false, work_on_arriving<2>},
        {arriving, 4, false, work_on_arriving<4>},
        {met_once, 3, false, work_met_once<3>},
        {met_once, 4, false, work_met_once<4>},
        {bulk, 2, false, work_on_tiles<Path::bulk, 2, false>},
        {bulk, 2, true, work_on_tiles<Path::bulk, 2, true>},
        {bulk, 3, true, work_on_tiles<Path::bulk, 3, true>},
        {bulk, 4, true, work_on_tiles<Path::bulk, 4, true>},
    };
    for (const int times : bench.dry() ? std::vector{0, 16} : std::vector{0, 16, 32, 48, 64, 80, 96, 128})
        spared_rows(bench, arrays, ways, times, ceiling);
    copy_row(bench, "spared_issues", "path", "copy after", arrays.bytes());
}

} // namespace copy_paths
