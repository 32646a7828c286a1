/// @file bench.cu
/// Chapter 9's measurements: the distance to another block's shared memory, what the size of a cluster does
/// to a histogram and a sum, and multicast against loads by each block.
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
    const auto timing = bench.time(values.in.size_bytes(), [&](cudaStream_t) {
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
    const auto timing =
        bench.time(values.in.size_bytes(), [&](cudaStream_t) { launch(values.in.span(), sums, cluster); });
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
    }
}

// ---- multicast ----

constexpr int batch_words = 4096; ///< 16 KiB
constexpr int batch_stages = 6;

/// Dynamic shared memory of stream_batches: a ring of batches. A batch is full when its bytes have come to
/// this block, and empty when all blocks that this block sends to have read theirs.
struct Batches {
    alignas(128) unsigned words[batch_stages][batch_words];
    std::uint64_t full[batch_stages];
    std::uint64_t empty[batch_stages];
};

/// Where a block stands in its cluster.
struct Standing {
    unsigned blocks;
    unsigned rank;
};

/// Loads batch number `k` of this block's order: all of it, or, with multicast, this block's share for all
/// blocks of the cluster.
template <bool multicast>
__device__ void load_batch(Batches& batches, const unsigned* from, std::size_t k, Standing me) {
    const std::size_t stage = k % batch_stages;
    std::uint64_t* full = &batches.full[stage];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                   batch_words * sizeof(unsigned));
    if constexpr (multicast) {
        const unsigned share = batch_words / me.blocks;
        copy_multicast(batches.words[stage] + me.rank * share, from + me.rank * share,
                       share * sizeof(unsigned), full, static_cast<std::uint16_t>((1u << me.blocks) - 1));
    } else
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, batches.words[stage], from,
                           batch_words * sizeof(unsigned), full);
}

/// A warp tells those who write into its block that it has read the batch in `stage`: all blocks of the
/// cluster with multicast, else its own.
template <bool multicast>
__device__ void announce_read(Batches& batches, std::size_t stage, Standing me) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned lane = threadIdx.x % 32;
    ptx::fence_proxy_async(ptx::space_shared); // what I have read comes before what is written next
    __syncwarp();
    if constexpr (multicast) {
        if (lane < me.blocks)
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                 cluster.map_shared_rank(&batches.empty[stage], lane));
    } else if (lane == 0)
        ptx::mbarrier_arrive(&batches.empty[stage]);
}

__device__ inline void wait_for_phase(std::uint64_t* bar, std::size_t round) {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, round % 2)) {
    }
}

constexpr int consumer_warps = block_threads / 32;
constexpr int stream_threads = block_threads + 32; ///< and a warp that asks for the batches

/// Every block needs all of the array, batch after batch, as the blocks of a matrix product need a common
/// operand. Each cluster begins elsewhere, so that L2 cannot merge what several of them ask for. Adds to
/// sums[block] what the block saw.
template <bool multicast>
__global__ void stream_batches(const unsigned* in, std::size_t count, unsigned* sums) {
    extern __shared__ Batches all_batches[];
    Batches& batches = all_batches[0];
    const cg::cluster_group cluster = cg::this_cluster();
    const Standing me{cluster.num_blocks(), cluster.block_rank()};
    if (threadIdx.x == 0)
        for (int s = 0; s < batch_stages; ++s) {
            init_for_cluster(&batches.full[s], 1);
            init_for_cluster(&batches.empty[s], consumer_warps * (multicast ? me.blocks : 1));
        }
    cluster.sync();
    if (threadIdx.x == block_threads) {
        std::size_t batch = blockIdx.x / me.blocks * count / (gridDim.x / me.blocks);
        for (std::size_t k = 0; k < count; ++k, batch = batch + 1 < count ? batch + 1 : 0) {
            if (k >= batch_stages)
                wait_for_phase(&batches.empty[k % batch_stages], k / batch_stages - 1);
            load_batch<multicast>(batches, in + batch * batch_words, k, me);
        }
    } else if (threadIdx.x < block_threads) {
        unsigned sum = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t stage = k % batch_stages;
            wait_for_phase(&batches.full[stage], k / batch_stages);
            const auto* chunks = reinterpret_cast<const uint4*>(batches.words[stage]);
            for (int i = threadIdx.x; i < batch_words / 4; i += block_threads) {
                const uint4 four = chunks[i];
                sum += four.x + four.y + four.z + four.w;
            }
            announce_read<multicast>(batches, stage, me);
        }
        const unsigned total = __reduce_add_sync(~0u, sum);
        if (threadIdx.x % 32 == 0)
            atomicAdd(sums + blockIdx.x, total);
    }
    cluster.sync(); // nobody leaves while another may still arrive on its barriers
}

/// As many clusters as run at the same time, one block per SM.
template <bool multicast>
workbook::LaunchShape stream_shape(int cluster) {
    constexpr std::size_t one_per_sm = 120 * 1024;
    workbook::LaunchShape shape{.grid = static_cast<unsigned>(cluster),
                                .block = stream_threads,
                                .dynamic_shared = std::max(sizeof(Batches), one_per_sm),
                                .cluster = static_cast<unsigned>(cluster),
                                .non_portable_cluster = cluster > portable_cluster};
    workbook::raise_limits(stream_batches<multicast>, shape);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    workbook::check(cudaOccupancyMaxActiveClusters(&clusters, stream_batches<multicast>, &config),
                    "cudaOccupancyMaxActiveClusters");
    shape.grid.x = static_cast<unsigned>(clusters * cluster);
    return shape;
}

template <bool multicast>
void stream_with(Bench& bench, const DeviceBuffer<unsigned>& in, unsigned expected, int cluster) {
    workbook::LaunchShape shape = stream_shape<multicast>(cluster);
    shape.grid.x = bench.size(shape.grid.x, 2 * static_cast<unsigned>(cluster));
    const char* name = multicast ? "multicast" : "each block loads";
    if (shape.grid.x == 0)
        return bench.wrong("clusters of " + std::to_string(cluster) + " do not fit");
    DeviceBuffer<unsigned> sums(shape.grid.x);
    const auto launch = [&](cudaStream_t) {
        workbook::launch(stream_batches<multicast>, shape, in.data(), in.size() / batch_words, sums.data());
    };
    sums.upload(std::vector<unsigned>(sums.size(), 0));
    launch(nullptr);
    for (const unsigned sum : sums.download())
        if (sum != expected)
            return bench.wrong(std::string(name) + ", clusters of " + std::to_string(cluster) +
                               ": wrong sum");
    const std::size_t delivered = in.size_bytes() * shape.grid.x;
    const std::size_t asked = multicast ? delivered / static_cast<std::size_t>(cluster) : delivered;
    const auto timing = bench.time(std::size_t{1} << 40, launch); // the array shall stay in L2
    std::vector<BenchCell> cells{{"kind", name},
                                 {"cluster", cluster},
                                 {"blocks", shape.grid.x},
                                 {"l2_bytes", asked},
                                 {"delivered", delivered}};
    bench.row("multicast",
              workbook::joined<BenchCell>(std::move(cells), workbook::timing_cells(timing, delivered)));
}

void multicasts(Bench& bench) {
    bench.table("multicast", "An array of 16 MiB that every block needs: bytes asked of L2, and time",
                workbook::joined<workbook::BenchColumn>({{"kind", "loads"},
                                                         {"cluster", "blocks of the cluster"},
                                                         {"blocks", "blocks"},
                                                         {"l2_bytes", "asked of L2", "bytes"},
                                                         {"delivered", "delivered to blocks", "bytes"}},
                                                        workbook::timing_columns()));
    DeviceBuffer<unsigned> in(bench.size(std::size_t{1} << 22, std::size_t{16} * batch_words));
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(in.size()), in.data(),
                     in.size());
    unsigned expected = 0;
    for (const unsigned word : in.download())
        expected += word;
    for (const int cluster : cluster_sizes) {
        stream_with<false>(bench, in, expected, cluster);
        if (cluster > 1) // a cluster of one has nobody to share with
            stream_with<true>(bench, in, expected, cluster);
    }
}

/// The chapter's own kernels, which also write: what is saved is a part of the traffic.
void tiles(Bench& bench) {
    bench.table("multicast_tile",
                "The kernels multicast_tile and tile_for_each: one tile read, a copy per block written",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                         {"cluster", "blocks of the cluster"},
                                                         {"l2_bytes", "asked of L2", "bytes"},
                                                         {"written", "written", "bytes"}},
                                                        workbook::timing_columns()));
    const std::size_t size = bench.size(std::size_t{1} << 24, std::size_t{1} << 12);
    DeviceBuffer<unsigned> in(size);
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(size), in.data(), size);
    for (const int cluster : {2, 4, 8, 16}) {
        const std::size_t copies = size * static_cast<std::size_t>(cluster);
        DeviceBuffer<unsigned> first(copies);
        DeviceBuffer<unsigned> second(copies);
        first.poison();
        second.poison();
        const auto run = [&](const char* name, SumLaunch launch, DeviceBuffer<unsigned>& out,
                             std::size_t asked) {
            launch(in.span(), out.span(), cluster);
            const std::size_t bytes = in.size_bytes() + out.size_bytes();
            const auto timing =
                bench.time(bytes, [&](cudaStream_t) { launch(in.span(), out.span(), cluster); });
            bench.row("multicast_tile", workbook::joined<BenchCell>({{"kernel", name},
                                                                     {"cluster", cluster},
                                                                     {"l2_bytes", asked},
                                                                     {"written", out.size_bytes()}},
                                                                    workbook::timing_cells(timing, bytes)));
        };
        run("tile_for_each", launch_tile_for_each, first, copies * sizeof(unsigned));
        run("multicast_tile", launch_multicast_tile, second, in.size_bytes());
        DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
        workbook::launch(workbook::count_different<unsigned>, workbook::striding(copies), first.data(),
                         second.data(), copies, wrong.data());
        if (wrong.download().front() > 0)
            bench.wrong("multicast_tile and tile_for_each differ in clusters of " + std::to_string(cluster));
    }
}

constexpr workbook::BenchPart parts[] = {
    {"latency", "pointer chasing through another block's shared memory", latency},
    {"sizes", "histogram and sums against the size of the cluster", sizes},
    {"multicast", "one array for all blocks, with and without multicast", multicasts},
    {"tiles", "the chapter's kernels of multicast", tiles},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("clusters_bench", parts, argc, argv); }
