/// @file bench_causes.cuh
/// Chapter 9's measurements: experiments on the reasons that the chapter gives.
#pragma once

#include "clusters.cuh"
#include "remote_async.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace clusters {

using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

// ---- the histogram: the network, or the block that has most of the counts? ----

/// `histogram`, but every value is counted in the block's own memory, in one of its bins: the same work, and
/// nothing crosses the network. What it leaves in `bins` is no histogram.
__global__ void histogram_at_home(const unsigned* values, std::size_t size, unsigned* bins,
                                  int bins_per_block) {
    extern __shared__ unsigned local[]; // bins_per_block
    const cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_per_block; i += block_threads)
        local[i] = 0;
    cluster.sync();
    const std::size_t step = std::size_t{gridDim.x} * block_threads;
    for (std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x; i < size; i += step) {
        const int bin = static_cast<int>(bin_of(values[i]));
        atomicAdd(cluster.map_shared_rank(local, cluster.block_rank()) + bin % bins_per_block, 1u);
    }
    cluster.sync();
    const int first = static_cast<int>(cluster.block_rank()) * bins_per_block;
    for (int i = threadIdx.x; i < min(bins_per_block, bin_count - first); i += block_threads)
        if (local[i] != 0)
            atomicAdd(bins + first + i, local[i]);
}

using HistogramKernel = void (*)(const unsigned*, std::size_t, unsigned*, int);

inline void histogram_row(Bench& bench, const char* counts, const char* spread, HistogramKernel kernel,
                          const DeviceBuffer<unsigned>& values, int cluster) {
    DeviceBuffer<unsigned> bins(std::vector<unsigned>(bin_count, 0));
    const auto launch = [&](cudaStream_t) {
        workbook::launch(kernel, histogram_shape(values.size(), cluster), values.data(), values.size(),
                         bins.data(), bins_per_block(cluster));
    };
    launch(nullptr);
    const std::vector<unsigned> counted = bins.download();
    if (std::accumulate(counted.begin(), counted.end(), std::size_t{0}) != values.size())
        return bench.wrong(std::string(counts) + ": counted too few or too many");
    const auto timing = bench.time_checked(values.size_bytes(), launch);
    bench.row("histogram_causes",
              workbook::joined<BenchCell>({{"counts", counts}, {"values", spread}, {"cluster", cluster}},
                                          workbook::timing_cells(timing, values.size_bytes())));
}

inline void histogram_causes(Bench& bench, const DeviceBuffer<unsigned>& sloping) {
    bench.table("histogram_causes", "The histogram: where its additions go, and how its values are spread",
                workbook::joined<workbook::BenchColumn>(
                    {{"counts", "counts"}, {"values", "values"}, {"cluster", "blocks of the cluster"}},
                    workbook::timing_columns()));
    DeviceBuffer<unsigned> even(sloping.size());
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(even.size()), even.data(),
                     even.size());
    for (const int cluster : {1, 2, 4, 8, 16}) {
        histogram_row(bench, "in the block that has the bin", "sloping", histogram, sloping, cluster);
        histogram_row(bench, "in the block that has the bin", "even", histogram, even, cluster);
        histogram_row(bench, "in the own block", "sloping", histogram_at_home, sloping, cluster);
    }
}

// ---- what it takes to launch a cluster ----

__global__ void no_work() {}

inline void launches(Bench& bench) {
    bench.table("cluster_launch", "Blocks of 256 threads that do nothing, one after the other",
                workbook::joined<workbook::BenchColumn>(
                    {{"cluster", "blocks of the cluster, 0: no cluster"}, {"blocks", "blocks"}},
                    workbook::timing_columns()));
    const unsigned blocks = bench.size(1u << 19, 1u << 6);
    for (const int cluster : {0, 1, 2, 4, 8, 16}) {
        workbook::LaunchShape shape = cluster_shape(1, cluster > 0 ? cluster : 1);
        shape.grid.x = blocks;
        if (cluster == 0)
            shape.cluster.reset();
        const auto timing = bench.time(1, [&](cudaStream_t) { workbook::launch(no_work, shape); });
        bench.row("cluster_launch", workbook::joined<BenchCell>({{"cluster", cluster}, {"blocks", blocks}},
                                                                workbook::timing_cells(timing, 0)));
    }
}

// ---- from shared memory to shared memory ----

/// How bytes come to the neighbour.
enum class Way { pull, push, bulk };

inline constexpr int exchange_chunks = 2048; ///< of 16 bytes: 32 KiB
inline constexpr unsigned inboxes = 3;

/// Dynamic shared memory of `exchange`.
struct ExchangeMemory {
    alignas(128) uint4 outbox[exchange_chunks];
    uint4 inbox[inboxes][exchange_chunks];
    std::uint64_t full[inboxes];
    std::uint64_t empty[inboxes];
};

/// One thread sends the outbox with bulk copies, another receives; every inbox is handed back as a stage is.
__device__ inline void exchange_by_bulk(ExchangeMemory& memory, unsigned rounds) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned blocks = cluster.num_blocks();
    const unsigned right = (cluster.block_rank() + 1) % blocks;
    const unsigned left = (cluster.block_rank() + blocks - 1) % blocks;
    for (unsigned r = 0; r < rounds; ++r) {
        const unsigned box = r % inboxes;
        const unsigned phase = r / inboxes % 2;
        if (threadIdx.x == 0) {
            while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &memory.empty[box],
                                                  phase ^ 1)) {
            }
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared,
                               cluster.map_shared_rank(memory.inbox[box], right), memory.outbox,
                               sizeof(memory.outbox), cluster.map_shared_rank(&memory.full[box], right));
        } else if (threadIdx.x == 32) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                           &memory.full[box], sizeof(memory.outbox));
            while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &memory.full[box],
                                                  phase)) {
            }
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                 cluster.map_shared_rank(&memory.empty[box], left));
        }
    }
}

/// Each block brings its 32 KiB to its right neighbour, `rounds` times, or reads its neighbour's; the sum of
/// what came is left in sums[block], for `pull` of every round.
template <Way way>
__global__ void exchange(unsigned rounds, unsigned* sums) {
    extern __shared__ ExchangeMemory exchange_memory[];
    ExchangeMemory& memory = exchange_memory[0];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned right = (cluster.block_rank() + 1) % cluster.num_blocks();
    for (unsigned i = threadIdx.x; i < exchange_chunks; i += block_threads)
        memory.outbox[i] = {i, 3 * i, 5 * i, 7 * i};
    if (threadIdx.x == 0) {
        for (unsigned box = 0; box < inboxes; ++box) {
            ptx::mbarrier_init(&memory.full[box], 1);
            ptx::mbarrier_init(&memory.empty[box], 1);
        }
        publish_barriers();
    }
    ptx::fence_proxy_async(ptx::space_shared);
    cluster.sync();
    unsigned sum = 0;
    const uint4* theirs = cluster.map_shared_rank(memory.outbox, right);
    uint4* to = cluster.map_shared_rank(memory.inbox[0], right);
    if constexpr (way == Way::bulk)
        exchange_by_bulk(memory, rounds);
    else
        for (unsigned r = 0; r < rounds; ++r) // every round begins elsewhere, so that none can be left out
#pragma unroll
            for (unsigned k = 0; k < exchange_chunks; k += block_threads) {
                const unsigned i = (threadIdx.x + k + r * 32) % exchange_chunks;
                if constexpr (way == Way::pull) {
                    const uint4 four = theirs[i];
                    sum += four.x + four.y + four.z + four.w;
                } else
                    to[i] = {i, 3 * i, 5 * i, 7 * i};
            }
    cluster.sync(); // everything has come
    if constexpr (way != Way::pull)
        for (unsigned i = threadIdx.x; i < exchange_chunks; i += block_threads) {
            const uint4 four = memory.inbox[0][i];
            sum += four.x + four.y + four.z + four.w;
        }
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sums + blockIdx.x, sum);
}

template <Way way>
void exchange_row(Bench& bench, const char* name, int cluster) {
    workbook::LaunchShape shape = cluster_shape(1, cluster);
    shape.grid.x = 120 / static_cast<unsigned>(cluster) * static_cast<unsigned>(cluster);
    shape.dynamic_shared = sizeof(ExchangeMemory);
    if (bench.dry())
        shape.grid.x = static_cast<unsigned>(cluster);
    const unsigned rounds = bench.size(400u, 4u);
    DeviceBuffer<unsigned> sums(std::vector<unsigned>(shape.grid.x, 0));
    const auto launch = [&](cudaStream_t) { workbook::launch(exchange<way>, shape, rounds, sums.data()); };
    launch(nullptr);
    constexpr unsigned one_round = 16u * (exchange_chunks / 2 * (exchange_chunks - 1));
    for (const unsigned sum : sums.download())
        if (sum != (way == Way::pull ? rounds * one_round : one_round))
            return bench.wrong(std::string(name) + ", clusters of " + std::to_string(cluster) +
                               ": wrong sum");
    const std::size_t bytes = std::size_t{rounds} * sizeof(ExchangeMemory::outbox) * shape.grid.x;
    const auto timing = bench.time_checked(std::size_t{1} << 40, launch);
    bench.row("exchange",
              workbook::joined<BenchCell>(
                  {{"way", name}, {"cluster", cluster}, {"blocks", shape.grid.x}, {"bytes", bytes}},
                  workbook::timing_cells(timing, bytes)));
}

inline void exchanges(Bench& bench) {
    bench.table("exchange", "32 KiB to the neighbour's shared memory, again and again, one block per SM",
                workbook::joined<workbook::BenchColumn>({{"way", "way"},
                                                         {"cluster", "blocks of the cluster"},
                                                         {"blocks", "blocks"},
                                                         {"bytes", "delivered", "bytes"}},
                                                        workbook::timing_columns()));
    for (const int cluster : {2, 4, 8}) {
        exchange_row<Way::pull>(bench, "loads of 16 bytes", cluster);
        exchange_row<Way::push>(bench, "stores of 16 bytes", cluster);
        exchange_row<Way::bulk>(bench, "bulk copies of 32 KiB", cluster);
    }
}

} // namespace clusters
