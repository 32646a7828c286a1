/// @file bench_padded.cuh
/// Chapter 8's measurements: what holds padded_tile back? The same kernel with more asked for at a time, with
/// less work, with another order of its blocks; one thing changed at a time.
#pragma once

#include "bench_sides.cuh"
#include "transpose.cuh"

#include "workbook/bench.hpp"

#include <cstddef>
#include <string>

namespace transpose {

/// padded_tile with `rows` rows of threads: fewer of them, and each asks for more before it waits. With
/// `less_work` nothing is compared where the whole tile lies in the matrix, and addresses step.
template <int rows, bool less_work, Walk walk>
__global__ void padded_variant(const float* in, float* out, Tiling tiles) {
    __shared__ float tile[tile_edge][tile_edge + 1];
    constexpr int each = tile_edge / rows; // elements of a thread
    const auto [height, width] = tiles.extent;
    const Corner corner = tiles.corner(blockIdx.x, walk);
    const bool whole = less_work && corner.row + tile_edge <= height && corner.column + tile_edge <= width;
    if (whole) {
        const float* from = in + (corner.row + threadIdx.y) * width + corner.column + threadIdx.x;
        float* to = out + (corner.column + threadIdx.y) * height + corner.row + threadIdx.x;
        const std::size_t step_in = rows * width, step_out = rows * height;
        float values[each];
#pragma unroll
        for (int j = 0; j < each; ++j, from += step_in)
            values[j] = *from;
#pragma unroll
        for (int j = 0; j < each; ++j)
            tile[threadIdx.y + j * rows][threadIdx.x] = values[j];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < each; ++j, to += step_out)
            *to = tile[threadIdx.x][threadIdx.y + j * rows];
        return;
    }
    float values[each];
#pragma unroll
    for (int j = 0; j < each; ++j) {
        const std::size_t row = corner.row + threadIdx.y + j * rows, column = corner.column + threadIdx.x;
        values[j] = row < height && column < width ? in[row * width + column] : 0;
    }
#pragma unroll
    for (int j = 0; j < each; ++j)
        tile[threadIdx.y + j * rows][threadIdx.x] = values[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < each; ++j) {
        const std::size_t row = corner.row + threadIdx.x, column = corner.column + threadIdx.y + j * rows;
        if (column < width && row < height)
            out[column * height + row] = tile[threadIdx.x][threadIdx.y + j * rows];
    }
}

/// Times one kernel; `name` is what it is, `work` which of the two amounts it does.
inline void padded_row(Bench& bench, Sides<float>& sides, double ceiling, const char* name, const char* work,
                       Walk walk, int rows, void (*kernel)(const float*, float*, Tiling)) {
    const Tiling tiles = tiling(sides.extent(), tile_edge);
    const workbook::LaunchShape shape{.grid = tiles.count(),
                                      .block = dim3(tile_edge, static_cast<unsigned>(rows))};
    int blocks = 0;
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, tile_edge * rows, 0),
                    "asking how many blocks fit");
    sides.poison();
    const auto launch = [&](cudaStream_t) {
        workbook::launch(kernel, shape, sides.in().data(), sides.out().data(), tiles);
    };
    launch(nullptr);
    if (const auto wrong = sides.wrong_words(); wrong > 0)
        return bench.wrong(std::string(name) + ": " + std::to_string(wrong) + " wrong elements");
    const auto timing = bench.time_checked(sides.bytes(), launch, 21);
    bench.row("padded_variants",
              workbook::joined<workbook::BenchCell>(
                  {{"kernel", name},
                   {"work", work},
                   {"walk", walk == Walk::along_rows ? "along rows" : "down columns"},
                   {"threads", tile_edge * rows},
                   {"blocks_per_sm", blocks},
                   {"asked_for", blocks * tile_edge * tile_edge * static_cast<int>(sizeof(float))}},
                  workbook::timing_cells(timing, sides.bytes(), ceiling)));
}

template <bool less_work, Walk walk>
void padded_rows(Bench& bench, Sides<float>& sides, double ceiling) {
    const auto row = [&](int rows, auto kernel) {
        padded_row(bench, sides, ceiling, "the loops unrolled", less_work ? "less" : "as padded_tile", walk,
                   rows, kernel);
    };
    row(8, padded_variant<8, less_work, walk>);
    row(4, padded_variant<4, less_work, walk>);
    row(2, padded_variant<2, less_work, walk>);
}

inline void padded_variants(Bench& bench) {
    bench.table("padded_variants", "padded_tile, one thing changed at a time",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                         {"work", "work"},
                                                         {"walk", "blocks go"},
                                                         {"threads", "threads of a block"},
                                                         {"blocks_per_sm", "blocks on an SM"},
                                                         {"asked_for", "asked for on an SM", "bytes"}},
                                                        workbook::timing_columns()));
    Sides<float> sides(bench.size(Extent{32768, 32768}, Extent{100, 132}));
    const auto copy = bench.ceiling(sides.bytes());
    const double ceiling = copy ? copy->bytes_per_second(sides.bytes()) : 0;
    padded_row(bench, sides, ceiling, "padded_tile", "as padded_tile", Walk::along_rows, tile_rows,
               padded_tile<float>);
    padded_rows<false, Walk::along_rows>(bench, sides, ceiling);
    padded_rows<true, Walk::along_rows>(bench, sides, ceiling);
    padded_rows<false, Walk::down_columns>(bench, sides, ceiling);
    padded_rows<true, Walk::down_columns>(bench, sides, ceiling);
}

} // namespace transpose
