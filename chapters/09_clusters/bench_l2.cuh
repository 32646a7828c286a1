/// @file bench_l2.cuh
/// Chapter 9's measurements: the other way to add up what many blocks have, atomic additions in L2.
#pragma once

#include "clusters.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace clusters {

/// bins[value >> shift] += 1, in global memory: no cluster and no shared memory.
static __global__ void count_in_l2(const unsigned* values, std::size_t size, unsigned* bins, unsigned shift) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
        atomicAdd(bins + (values[i] >> shift), 1u);
}

/// `histogram` for tables of any power of two: 2^(32 - shift) bins, 2^home_shift in each block of the
/// cluster.
static __global__ void count_in_cluster(const unsigned* values, std::size_t size, unsigned* bins,
                                        unsigned shift, unsigned home_shift) {
    extern __shared__ unsigned local[];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned mine = 1u << home_shift;
    for (unsigned i = threadIdx.x; i < mine; i += blockDim.x)
        local[i] = 0;
    cluster.sync();
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
        const unsigned bin = values[i] >> shift;
        atomicAdd(cluster.map_shared_rank(local, bin >> home_shift) + (bin & (mine - 1)), 1u);
    }
    cluster.sync();
    unsigned* theirs = bins + (std::size_t{cluster.block_rank()} << home_shift);
    for (unsigned i = threadIdx.x; i < mine; i += blockDim.x)
        if (local[i] != 0)
            atomicAdd(theirs + i, local[i]);
}

/// A table of counters, and how it is kept.
struct TablePlan {
    unsigned bits;          ///< of a bin's number
    unsigned cluster_bits;  ///< of the number of blocks that share it; 0: each block has all of it
    unsigned threads;       ///< of a block
    unsigned blocks_per_sm; ///< as many as have room
};

/// One way with one kind of values: its result against what L2 counted, then its time, from empty bins on.
inline void table_row(workbook::Bench& bench, const workbook::DeviceBuffer<unsigned>& values,
                      const char* spread, const TablePlan& plan, bool in_l2) {
    const unsigned shift = 32 - plan.bits, home_shift = plan.bits - plan.cluster_bits;
    const std::size_t bins_size = std::size_t{1} << plan.bits;
    workbook::DeviceBuffer<unsigned> bins(std::vector<unsigned>(bins_size, 0)),
        expected(std::vector<unsigned>(bins_size, 0));
    const auto sms = static_cast<unsigned>(workbook::device_attribute(cudaDevAttrMultiProcessorCount));
    const unsigned blocks = 1u << plan.cluster_bits;
    workbook::LaunchShape shape{.grid = sms * plan.blocks_per_sm / blocks * blocks, .block = plan.threads};
    if (bench.dry())
        shape.grid = std::max(2u, blocks);
    if (!in_l2) {
        shape.cluster = blocks;
        shape.non_portable_cluster = blocks > portable_cluster;
        shape.dynamic_shared = sizeof(unsigned) << home_shift;
    }
    const auto count = [&](cudaStream_t stream) {
        workbook::check(cudaMemsetAsync(bins.data(), 0, bins.size_bytes(), stream), "emptying the bins");
        if (in_l2)
            workbook::launch(count_in_l2, shape, values.data(), values.size(), bins.data(), shift);
        else
            workbook::launch(count_in_cluster, shape, values.data(), values.size(), bins.data(), shift,
                             home_shift);
    };
    count(nullptr);
    workbook::launch(count_in_l2, workbook::striding(values.size()), values.data(), values.size(),
                     expected.data(), shift);
    const std::string way = in_l2 ? "atomics in L2" : "shared memory of the cluster";
    if (bins.download() != expected.download())
        return bench.wrong(way + ": wrong counts of " + std::to_string(bins_size) + " bins");
    const auto timing = bench.time_checked(values.size_bytes(), count);
    bench.row("histogram_l2", workbook::joined<workbook::BenchCell>(
                                  {{"bins", static_cast<double>(bins_size)},
                                   {"values", spread},
                                   {"way", way},
                                   {"cluster", in_l2 ? 0 : static_cast<int>(blocks)},
                                   {"threads", static_cast<int>(plan.threads * plan.blocks_per_sm)}},
                                  workbook::timing_cells(timing, values.size_bytes())));
}

/// Tables that fit into one block, and tables that do not: in the cluster that holds them, and in L2.
inline void tables_in_l2(workbook::Bench& bench, const workbook::DeviceBuffer<unsigned>& sloping) {
    bench.table("histogram_l2", "A histogram in the shared memory of a cluster, and in L2",
                workbook::joined<workbook::BenchColumn>({{"bins", "bins"},
                                                         {"values", "values"},
                                                         {"way", "counted in"},
                                                         {"cluster", "blocks of the cluster, 0: no cluster"},
                                                         {"threads", "threads on an SM"}},
                                                        workbook::timing_columns()));
    workbook::DeviceBuffer<unsigned> even(sloping.size());
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(even.size()), even.data(),
                     even.size());
    constexpr TablePlan plans[] = {{13, 0, 256, 6},  // 32 KiB in each block
                                   {13, 1, 256, 8},  // 16 KiB
                                   {15, 0, 1024, 1}, // 128 KiB
                                   {16, 1, 1024, 1}, {17, 2, 1024, 1}, {18, 3, 1024, 1}, {19, 4, 1024, 1}};
    for (const TablePlan& plan : plans)
        for (const bool slope : {false, true}) {
            const auto& values = slope ? sloping : even;
            const char* const spread = slope ? "sloping" : "even";
            table_row(bench, values, spread, plan, false);
            if (plan.bits != 13 || plan.cluster_bits == 0) // 8192 bins are there twice
                table_row(bench, values, spread, {plan.bits, 0, 256, 8}, true);
        }
}

/// sums[g] += the sum of one block's elements, g its group of `group` blocks: what cluster_sum makes without
/// a cluster.
static __global__ void sum_in_l2(const unsigned* in, unsigned* sums, std::size_t size, unsigned group) {
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    const unsigned sum = block_sum(i < size ? in[i] : 0);
    if (threadIdx.x == 0)
        atomicAdd(sums + blockIdx.x / group, sum);
}

/// As launch_cluster_sum, but `sums` is emptied first and added to in L2.
inline void launch_sum_in_l2(std::span<const unsigned> in, std::span<unsigned> sums, int group) {
    workbook::check(cudaMemsetAsync(sums.data(), 0, sums.size_bytes(), nullptr), "emptying the sums");
    workbook::LaunchShape shape = cluster_shape(in.size(), group);
    shape.cluster.reset();
    workbook::launch(sum_in_l2, shape, in.data(), sums.data(), in.size(), static_cast<unsigned>(group));
}

} // namespace clusters
