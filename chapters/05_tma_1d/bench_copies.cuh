/// @file bench_copies.cuh
/// What the measurements of copies by way of shared memory share: the arrays, the driver's copy, and a row
/// for one kernel with one tile and one grid.
#pragma once

#include "copy_paths.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace copy_paths {

using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

/// Adds to *wrong how many 16-byte chunks are not those of the input, turned around tile by tile.
__global__ void count_not_turned(const uint4* in, const uint4* out, std::size_t chunks, int per_tile,
                                 unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < chunks; i += step) {
        const std::size_t tile = i / per_tile;
        const uint4 a = in[tile * per_tile + (per_tile - 1 - i % per_tile)];
        const uint4 b = out[i];
        if (a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w)
            atomicAdd(wrong, 1ull);
    }
}

/// What is copied, and where to.
struct Arrays {
    explicit Arrays(std::size_t words) : in(words), out(words), wrong(1) {
        workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(words), in.data(), words);
    }
    [[nodiscard]] std::size_t bytes() const { return 2 * in.size_bytes(); }
    [[nodiscard]] Job job(int tile_bytes) {
        return {reinterpret_cast<const std::byte*>(in.data()), reinterpret_cast<std::byte*>(out.data()),
                in.size_bytes() / static_cast<std::size_t>(tile_bytes), tile_bytes};
    }
    [[nodiscard]] bool turned(int tile_bytes) {
        wrong.upload(std::vector<unsigned long long>{0});
        const std::size_t chunks = in.size_bytes() / chunk_bytes;
        workbook::launch(
            count_not_turned, workbook::striding(chunks), reinterpret_cast<const uint4*>(in.data()),
            reinterpret_cast<const uint4*>(out.data()), chunks, tile_bytes / chunk_bytes, wrong.data());
        return wrong.download().front() == 0;
    }
    DeviceBuffer<unsigned> in;
    DeviceBuffer<unsigned> out;
    DeviceBuffer<unsigned long long> wrong;
};

/// A row for the driver's copy of `bytes` read plus written, and its rate in bytes per second.
inline double copy_row(Bench& bench, const std::string& table, const char* column, const char* name,
                       std::size_t bytes) {
    const auto timing = bench.ceiling(bytes);
    const double rate = timing ? timing->bytes_per_second(bytes) : 0;
    bench.row(table,
              workbook::joined<BenchCell>({{column, name}}, workbook::timing_cells(timing, bytes, rate)));
    return rate;
}

/// One kernel, one tile, one grid.
struct Tiles {
    const char* table;
    const char* name;
    void (*kernel)(Job);
    int stages;
    int tile_bytes;
    std::size_t each;           ///< tiles that a block takes before it ends; 0: as many blocks as fit stay
    int blocks;                 ///< on an SM at a time
    std::size_t dynamic_shared; ///< of a block; what the stages do not need keeps other blocks away
};

/// The columns that tiles_row fills.
inline std::vector<workbook::BenchColumn> tiles_columns() {
    return workbook::joined<workbook::BenchColumn>({{"path", "way to shared memory"},
                                                    {"tile_bytes", "tile", "bytes"},
                                                    {"stages", "stages"},
                                                    {"blocks_per_sm", "blocks per SM"},
                                                    {"tiles_per_block", "tiles per block, 0: blocks stay"},
                                                    {"in_flight", "stages of an SM", "bytes"}},
                                                   workbook::timing_columns());
}

/// Copies, checks the copy, and adds the times to the table with `cells` before them.
inline void tiles_row(Bench& bench, Arrays& arrays, const Tiles& tiles, double ceiling,
                      const std::vector<BenchCell>& cells = {}) {
    const Job job = arrays.job(tiles.tile_bytes);
    const auto staying = static_cast<std::size_t>(bench.device().multiprocessors * tiles.blocks);
    const std::size_t most = tiles.each > 0 ? (job.tiles + tiles.each - 1) / tiles.each : staying;
    const auto launch = [&](cudaStream_t) {
        workbook::launch(tiles.kernel,
                         {.grid = static_cast<unsigned>(std::min(most, job.tiles)),
                          .block = block_threads,
                          .dynamic_shared = tiles.dynamic_shared},
                         job);
    };
    arrays.out.poison();
    launch(nullptr);
    if (!arrays.turned(tiles.tile_bytes))
        return bench.wrong(std::string(tiles.table) + ", " + tiles.name + ", tiles of " +
                           std::to_string(tiles.tile_bytes) + " bytes, " + std::to_string(tiles.stages) +
                           " stages: wrong result");
    const std::size_t stages =
        static_cast<std::size_t>(tiles.tile_bytes) * static_cast<std::size_t>(tiles.stages);
    const auto timing = bench.time_checked(arrays.bytes(), launch);
    bench.row(tiles.table, workbook::joined<BenchCell>(
                               workbook::joined<BenchCell>(
                                   {{"path", tiles.name},
                                    {"tile_bytes", tiles.tile_bytes},
                                    {"stages", tiles.stages},
                                    {"blocks_per_sm", tiles.blocks},
                                    {"tiles_per_block", tiles.each},
                                    {"in_flight", stages * static_cast<std::size_t>(tiles.blocks)}},
                                   cells),
                               workbook::timing_cells(timing, arrays.bytes(), ceiling)));
}

} // namespace copy_paths
