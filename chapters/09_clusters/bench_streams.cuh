/// @file bench_streams.cuh
/// Chapter 9's measurements: a ring of batches that every block needs, by multicast and without.
#pragma once

#include "bench_rings.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace clusters {

using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

inline constexpr std::size_t ring_bytes = 192 * 1024;
inline constexpr std::size_t kib = 1024;

/// An array that every block needs, and its sum.
struct Operand {
    explicit Operand(std::size_t words) : in(words) {
        workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(words), in.data(), words);
        for (const unsigned word : in.download())
            sum += word;
    }
    /// What a block sees that reads only the first chunks of each batch.
    [[nodiscard]] unsigned first_chunks(unsigned batch_words) const {
        const std::vector<unsigned> words = in.download();
        unsigned seen = 0;
        for (std::size_t batch = 0; batch + batch_words <= words.size(); batch += batch_words)
            for (std::size_t i = 0; i < std::size_t{4} * block_threads; ++i)
                seen += words[batch + i];
        return seen;
    }
    DeviceBuffer<unsigned> in;
    unsigned sum = 0;
};

/// As many blocks as run at the same time in clusters of this size, one on each SM.
template <class... Params>
unsigned one_block_per_sm(void (*kernel)(Params...), int cluster) {
    workbook::LaunchShape shape = cluster_shape(1, cluster);
    shape.block.x = stream_threads;
    shape.dynamic_shared = ring_bytes;
    workbook::raise_limits(kernel, shape);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(cluster);
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    workbook::check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config),
                    "cudaOccupancyMaxActiveClusters");
    return static_cast<unsigned>(clusters * cluster);
}

/// One way to stream: the words of its row, its launch, and the number of blocks that run at a time.
struct Stream {
    const char* loads;
    const char* handover;
    const char* reads;
    void (*launch)(std::span<const unsigned>, std::span<unsigned>, BatchRing, int);
    unsigned (*blocks)(int cluster);
    bool shared;
    bool reads_all;
};

inline constexpr const char* handover_names[] = {"plain", "plain, wait.acquire.cluster",
                                                 "arrive.release.cluster", "gathered, plain",
                                                 "gathered, arrive.release.cluster"};

template <Loads loads, Handover handover, Reads reads = Reads::all>
constexpr Stream stream{
    .loads = loads == Loads::shared ? "multicast" : "each block loads",
    .handover = handover_names[static_cast<int>(handover)],
    .reads = reads == Reads::all ? "all" : "4 KiB of each batch",
    .launch = launch_stream_batches<loads, handover, reads>,
    .blocks = [](int cluster) { return one_block_per_sm(stream_batches<loads, handover, reads>, cluster); },
    .shared = loads == Loads::shared,
    .reads_all = reads == Reads::all};

/// Checks one way to stream, times it, and writes its row.
inline void stream_row(Bench& bench, const char* table, const Operand& operand, const Stream& way,
                       int cluster, std::size_t batch_bytes, unsigned stages) {
    // Dry: two clusters, but of a large one not more than that.
    const unsigned grid = bench.dry() ? std::max(4U, static_cast<unsigned>(cluster)) : way.blocks(cluster);
    const BatchRing ring{static_cast<unsigned>(batch_bytes / sizeof(unsigned)),
                         bench.dry() ? 2 : stages}; // few enough to be used again
    DeviceBuffer<unsigned> sums(std::vector<unsigned>(grid, 0));
    const auto launch = [&](cudaStream_t) { way.launch(operand.in.span(), sums.span(), ring, cluster); };
    launch(nullptr);
    const unsigned expected = way.reads_all ? operand.sum : operand.first_chunks(ring.words);
    for (const unsigned sum : sums.download())
        if (sum != expected)
            return bench.wrong(std::string(way.loads) + ", " + way.handover + ", clusters of " +
                               std::to_string(cluster) + ": wrong sum");
    const std::size_t delivered = operand.in.size_bytes() * grid;
    const auto timing = bench.time_checked(std::size_t{1} << 40, launch); // the array shall stay in L2
    bench.row(table,
              workbook::joined<BenchCell>(
                  {{"loads", way.loads},
                   {"handover", way.handover},
                   {"reads", way.reads},
                   {"cluster", cluster},
                   {"batch", batch_bytes},
                   {"stages", stages},
                   {"blocks", grid},
                   {"l2_bytes", way.shared ? delivered / static_cast<std::size_t>(cluster) : delivered},
                   {"delivered", delivered}},
                  workbook::timing_cells(timing, delivered)));
}

inline void begin_streams(Bench& bench, const char* table, const char* title) {
    bench.table(table, title,
                workbook::joined<workbook::BenchColumn>({{"loads", "loads"},
                                                         {"handover", "how a stage is handed back"},
                                                         {"reads", "read of a batch"},
                                                         {"cluster", "blocks of the cluster"},
                                                         {"batch", "batch", "bytes"},
                                                         {"stages", "stages"},
                                                         {"blocks", "blocks"},
                                                         {"l2_bytes", "asked of L2", "bytes"},
                                                         {"delivered", "delivered to blocks", "bytes"}},
                                                        workbook::timing_columns()));
}

/// The array of 16 MiB; on the emulator two batches of the largest size, and no more of the small ones than
/// use a stage of two three times.
inline Operand operand_for(Bench& bench, std::size_t batch_bytes) {
    return Operand(
        bench.size(std::size_t{1} << 22, std::min(std::size_t{1} << 15, 5 * batch_bytes / sizeof(unsigned))));
}

/// Multicast against loads by each block, everything else the same: batches of every size in a ring of 192
/// KiB.
inline void multicasts(Bench& bench) {
    begin_streams(bench, "multicast", "An array of 16 MiB that every block needs, in a ring of 192 KiB");
    for (const std::size_t batch : bench.ends({4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib})) {
        const Operand operand = operand_for(bench, batch);
        const auto stages = static_cast<unsigned>(ring_bytes / batch);
        for (const int cluster : bench.ends({2, 4, 8, 16})) {
            stream_row(bench, "multicast", operand, stream<Loads::alone, Handover::plain>, cluster, batch,
                       stages);
            stream_row(bench, "multicast", operand, stream<Loads::shared, Handover::plain>, cluster, batch,
                       stages);
        }
    }
}

template <Loads loads>
void handovers_of(Bench& bench, const Operand& operand, int cluster, std::size_t batch) {
    for (const Stream& way : {stream<loads, Handover::plain>, stream<loads, Handover::wait_cluster>,
                              stream<loads, Handover::letter>, stream<loads, Handover::gathered>,
                              stream<loads, Handover::gathered_letter>})
        stream_row(bench, "handover", operand, way, cluster, batch,
                   static_cast<unsigned>(ring_bytes / batch));
}

/// The ways to hand a stage back, everything else the same.
inline void handovers(Bench& bench) {
    begin_streams(bench, "handover", "The same array: how a stage is handed back to those who write into it");
    for (const std::size_t batch : {16 * kib, 32 * kib}) {
        const Operand operand = operand_for(bench, batch);
        for (const int cluster : bench.ends({2, 4, 8, 16})) {
            handovers_of<Loads::alone>(bench, operand, cluster, batch);
            handovers_of<Loads::shared>(bench, operand, cluster, batch);
        }
    }
}

/// What limits the stream: the number of bytes in the ring, the size of a batch, or those who read it.
inline void stream_limits(Bench& bench) {
    begin_streams(bench, "stream_limits",
                  "The same array in clusters of two: batches, stages, and how much is read");
    for (const std::size_t batch : {8 * kib, 16 * kib, 32 * kib}) {
        const Operand operand = operand_for(bench, batch);
        for (const unsigned stages : {2u, 3u, 4u, 6u, 12u})
            for (const Stream& way :
                 {stream<Loads::alone, Handover::plain>, stream<Loads::shared, Handover::plain>,
                  stream<Loads::alone, Handover::plain, Reads::one_chunk>,
                  stream<Loads::shared, Handover::plain, Reads::one_chunk>})
                if (batch * stages <= ring_bytes)
                    stream_row(bench, "stream_limits", operand, way, 2, batch, stages);
    }
}

} // namespace clusters
