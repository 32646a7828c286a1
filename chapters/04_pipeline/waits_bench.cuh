/// @file waits_bench.cuh
/// Chapter 4's measurements of single calls: what a producer's three calls take, what a wait waits for when a
/// warp commits in two parts, and what the arithmetic takes alone.
#pragma once

#include "pipeline.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace pipeline {

#pragma nv_diag_suppress static_var_with_dynamic_init // as in pipeline.cuh

/// Cycles that a warp of the first block spent in the three calls for one tile.
struct Calls {
    long long acquire;
    long long copy;
    long long commit;
};

/// n_stages with a clock around the producer's calls, for the first `most` tiles of the first block.
template <int stages>
__global__ void timed_calls(Stream stream, Calls* calls, unsigned most) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[stages][tile_floats];
    __shared__ SharedState<stages> state;
    auto pipe = cuda::make_pipeline(block, &state);
    StageIndex<stages> head, tail;
    unsigned fetch = 0;
    for (unsigned k = 0; stream.has(k); ++k) {
        for (; fetch < k + stages && stream.has(fetch); ++fetch) {
            const long long begin = clock64();
            pipe.producer_acquire();
            const long long acquired = clock64();
            copy_tile(block, stage[head.index], stream, fetch, pipe);
            const long long copied = clock64();
            pipe.producer_commit();
            const long long committed = clock64();
            if (blockIdx.x == 0 && threadIdx.x == 0 && fetch < most)
                calls[fetch] = {acquired - begin, copied - acquired, committed - copied};
            head.advance();
        }
        pipe.consumer_wait();
        compute_tile(block, stage[tail.index], stream, k);
        pipe.consumer_release();
        tail.advance();
    }
}

/// The arithmetic of a stream and nothing else: as many multiply-adds as the tiles of a block have, on a
/// register. The first block writes what came out.
__global__ void only_compute(Stream stream) {
    float x = threadIdx.x;
    for (unsigned k = 0; stream.has(k); ++k)
#pragma unroll 1
        for (int i = 0; i < tile_floats / block_threads; ++i)
            x = compute(x, stream.work);
    if (blockIdx.x == 0 || x < 0) // never below 0; the arithmetic must not be optimised away
        stream.out[threadIdx.x] = x;
}

/// What the waits of one warp took, in cycles.
struct Waits {
    long long older; ///< until wait_prior(1) returned: the newer batch may be pending
    long long all;   ///< until wait_prior(0) returned
};

/// Each thread copies an element in each of two batches. The older one has landed before the newer one is
/// asked for, from memory that is in no cache. Then the threads wait for the older one. In `parts` = 1 the
/// warp commits together; in 2 its halves commit one after the other.
template <int parts>
__global__ void entangled_wait(const float* warm, const float* cold, float* out, Waits* waits) {
    __shared__ float stage[2][warp_threads];
    const int lane = threadIdx.x;
    const auto copy = [&](int batch, const float* from) {
        for (int part = 0; part < parts; ++part)
            if (lane / (warp_threads / parts) == part) {
                __pipeline_memcpy_async(&stage[batch][lane], from + lane, sizeof(float));
                __pipeline_commit();
            }
        __syncwarp();
    };
    copy(0, warm);
    __nanosleep(20000); // the older batch has landed
    copy(1, cold);
    const long long begin = clock64();
    __pipeline_wait_prior(1);
    const long long older = clock64();
    __pipeline_wait_prior(0);
    const long long all = clock64();
    __syncwarp();
    if (lane == 0)
        *waits = {older - begin, all - begin};
    out[lane] = stage[0][warp_threads - 1 - lane] + stage[1][warp_threads - 1 - lane];
}

#pragma nv_diag_default static_var_with_dynamic_init

/// The median of some cycles.
inline double median(std::vector<double> cycles) { return workbook::summarize(std::move(cycles)).median_ms; }

template <int parts>
void entangled_row(workbook::Bench& bench, const char* name) {
    constexpr std::size_t apart = 1 << 20; // floats between two batches: no page, no line is shared
    constexpr int runs = 31;
    const int rounds = bench.size(runs, 1);
    workbook::DeviceBuffer<float> in(static_cast<std::size_t>(rounds + 1) *
                                     bench.size(apart, std::size_t{64}));
    const std::size_t step = in.size() / static_cast<std::size_t>(rounds + 1);
    std::vector<float> host(in.size());
    for (std::size_t i = 0; i < host.size(); ++i)
        host[i] = static_cast<float>(i % 1021);
    in.upload(host);
    workbook::DeviceBuffer<float> out(warp_threads);
    workbook::DeviceBuffer<Waits> waits(1);
    workbook::L2Flush flush;
    std::vector<double> older;
    std::vector<double> all;
    for (int round = 1; round <= rounds; ++round) {
        const std::size_t at = static_cast<std::size_t>(round) * step;
        flush(nullptr);
        out.poison();
        workbook::launch(entangled_wait<parts>, {.block = warp_threads}, in.data(), in.data() + at,
                         out.data(), waits.data());
        const std::vector<float> found = out.download();
        for (std::size_t lane = 0; lane < warp_threads; ++lane)
            if (found[lane] != host[warp_threads - 1 - lane] + host[at + warp_threads - 1 - lane])
                return bench.wrong("entangled_wait: wrong result");
        const Waits took = waits.download().front();
        older.push_back(static_cast<double>(took.older));
        all.push_back(static_cast<double>(took.all));
    }
    std::vector<workbook::BenchCell> cells{{"commits", name}};
    if (bench.mode() == workbook::BenchMode::measure)
        cells = workbook::joined<workbook::BenchCell>(std::move(cells),
                                                      {{"older", median(older)}, {"all", median(all)}});
    bench.row("entangled_wait", cells);
}

/// Whether a wait for the older batch waits for the newer one too.
inline void entangled_waits(workbook::Bench& bench) {
    bench.table("entangled_wait", "A warp waits for its older batch, which has landed; the newer one has not",
                {{"commits", "the warp commits"},
                 {"older", "the wait for the older batch", "cycles"},
                 {"all", "until both had landed", "cycles"}});
    entangled_row<1>(bench, "together");
    entangled_row<2>(bench, "in two halves");
}

/// Cycles of the producer's calls, tile by tile.
inline void producer_calls(workbook::Bench& bench) {
    constexpr unsigned most = 8;
    bench.table("pipeline_calls", "What a warp spends in the producer's calls, with four stages",
                {{"tile", "tile"},
                 {"acquire", "producer_acquire", "cycles"},
                 {"copy", "copy_tile", "cycles"},
                 {"commit", "producer_commit", "cycles"}});
    const std::size_t size = bench.size(std::size_t{1} << 26, std::size_t{1} << 14);
    workbook::DeviceBuffer<float> in(std::vector<float>(size, 0.5f));
    workbook::DeviceBuffer<float> out(size);
    workbook::DeviceBuffer<Calls> calls(most);
    const auto blocks = static_cast<unsigned>(bench.size(bench.device().multiprocessors, 1));
    std::vector<std::vector<double>> found[3];
    for (auto& call : found)
        call.resize(most);
    for (int round = 0; round < bench.size(33, 3); ++round) {
        workbook::launch(timed_calls<4>, {.grid = blocks, .block = block_threads},
                         Stream{in.data(), out.data(), size, bench.size(96, 2)}, calls.data(), most);
        const std::vector<Calls> took = calls.download();
        for (std::size_t k = 0; k < most && round >= 2; ++k) { // two for warming up
            found[0][k].push_back(static_cast<double>(took[k].acquire));
            found[1][k].push_back(static_cast<double>(took[k].copy));
            found[2][k].push_back(static_cast<double>(took[k].commit));
        }
    }
    for (std::size_t k = 0; k < most; ++k) {
        std::vector<workbook::BenchCell> cells{{"tile", k}};
        if (bench.mode() == workbook::BenchMode::measure)
            cells =
                workbook::joined<workbook::BenchCell>(std::move(cells), {{"acquire", median(found[0][k])},
                                                                         {"copy", median(found[1][k])},
                                                                         {"commit", median(found[2][k])}});
        bench.row("pipeline_calls", cells);
    }
}

/// What only_compute leaves for thread t of the first block, which takes `tiles` tiles.
inline float only_computed(unsigned t, std::size_t tiles, int work) {
    auto x = static_cast<float>(t);
    for (std::size_t i = 0; i < tiles * (tile_floats / block_threads); ++i)
        x = compute(x, work);
    return x;
}

/// How long the arithmetic of a stream takes without any copy, for the grid whose blocks take eight tiles.
inline void arithmetic(workbook::Bench& bench) {
    constexpr unsigned each = 8;
    bench.table("pipeline_arithmetic", "The arithmetic of a stream alone, without a copy",
                workbook::joined<workbook::BenchColumn>({{"work", "multiply-adds per element"}},
                                                        workbook::timing_columns()));
    const std::size_t size = bench.size(std::size_t{1} << 28, std::size_t{1} << 14);
    workbook::DeviceBuffer<float> out(block_threads);
    const auto ceiling = bench.ceiling(2 * size * sizeof(float));
    const double rate = ceiling ? ceiling->bytes_per_second(2 * size * sizeof(float)) : 0;
    const auto grid = static_cast<unsigned>(size / tile_floats / each);
    for (const int work : {1, 16, 64}) {
        const auto launch = [&](cudaStream_t) {
            workbook::launch(only_compute, {.grid = grid, .block = block_threads},
                             Stream{nullptr, out.data(), size, work});
        };
        out.poison();
        launch(nullptr);
        const std::vector<float> found = out.download();
        for (unsigned t = 0; t < block_threads; ++t)
            if (found[t] != only_computed(t, each, work))
                return bench.wrong("only_compute: wrong result");
        const auto timing = bench.time(2 * size * sizeof(float), launch);
        bench.row("pipeline_arithmetic",
                  workbook::joined<workbook::BenchCell>(
                      {{"work", work}}, workbook::timing_cells(timing, 2 * size * sizeof(float), rate)));
    }
}

} // namespace pipeline
