/// @file bench_fenced.cuh
/// Chapter 5's measurements: what the fence costs that a stage of bulk loads needs between the threads' reads
/// and the next load into it. Part 'paths' leaves it out.
#pragma once

#include "bench_copies.cuh"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace copy_paths {

/// The same ring of bulk loads, with its stages read and given back without a fence and with one.
struct FencedPair {
    int stages;
    void (*plain)(Job);
    void (*fenced)(Job);
};

template <int stages>
constexpr FencedPair fenced_pair() {
    return {stages, copy_by_ring<stages, false>, copy_by_ring<stages, true>};
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

/// Both kernels of a pair, one directly after the other, with one tile and one grid. Both get the same shared
/// memory, or neither is measured: a fence that changed the blocks on an SM would not be measured alone.
inline void fenced_rows(Bench& bench, Arrays& arrays, const FencedPair& pair, int tile_bytes, int blocks,
                        std::size_t each, double ceiling) {
    const std::size_t stages_bytes =
        static_cast<std::size_t>(tile_bytes) * static_cast<std::size_t>(pair.stages);
    const std::size_t shared = shared_for(pair.plain, stages_bytes, blocks);
    if (shared == 0 || shared != shared_for(pair.fenced, stages_bytes, blocks))
        return;
    for (const bool fenced : {false, true})
        tiles_row(bench, arrays,
                  {.table = "fenced_loads",
                   .name = path_names[static_cast<int>(Path::bulk)],
                   .kernel = fenced ? pair.fenced : pair.plain,
                   .stages = pair.stages,
                   .tile_bytes = tile_bytes,
                   .each = each,
                   .blocks = blocks,
                   .dynamic_shared = shared},
                  ceiling, {{"fence", fenced ? "yes" : "no"}});
}

inline void fenced_loads(Bench& bench) {
    std::vector<workbook::BenchColumn> columns = tiles_columns();
    columns.insert(columns.begin() + 1, {"fence", "fence"});
    bench.table(
        "fenced_loads",
        "Copies by bulk loads, with and without a fence of each reader before its stage is loaded anew",
        columns);
    Arrays arrays(bench.size(std::size_t{1} << 28, std::size_t{1} << 14)); // 1 GiB each
    const double ceiling = copy_row(bench, "fenced_loads", "path", "copy before", arrays.bytes());
    for (const int tile_bytes : {2048, 4096})
        for (const FencedPair& pair : {fenced_pair<1>(), fenced_pair<2>(), fenced_pair<4>()})
            for (const int blocks : {2, 6, 8}) // eight need 32 registers a thread; CUDA 13.0 gives 40
                for (const std::size_t each : {0, 4, 16})
                    fenced_rows(bench, arrays, pair, tile_bytes, blocks, each, ceiling);
    copy_row(bench, "fenced_loads", "path", "copy after", arrays.bytes());
}

} // namespace copy_paths
