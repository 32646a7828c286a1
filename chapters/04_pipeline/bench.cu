/// @file bench.cu
/// Chapter 4's measurements: how many stages are enough for how much arithmetic, and the time line of one
/// block.
#include "causes_bench.cuh"
#include "pipeline.cuh"
#include "waits_bench.cuh"
#include "wide_bench.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace pipeline;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

#pragma nv_diag_suppress static_var_with_dynamic_init // as in pipeline.cuh

/// n_stages with the stage of a tile as the remainder of its number, of 32 bits (unsigned) or of 64
/// (std::size_t). Nothing else is different.
template <class Number, int stages>
__global__ void remainder_stages(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[stages][tile_floats];
    __shared__ SharedState<stages> state;
    auto pipe = cuda::make_pipeline(block, &state);
    Number fetch = 0;
    for (Number k = 0; stream.has(static_cast<unsigned>(k)); ++k) {
        for (; fetch < k + stages && stream.has(static_cast<unsigned>(fetch)); ++fetch) {
            pipe.producer_acquire();
            copy_tile(block, stage[fetch % stages], stream, static_cast<unsigned>(fetch), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        compute_tile(block, stage[k % stages], stream, static_cast<unsigned>(k));
        pipe.consumer_release();
    }
}

#pragma nv_diag_default static_var_with_dynamic_init

struct Kernel {
    const char* name;
    int stages;
    void (*kernel)(Stream);
};

constexpr Kernel kernels[] = {
    {"single_stage", 1, single_stage},
    {"with_staging", 2, with_staging},
    {"n_stages", 1, n_stages<1>},
    {"n_stages", 2, n_stages<2>},
    {"n_stages", 3, n_stages<3>},
    {"n_stages", 4, n_stages<4>},
    {"n_stages", 6, n_stages<6>},
    {"n_stages", 8, n_stages<8>},
    {"thread_scope", 2, thread_scope<2>},
    {"thread_scope", 4, thread_scope<4>},
    {"thread_scope", 8, thread_scope<8>},
    {"specialized_warps", 4, specialized_warps<4>},
    {"with_specialized_staging_unified", 2, with_specialized_staging_unified},
    {"four_at_a_time", 1, four_at_a_time<1>},
    {"four_at_a_time", 2, four_at_a_time<2>},
    {"four_at_a_time", 3, four_at_a_time<3>},
    {"four_at_a_time", 4, four_at_a_time<4>},
    {"four_at_a_time", 5, four_at_a_time<5>},
    {"four_at_a_time", 6, four_at_a_time<6>},
    {"four_at_a_time", 8, four_at_a_time<8>},
};

__global__ void fill_floats(float* values, std::size_t size) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
        values[i] = static_cast<float>(workbook::random_word(i)) * 0x1p-32f;
}

/// The reference, on the device: each element computed, each whole tile of `tile` elements reversed.
__global__ void count_not_streamed(const float* in, const float* out, std::size_t size, std::size_t tile,
                                   int work, unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
        const std::size_t start = i - i % tile;
        if (out[i] != compute(in[start + tile - 1 - i % tile], work))
            atomicAdd(wrong, 1ull);
    }
}

/// Two arrays of whole tiles.
struct Streams {
    explicit Streams(std::size_t size) : in(size), out(size) {
        workbook::launch(fill_floats, workbook::striding(size), in.data(), size);
    }
    [[nodiscard]] Stream stream(int work) { return {in.data(), out.data(), in.size(), work}; }
    [[nodiscard]] std::size_t bytes() const { return 2 * in.size_bytes(); }
    [[nodiscard]] bool streamed(int work, std::size_t tile = tile_floats) {
        DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
        workbook::launch(count_not_streamed, workbook::striding(in.size()), in.data(), out.data(), in.size(),
                         tile, work, wrong.data());
        return wrong.download().front() == 0;
    }
    DeviceBuffer<float> in;
    DeviceBuffer<float> out;
};

double copy_row(Bench& bench, const char* name, std::size_t bytes) {
    const auto timing = bench.ceiling(bytes);
    const double rate = timing ? timing->bytes_per_second(bytes) : 0;
    bench.row("pipeline_stages",
              workbook::joined<BenchCell>({{"kernel", name}}, workbook::timing_cells(timing, bytes, rate)));
    return rate;
}

/// One row: a kernel with so many blocks. `blocks_per_sm` is 0 where blocks take a few tiles and make room.
void stream_row(Bench& bench, const char* table, Streams& streams, const Kernel& kernel, int work,
                unsigned grid, int blocks_per_sm, int tiles_per_block, double ceiling,
                std::size_t more_shared = 0) {
    const auto launch = [&](cudaStream_t) {
        workbook::launch(kernel.kernel, {.grid = grid, .block = block_threads, .dynamic_shared = more_shared},
                         streams.stream(work));
    };
    streams.out.poison();
    launch(nullptr);
    if (!streams.streamed(work))
        return bench.wrong(std::string(kernel.name) + ": wrong result");
    const auto timing = bench.time_checked(streams.bytes(), launch);
    std::vector<BenchCell> cells{{"kernel", kernel.name}, {"stages", kernel.stages}, {"work", work}};
    if (blocks_per_sm > 0)
        cells.emplace_back("blocks_per_sm", blocks_per_sm);
    else
        cells.emplace_back("tiles_per_block", tiles_per_block);
    bench.row(table, workbook::joined<BenchCell>(std::move(cells),
                                                 workbook::timing_cells(timing, streams.bytes(), ceiling)));
}

/// The columns of the rows that stream_row() makes.
std::vector<workbook::BenchColumn> stream_columns() {
    return workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                    {"stages", "stages"},
                                                    {"work", "multiply-adds per element"},
                                                    {"blocks_per_sm", "blocks per SM that stay"},
                                                    {"tiles_per_block", "tiles per block"}},
                                                   workbook::timing_columns());
}

void stages(Bench& bench) {
    bench.table("pipeline_stages", "A stream through a pipeline: stages, arithmetic and blocks",
                stream_columns());
    Streams streams(bench.size(std::size_t{1} << 28, std::size_t{1} << 14));
    const double ceiling = copy_row(bench, "copy before", streams.bytes());
    const auto sms = static_cast<unsigned>(bench.device().multiprocessors);
    const auto tiles = static_cast<unsigned>(streams.in.size() / tile_floats);
    for (const Kernel& kernel : kernels)
        for (const int work : {1, 16, 64}) {
            int most = 0;
            workbook::check(
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, kernel.kernel, block_threads, 0),
                "asking how many blocks fit");
            for (int blocks = 1; blocks <= (bench.dry() ? 1 : most); ++blocks)
                stream_row(bench, "pipeline_stages", streams, kernel, work,
                           bench.size(sms * static_cast<unsigned>(blocks), 3u), blocks, 0, ceiling);
            for (const unsigned each : {2u, 4u, 8u, 16u, 32u})
                if (work == 1)
                    stream_row(bench, "pipeline_stages", streams, kernel, work,
                               tiles / each > 0 ? tiles / each : 1, 0, static_cast<int>(each), ceiling);
        }
    copy_row(bench, "copy after", streams.bytes());
}

constexpr Kernel index_kernels[] = {
    {"n_stages", 2, n_stages<2>},
    {"remainder of 32 bits", 2, remainder_stages<unsigned, 2>},
    {"remainder of 64 bits", 2, remainder_stages<std::size_t, 2>},
    {"n_stages", 3, n_stages<3>},
    {"remainder of 32 bits", 3, remainder_stages<unsigned, 3>},
    {"remainder of 64 bits", 3, remainder_stages<std::size_t, 3>},
    {"n_stages", 4, n_stages<4>},
    {"remainder of 32 bits", 4, remainder_stages<unsigned, 4>},
    {"remainder of 64 bits", 4, remainder_stages<std::size_t, 4>},
    {"n_stages", 6, n_stages<6>},
    {"remainder of 32 bits", 6, remainder_stages<unsigned, 6>},
    {"remainder of 64 bits", 6, remainder_stages<std::size_t, 6>},
    {"n_stages", 8, n_stages<8>},
    {"remainder of 32 bits", 8, remainder_stages<unsigned, 8>},
    {"remainder of 64 bits", 8, remainder_stages<std::size_t, 8>},
};

/// How a tile's stage is found, all else equal: counted, or as a remainder of 32 or of 64 bits.
void stage_index(Bench& bench) {
    bench.table("pipeline_index", "The stage of a tile: counted (n_stages), or a remainder",
                stream_columns());
    Streams streams(bench.size(std::size_t{1} << 28, std::size_t{1} << 14));
    const auto ceiling = bench.ceiling(streams.bytes());
    const double rate = ceiling ? ceiling->bytes_per_second(streams.bytes()) : 0;
    const auto sms = static_cast<unsigned>(bench.device().multiprocessors);
    const auto tiles = static_cast<unsigned>(streams.in.size() / tile_floats);
    for (const Kernel& kernel : index_kernels) {
        for (const unsigned blocks : {1u, 6u})
            stream_row(bench, "pipeline_index", streams, kernel, 1, bench.size(sms * blocks, 3u),
                       static_cast<int>(blocks), 0, rate);
        constexpr unsigned each = 8;
        stream_row(bench, "pipeline_index", streams, kernel, 1, std::max(tiles / each, 1u), 0, each, rate);
    }
    // Two stages, and as much shared memory more as leaves room for the six blocks that eight stages leave.
    constexpr Kernel crowded{"n_stages, room for 6 blocks", 2, n_stages<2>};
    constexpr std::size_t more = 28 * 1024;
    int fit = 0;
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, crowded.kernel, block_threads, more),
                    "asking how many blocks fit");
    if (fit != 6)
        bench.wrong("index: " + std::to_string(fit) + " blocks fit, not 6");
    stream_row(bench, "pipeline_index", streams, crowded, 1, std::max(tiles / 8, 1u), 0, 8, rate, more);
}

/// Kernels that differ in one thing.
void causes_alone(Bench& bench) {
    bench.table("pipeline_causes", "One thing changed at a time, one multiply-add per element",
                stream_columns());
    Streams streams(bench.size(std::size_t{1} << 28, std::size_t{1} << 14));
    const auto ceiling = bench.ceiling(streams.bytes());
    const double rate = ceiling ? ceiling->bytes_per_second(streams.bytes()) : 0;
    const auto sms = static_cast<unsigned>(bench.device().multiprocessors);
    const auto tiles = static_cast<unsigned>(streams.in.size() / tile_floats);
    for (const Cause& cause : causes) {
        const auto each = static_cast<unsigned>(std::max(cause.tiles_per_block, 1));
        const unsigned grid = cause.tiles_per_block > 0 ? std::max(tiles / each, 1u) : bench.size(sms, 3u);
        stream_row(bench, "pipeline_causes", streams, {cause.kernel, cause.stages, cause.launched}, 1, grid,
                   cause.blocks_per_sm, cause.tiles_per_block, rate);
    }
}

/// The rows of the larger blocks with their times: all in turns, and the chapter's own kernel among them.
void wide_rows(Bench& bench, Streams& streams, const std::vector<Width>& rows, double ceiling) {
    std::vector<workbook::Contender> contenders;
    for (const Width& row : rows) {
        const auto sms = static_cast<unsigned>(bench.device().multiprocessors);
        const workbook::LaunchShape shape{
            .grid = bench.size(sms * static_cast<unsigned>(row.blocks_per_sm), 3u),
            .block = static_cast<unsigned>(row.threads),
            .dynamic_shared = row.launched == four_at_a_time<4> ? 0 : row.stage_bytes()};
        const auto launch = [kernel = row.launched, shape, stream = streams.stream(1)] {
            workbook::launch(kernel, shape, stream);
        };
        streams.out.poison();
        launch();
        if (!streams.streamed(1, static_cast<std::size_t>(row.tile())))
            return bench.wrong("wide, " + std::to_string(row.threads) + " threads, " +
                               std::to_string(row.stages) + " stages: wrong result");
        int fit = 0;
        workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, row.launched, row.threads,
                                                                      shape.dynamic_shared),
                        "asking how many blocks fit");
        if (fit < row.blocks_per_sm)
            return bench.wrong("wide: " + std::to_string(fit) + " blocks fit");
        contenders.push_back({row.kernel, launch});
    }
    std::vector<std::optional<workbook::Timing>> timings(rows.size());
    if (bench.mode() == workbook::BenchMode::measure) {
        const auto measured = workbook::measure_in_turns(contenders);
        std::copy(measured.begin(), measured.end(), timings.begin());
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
        bench.row("pipeline_wide",
                  workbook::joined<BenchCell>({{"kernel", rows[i].kernel},
                                               {"threads", rows[i].threads},
                                               {"each", rows[i].each},
                                               {"stages", rows[i].stages},
                                               {"blocks_per_sm", rows[i].blocks_per_sm},
                                               {"stage_bytes", rows[i].stage_bytes()}},
                                              workbook::timing_cells(timings[i], streams.bytes(), ceiling)));
}

/// One block for each SM with more warps, against several blocks with as many.
void larger_blocks(Bench& bench) {
    bench.table("pipeline_wide", "four_at_a_time with larger blocks that stay, one multiply-add per element",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                         {"threads", "threads of a block"},
                                                         {"each", "accesses of a thread for a tile"},
                                                         {"stages", "stages"},
                                                         {"blocks_per_sm", "blocks per SM that stay"},
                                                         {"stage_bytes", "stages of a block", "bytes"}},
                                                        workbook::timing_columns()));
    Streams streams(bench.size(std::size_t{1} << 28, std::size_t{1} << 14));
    const auto ceiling = bench.ceiling(streams.bytes());
    const double rate = ceiling ? ceiling->bytes_per_second(streams.bytes()) : 0;
    std::vector<Width> rows{{"four_at_a_time", four_at_a_time<4>, block_threads, 1, 4, 1}};
    rows.insert(rows.end(), std::begin(widths), std::end(widths));
    wide_rows(bench, streams, rows, rate);
}

/// Blocks that stay, eight on each SM with one stage: how they get their tiles, and when they end.
void dealt_or_claimed(Bench& bench) {
    bench.table("pipeline_dealing",
                "Eight blocks on each SM that stay, one stage, one multiply-add per element",
                workbook::joined<workbook::BenchColumn>({{"tiles", "tiles"},
                                                         {"first", "the first block ends", "us"},
                                                         {"mean", "the average block ends", "us"},
                                                         {"last", "the last block ends", "us"}},
                                                        workbook::timing_columns()));
    Streams streams(bench.size(std::size_t{1} << 28, std::size_t{1} << 14));
    const auto ceiling = bench.ceiling(streams.bytes());
    const double rate = ceiling ? ceiling->bytes_per_second(streams.bytes()) : 0;
    const auto grid = bench.size(8 * static_cast<unsigned>(bench.device().multiprocessors), 3u);
    DeviceBuffer<unsigned> next(std::vector<unsigned>{0});
    DeviceBuffer<Life> lives(grid);
    for (const Dealing& dealing : dealings) {
        const auto launch = [&](cudaStream_t) {
            workbook::launch(dealing.kernel, {.grid = grid, .block = block_threads}, streams.stream(1),
                             next.data(), lives.data());
        };
        streams.out.poison();
        launch(nullptr);
        if (!streams.streamed(1))
            return bench.wrong(std::string(dealing.tiles) + ": wrong result");
        const auto timing = bench.time_checked(streams.bytes(), launch);
        std::vector<BenchCell> cells{{"tiles", dealing.tiles}};
        if (bench.mode() == workbook::BenchMode::measure)
            cells = workbook::joined<BenchCell>(std::move(cells), ends_of(lives.download()));
        bench.row("pipeline_dealing",
                  workbook::joined<BenchCell>(std::move(cells),
                                              workbook::timing_cells(timing, streams.bytes(), rate)));
    }
}

constexpr std::size_t recorded = 8; ///< tiles of the time line

/// Records a time line on a busy device: once unrecorded to warm up, then the one that is kept.
template <int count>
void record(Bench& bench, Streams& streams, int work) {
    DeviceBuffer<Interval> intervals(recorded);
    const auto launch = [&] {
        workbook::launch(timeline<count>,
                         {.grid = static_cast<unsigned>(bench.size(bench.device().multiprocessors, 1)),
                          .block = block_threads},
                         streams.stream(work), intervals.data(), recorded);
    };
    launch();
    launch();
    if (!streams.streamed(work))
        bench.wrong("timeline: wrong result");
    const std::vector<Interval> found = intervals.download();
    const long long begin = found.front().issued;
    for (std::size_t k = 0; k < found.size(); ++k) {
        std::vector<BenchCell> cells{{"stages", count}, {"tile", k}};
        if (bench.mode() == workbook::BenchMode::measure)
            cells = workbook::joined<BenchCell>(std::move(cells), {{"issued", found[k].issued - begin},
                                                                   {"landed", found[k].landed - begin},
                                                                   {"computed", found[k].computed - begin}});
        bench.row("pipeline_timeline", cells);
    }
}

void timelines(Bench& bench) {
    bench.table(
        "pipeline_timeline",
        "When the first block's copies were issued and had landed, and when their tiles were computed",
        {{"stages", "stages"},
         {"tile", "tile"},
         {"issued", "copy issued", "cycles"},
         {"landed", "copy landed", "cycles"},
         {"computed", "computed", "cycles"}});
    Streams streams(bench.size(std::size_t{1} << 26, std::size_t{1} << 14));
    const int work = bench.size(96, 2); // longer than a copy takes
    record<1>(bench, streams, work);
    record<2>(bench, streams, work);
    record<4>(bench, streams, work);
}

constexpr workbook::BenchPart parts[] = {
    {"stages", "stages, arithmetic and blocks per SM", stages},
    {"index", "the stage of a tile, counted or as a remainder", stage_index},
    {"causes", "kernels that differ in one thing", causes_alone},
    {"wide", "larger blocks, alone on an SM", larger_blocks},
    {"dealing", "blocks that stay: tiles dealt in advance, or claimed", dealt_or_claimed},
    {"arithmetic", "the arithmetic alone, without a copy", arithmetic},
    {"calls", "what the producer's calls take", producer_calls},
    {"entangled", "a wait for the older batch of a warp that committed in parts", entangled_waits},
    {"timeline", "copies and computations of one block by the clock", timelines},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("pipeline_bench", parts, argc, argv); }
