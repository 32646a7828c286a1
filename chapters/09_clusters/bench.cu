/// @file bench.cu
/// Chapter 9's measurements: the distance to another block's shared memory, what the size of a cluster does
/// to a histogram and a sum, and multicast against loads by each block.
#include "bench_begins.cuh"
#include "bench_causes.cuh"
#include "bench_l2.cuh"
#include "bench_publish.cuh"
#include "bench_streams.cuh"
#include "bench_tiles.cuh"
#include "bench_waits.cuh"
#include "clusters.cuh"
#include "remote_async.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace clusters;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

constexpr int cluster_sizes[] = {1, 2, 4, 8, 16};

// ---- latency ----

void latency(Bench& bench) {
    bench.table("latency_dsmem",
                "How long a load from shared memory of a cluster takes that the next one waits for",
                {{"cluster", "blocks of the cluster"},
                 {"owner", "rank of the owner"},
                 {"cycles", "time", "cycles of the SM"},
                 {"lower_cycles", "lower quartile", "cycles"},
                 {"upper_cycles", "upper quartile", "cycles"},
                 {"repetitions", "repetitions"}});
    const int steps = bench.size(16384, 64);
    unsigned end = 0;
    for (int i = 0; i < steps; ++i)
        end = next_node(end);
    const auto chase = [&](int cluster, int owner) {
        std::vector<double> cycles;
        for (int i = 0; i < (bench.dry() ? 1 : 33); ++i) {
            const Probe probe = launch_chase_dsmem(steps, owner, cluster);
            if (probe.end != end)
                return bench.wrong("chase_dsmem: the chase ended at another node");
            if (i >= 2)
                cycles.push_back(static_cast<double>(probe.cycles) / steps);
        }
        std::vector<BenchCell> cells{{"cluster", cluster}, {"owner", owner}};
        if (bench.mode() == workbook::BenchMode::measure) {
            const workbook::Timing timing = workbook::summarize(cycles);
            cells = workbook::joined<BenchCell>(std::move(cells), {{"cycles", timing.median_ms},
                                                                   {"lower_cycles", timing.lower_ms},
                                                                   {"upper_cycles", timing.upper_ms},
                                                                   {"repetitions", timing.repetitions}});
        }
        bench.row("latency_dsmem", cells);
    };
    for (const int cluster : cluster_sizes)
        for (int owner = 0; owner < cluster; owner = owner == 0 ? 1 : 2 * owner)
            chase(cluster, owner);
}

// ---- the size of the cluster ----

/// Values whose histogram slopes: small ones are the most common.
__global__ void fill_sloping(unsigned* values, std::size_t size) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
        values[i] = __umulhi(workbook::random_word(2 * i), workbook::random_word(2 * i + 1));
}

/// The reference histogram.
__global__ void count_bins(const unsigned* values, std::size_t size, unsigned* bins) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
        atomicAdd(bins + bin_of(values[i]), 1u);
}

/// The reference sum, of everything.
__global__ void add_all(const unsigned* values, std::size_t size, unsigned* total) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
        sum += values[i];
    atomicAdd(total, sum);
}

struct Values {
    explicit Values(std::size_t size) : in(size), bins(bin_count), sums(size / block_threads + 1) {
        workbook::launch(fill_sloping, workbook::striding(size), in.data(), size);
        DeviceBuffer<unsigned> reference(std::vector<unsigned>(bin_count, 0));
        workbook::launch(count_bins, workbook::striding(size), in.data(), size, reference.data());
        expected_bins = reference.download();
        DeviceBuffer<unsigned> total(std::vector<unsigned>{0});
        workbook::launch(add_all, workbook::striding(size), in.data(), size, total.data());
        expected_total = total.download().front();
    }
    DeviceBuffer<unsigned> in;
    DeviceBuffer<unsigned> bins;
    DeviceBuffer<unsigned> sums;
    std::vector<unsigned> expected_bins{};
    unsigned expected_total = 0;
};

void size_row(Bench& bench, const char* kernel, int cluster, std::size_t bytes,
              const std::optional<workbook::Timing>& timing, double ceiling) {
    bench.row("cluster_size", workbook::joined<BenchCell>({{"kernel", kernel}, {"cluster", cluster}},
                                                          workbook::timing_cells(timing, bytes, ceiling)));
}

void histogram_with(Bench& bench, Values& values, int cluster, double ceiling) {
    values.bins.upload(std::vector<unsigned>(bin_count, 0));
    launch_histogram(values.in.span(), values.bins.span(), cluster);
    if (values.bins.download() != values.expected_bins)
        return bench.wrong("histogram, clusters of " + std::to_string(cluster) + ": wrong counts");
    const auto timing = bench.time_checked(values.in.size_bytes(), [&](cudaStream_t) {
        launch_histogram(values.in.span(), values.bins.span(), cluster);
    });
    size_row(bench, "histogram", cluster, values.in.size_bytes(), timing, ceiling);
}

using SumLaunch = void (*)(std::span<const unsigned>, std::span<unsigned>, int);

void sum_with(Bench& bench, Values& values, const char* name, SumLaunch launch, int cluster, double ceiling) {
    const auto sums = values.sums.span().first(cluster_count(values.in.size(), cluster));
    values.sums.upload(std::vector<unsigned>(values.sums.size(), 0));
    launch(values.in.span(), sums, cluster);
    unsigned total = 0;
    for (const unsigned sum : values.sums.download())
        total += sum;
    if (total != values.expected_total)
        return bench.wrong(std::string(name) + ", clusters of " + std::to_string(cluster) + ": wrong sum");
    const auto timing = bench.time_checked(values.in.size_bytes(),
                                           [&](cudaStream_t) { launch(values.in.span(), sums, cluster); });
    size_row(bench, name, cluster, values.in.size_bytes(), timing, ceiling);
}

void sizes(Bench& bench) {
    bench.table(
        "cluster_size", "Reading kernels against the number of blocks in a cluster (8192 bins)",
        workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"}, {"cluster", "blocks of the cluster"}},
                                                workbook::timing_columns()));
    Values values(bench.size(std::size_t{1} << 27, std::size_t{1} << 14));
    const auto copy = bench.ceiling(values.in.size_bytes());
    const double ceiling = copy ? copy->bytes_per_second(values.in.size_bytes()) : 0;
    for (const int cluster : cluster_sizes) {
        histogram_with(bench, values, cluster, ceiling);
        sum_with(bench, values, "cluster_sum", launch_cluster_sum, cluster, ceiling);
        sum_with(bench, values, "remote_arrive", launch_remote_arrive, cluster, ceiling);
        sum_with(bench, values, "sum_in_l2", launch_sum_in_l2, cluster, ceiling);
    }
}

/// Where the time of a histogram and of a launch goes.
void causes(Bench& bench) {
    const Values values(bench.size(std::size_t{1} << 27, std::size_t{1} << 14));
    histogram_causes(bench, values.in);
    tables_in_l2(bench, values.in);
    launches(bench);
}

constexpr workbook::BenchPart parts[] = {
    {"latency", "pointer chasing through another block's shared memory", latency},
    {"sizes", "histogram and sums against the size of the cluster", sizes},
    {"multicast", "one array for all blocks, with and without multicast", multicasts},
    {"handover", "how a stage is handed back to those who write into it", handovers},
    {"limits", "what limits the stream of batches", stream_limits},
    {"waits", "for what the roles of a ring wait", waits},
    {"begins", "a ring by how many blocks begin with the same batch", begins},
    {"publishing", "what an arrival on another block's barrier publishes", publishing},
    {"causes", "where the time of a histogram and of a launch goes", causes},
    {"exchange", "shared memory to shared memory, by loads, stores and bulk copies", exchanges},
    {"tiles", "the chapter's kernels of multicast", tiles},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("clusters_bench", parts, argc, argv); }
