/// @file bench_fenced.cuh
/// Chapter 5's measurements: what the fence costs that a stage of bulk loads needs between the threads' reads
/// and the next load into it. Part 'paths' leaves it out.
#pragma once

#include "bench_copies.cuh"

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
