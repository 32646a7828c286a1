/// @file bench_causes.cuh
/// Chapter 8's measurements: experiments on the reasons that the chapter gives.
#pragma once

#include "bench_sides.cuh"
#include "kept_transpose.cuh"
#include "roles_transpose.cuh"

#include "workbook/bench.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace transpose {

using workbook::BenchCell;

// ---- the same kernels with fewer blocks on each SM ----

/// Dynamic shared memory that nobody uses, so much that at most `blocks` blocks of `kernel` fit on an SM;
/// nothing if more would not fit anyway.
template <class... Params>
std::size_t filler(void (*kernel)(Params...), std::size_t blocks) {
    constexpr std::size_t per_sm = 228 * 1024; // each block takes 1 KiB more than it asks for
    cudaFuncAttributes attributes{};
    workbook::check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
                    "asking for a kernel's attributes");
    const std::size_t share = (per_sm / blocks - 1024) / 128 * 128;
    return share > attributes.sharedSizeBytes ? share - attributes.sharedSizeBytes : 0;
}

/// Times `kernel` with 1, 2, … blocks on an SM, as far as that many fit.
template <class... Params>
void crowd(Bench& bench, Sides<float>& sides, const char* name, void (*kernel)(Params...), unsigned grid,
           dim3 block, Params... params) {
    int before = 0;
    for (const int wanted : {1, 2, 3, 4, 6, 8, 16}) {
        workbook::LaunchShape shape{.grid = grid, .block = block};
        shape.dynamic_shared = filler(kernel, static_cast<std::size_t>(wanted));
        workbook::raise_limits(kernel, shape);
        int fit = 0;
        workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                            &fit, kernel, static_cast<int>(block.x * block.y), shape.dynamic_shared),
                        "asking how many blocks fit");
        if (fit == before)
            return; // its threads or registers leave no room for more
        before = fit;
        sides.poison();
        const auto launch = [&](cudaStream_t) { workbook::launch(kernel, shape, params...); };
        launch(nullptr);
        if (const auto wrong = sides.wrong_words(); wrong > 0)
            return bench.wrong(std::string(name) + ": " + std::to_string(wrong) + " wrong elements");
        const auto timing = bench.time_checked(sides.bytes(), launch, 11);
        bench.row("crowding", workbook::joined<BenchCell>({{"kernel", name},
                                                           {"threads", static_cast<int>(block.x * block.y)},
                                                           {"blocks_per_sm", fit}},
                                                          workbook::timing_cells(timing, sides.bytes())));
    }
}

inline void crowding(Bench& bench) {
    bench.table(
        "crowding", "The same kernels with fewer blocks on each SM",
        workbook::joined<workbook::BenchColumn>(
            {{"kernel", "kernel"}, {"threads", "threads of a block"}, {"blocks_per_sm", "blocks per SM"}},
            workbook::timing_columns()));
    const Extent extent = bench.size(Extent{32768, 32768}, Extent{128, 192});
    Sides<float> sides(extent);
    const float* in = sides.in().data();
    float* out = sides.out().data();
    const Extent other{extent.columns, extent.rows};
    const Tiling small = tiling(extent, tile_edge);
    const Tiling wide = tiling(extent, wide_edge);
    const unsigned tiles = small.count();
    const PanelMaps panels(in, out, extent);
    crowd(bench, sides, "shared_tile", shared_tile<float>, tiles, dim3(tile_edge, tile_rows), in, out, small);
    crowd(bench, sides, "tma_plain", tma_plain, tiles, dim3(1024),
          matrix_map(in, extent, tile_edge, tile_edge, Swizzle::none),
          matrix_map(out, other, tile_edge, tile_edge, Swizzle::none), small);
    const CUtensorMap from = matrix_map(in, extent, tile_edge, tile_edge, Swizzle::bytes128);
    const CUtensorMap to = matrix_map(out, other, tile_edge, tile_edge, Swizzle::bytes128);
    crowd(bench, sides, "tma_swizzled", tma_swizzled, tiles, dim3(1024), from, to, small);
    crowd(bench, sides, "tma_batched", tma_batched, tiles, dim3(1024 / batch), from, to, small);
    crowd(bench, sides, "tma_micro_tiles", tma_micro_tiles, wide.count(), dim3(micro_threads), panels.in,
          panels.out, wide);
    crowd(bench, sides, "column_walk", column_walk<float>, wide.count(), dim3(micro_threads), in, out, wide);
}

// ---- blocks that stay: barriers of the block, roles, and who gets which tile ----

/// One way to stay.
struct Staying {
    const char* kernel;
    const char* tiles;
    int loaded;
    int turned; ///< stages of the ring of turned tiles; 0: the threads store themselves
    const char* reads;
    const char* (*launch)(std::span<const float>, std::span<float>, Extent);
};

inline const char* stay_persistent(std::span<const float> in, std::span<float> out, Extent extent) {
    return launch_tma_persistent(in, out, extent);
}

template <Deal deal>
inline constexpr const char* deal_name = deal == Deal::fixed ? "every n-th" : "the next one, by a counter";
template <bool keep>
inline constexpr const char* reads_name = keep ? "kept" : "";

template <int loaded, int turned, Deal deal, bool keep>
constexpr Staying roles{"tma_roles", deal_name<deal>,  loaded,
                        turned,      reads_name<keep>, launch_tma_roles<loaded, turned, deal, keep>};
template <int stages, Deal deal, bool keep>
constexpr Staying direct{"tma_roles_direct",
                         deal_name<deal>,
                         stages,
                         0,
                         reads_name<keep>,
                         launch_tma_roles_direct<stages, deal, keep>};

inline constexpr Staying ways_to_stay[] = {
    {"column_walk", "one for each block", 0, 0, "", launch_column_walk<float>},
    {"kept_reads", "one for each block", 0, 0, "kept", launch_kept_reads<float>},
    {"tma_persistent", "every n-th", 3, 3, "", stay_persistent},
    roles<3, 3, Deal::fixed, false>,
    roles<3, 3, Deal::claimed, false>,
    roles<3, 3, Deal::fixed, true>,
    roles<3, 3, Deal::claimed, true>,
    roles<2, 4, Deal::fixed, true>,
    roles<2, 4, Deal::claimed, true>,
    roles<4, 4, Deal::fixed, true>,
    roles<4, 4, Deal::claimed, true>,
    direct<2, Deal::fixed, false>,
    direct<2, Deal::claimed, false>,
    direct<2, Deal::fixed, true>,
    direct<2, Deal::claimed, true>,
    direct<4, Deal::fixed, true>,
    direct<4, Deal::claimed, true>,
    direct<12, Deal::fixed, true>,
    direct<12, Deal::claimed, true>,
};

inline void staying_at(Bench& bench, Extent extent) {
    const std::string name = std::to_string(extent.rows) + " x " + std::to_string(extent.columns);
    Sides<float> sides(extent);
    const auto copy = bench.ceiling(sides.bytes());
    const double ceiling = copy ? copy->bytes_per_second(sides.bytes()) : 0;
    for (const Staying& way : ways_to_stay) {
        const auto launch = [&](cudaStream_t) { way.launch(sides.in(), sides.out(), sides.extent()); };
        sides.poison();
        launch(nullptr);
        if (const auto wrong = sides.wrong_words(); wrong > 0) {
            bench.wrong(std::string(way.kernel) + ": " + std::to_string(wrong) + " wrong elements");
            continue;
        }
        std::vector<BenchCell> cells{
            {"extent", name}, {"kernel", way.kernel}, {"tiles", way.tiles}, {"reads", way.reads}};
        if (way.loaded > 0)
            cells.push_back({"loaded", way.loaded});
        if (way.turned > 0)
            cells.push_back({"turned", way.turned});
        bench.row("staying",
                  workbook::joined<BenchCell>(
                      std::move(cells), workbook::timing_cells(bench.time_checked(sides.bytes(), launch),
                                                               sides.bytes(), ceiling)));
    }
}

inline void staying(Bench& bench) {
    bench.table("staying", "Blocks that stay, with a warp for each job: who gets which tile",
                workbook::joined<workbook::BenchColumn>({{"extent", "matrix"},
                                                         {"kernel", "kernel"},
                                                         {"tiles", "tiles of a block"},
                                                         {"loaded", "stages of loaded tiles"},
                                                         {"turned", "stages of turned tiles"},
                                                         {"reads", "reads"}},
                                                        workbook::timing_columns()));
    for (const Extent extent : {bench.size(Extent{32768, 32768}, Extent{256, 264}),
                                bench.size(Extent{8192, 8192}, Extent{128, 132})})
        staying_at(bench, extent);
}

// ---- which columns of tiles follow each other ----

/// Times kept_reads, and far_columns with columns beside each other and far apart, by turns, so that all see
/// the same clocks.
inline void columns_at(Bench& bench, Extent extent) {
    const std::string name = std::to_string(extent.rows) + " x " + std::to_string(extent.columns);
    const unsigned far = workbook::blocks_for(extent.columns, micro_tile_edge<float> * far_places);
    Sides<float> sides(extent);
    const auto copy = bench.ceiling(sides.bytes());
    const double ceiling = copy ? copy->bytes_per_second(sides.bytes()) : 0;
    for (const int turn : {1, 2})
        for (const unsigned apart : {0u, 1u, far}) {
            const auto launch = [&](cudaStream_t) {
                if (apart == 0)
                    launch_kept_reads<float>(sides.in(), sides.out(), extent);
                else
                    launch_columns_apart<float>(sides.in(), sides.out(), extent, apart);
            };
            const char* const kernel = apart == 0   ? "kept_reads"
                                       : apart == 1 ? "far_columns, neighbours"
                                                    : "far_columns, far apart";
            sides.poison();
            launch(nullptr);
            if (const auto wrong = sides.wrong_words(); wrong > 0)
                return bench.wrong(std::string(kernel) + ": " + std::to_string(wrong) + " wrong elements");
            const auto timing = bench.time_checked(sides.bytes(), launch);
            bench.row("column_order",
                      workbook::joined<BenchCell>({{"extent", name}, {"kernel", kernel}, {"turn", turn}},
                                                  workbook::timing_cells(timing, sides.bytes(), ceiling)));
        }
}

inline void columns(Bench& bench) {
    bench.table(
        "column_order", "Which columns of tiles follow each other",
        workbook::joined<workbook::BenchColumn>(
            {{"extent", "matrix"}, {"kernel", "kernel"}, {"turn", "turn"}}, workbook::timing_columns()));
    for (const Extent extent : {bench.size(Extent{32768, 32768}, Extent{256, 2056}),
                                bench.size(Extent{32768, 33024}, Extent{256, 2060}),
                                bench.size(Extent{8192, 8192}, Extent{128, 2052})})
        columns_at(bench, extent);
}

} // namespace transpose
