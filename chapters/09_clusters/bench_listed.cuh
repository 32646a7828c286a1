/// @file bench_listed.cuh
/// Chapter 9's measurements: the ring of multicast_ring.cuh itself, in pairs and without a partner. In it all
/// clusters begin at the same batch; in the ring of bench_rings.cuh each begins elsewhere.
#pragma once

#include "bench_streams.cuh"

#include "workbook/bench.hpp"
#include "workbook/interleaved.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace clusters {

/// stream_multicast without a partner, for clusters of one: its readers, but the producer asks for each batch
/// by an ordinary bulk copy. The array must be whole batches.
__global__ void __launch_bounds__(stream_threads)
    stream_own(const unsigned* in, std::size_t size, BatchRing ring, unsigned* sums) {
    extern __shared__ __align__(128) unsigned batches[];
    __shared__ std::uint64_t full[most_stages];
    __shared__ std::uint64_t empty[most_stages];
    const Stages me{full, empty, 1, 0};
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < ring.stages; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], me.blocks * reading_warps);
        }
        publish_barriers();
    }
    cg::this_cluster().sync();
    const auto count = static_cast<unsigned>(size / ring.words);
    if (threadIdx.x == block_threads) {
        const std::uint32_t bytes = ring.words * sizeof(unsigned);
        RingState at{.phase = 1};
        for (unsigned k = 0; k < count; ++k, at.advance(ring.stages)) {
            wait_parity(&me.empty[at.index], at.phase);
            std::uint64_t* bar = &me.full[at.index];
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
            ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, batches + at.index * ring.words,
                               in + std::size_t{k} * ring.words, bytes, bar);
        }
    } else if (threadIdx.x < block_threads) {
        const unsigned sum = __reduce_add_sync(~0u, add_batches(me, batches, count, ring));
        if (threadIdx.x % 32 == 0)
            atomicAdd(sums + blockIdx.x, sum);
    }
    cg::this_cluster().sync();
}

/// As launch_stream_multicast, in clusters of one.
inline void launch_stream_own(std::span<const unsigned> in, std::span<unsigned> sums, BatchRing ring, int) {
    workbook::launch(stream_own, stream_shape(sums, ring, 1), in.data(), in.size(), ring, sums.data());
}

/// The listed ring in pairs, and its blocks without a partner: by a multicast to themselves, or by ordinary
/// copies. Next to them the ring of the other measurements, whose blocks that load alone come in both sizes
/// of clusters, to tell that from where they begin. All in turns, for rings of several shapes.
inline void listed_rings(Bench& bench) {
    bench.table("listed_ring", "The ring of the listing and that of the measurements, in pairs and without",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                         {"loads", "loads"},
                                                         {"cluster", "blocks of the cluster"},
                                                         {"batch", "batch", "bytes"},
                                                         {"stages", "stages"},
                                                         {"blocks", "blocks"}},
                                                        workbook::timing_columns()));
    struct Way {
        const char* kernel;
        const char* loads;
        int cluster;
        void (*launch)(std::span<const unsigned>, std::span<unsigned>, BatchRing, int);
    };
    const std::vector<Way> ways{
        {"stream_multicast", "multicast", 2, launch_stream_multicast},
        {"stream_multicast", "multicast", 1, launch_stream_multicast},
        {"stream_own", "each block loads", 1, launch_stream_own},
        {"stream_batches", "multicast", 2, launch_stream_batches<Loads::shared, Handover::plain>},
        {"stream_batches", "each block loads", 2, launch_stream_batches<Loads::alone, Handover::plain>},
        {"stream_batches", "each block loads", 1, launch_stream_batches<Loads::alone, Handover::plain>}};
    const unsigned grid = bench.dry() ? 4U : one_block_per_sm(stream_multicast, 2);
    struct Shape {
        std::size_t batch;
        unsigned stages;
    };
    for (const auto& [batch, stages] :
         bench.ends<Shape>({{32 * kib, 3}, {32 * kib, 2}, {32 * kib, 4}, {16 * kib, 3}, {16 * kib, 6}})) {
        const Operand operand(bench.size(std::size_t{1} << 22, 5 * batch / sizeof(unsigned)));
        const BatchRing ring{static_cast<unsigned>(batch / sizeof(unsigned)), bench.dry() ? 2 : stages};
        DeviceBuffer<unsigned> sums(grid);
        std::vector<workbook::Contender> contenders;
        for (const Way& way : ways)
            contenders.push_back(
                {way.kernel, [&] { way.launch(operand.in.span(), sums.span(), ring, way.cluster); }});
        for (const workbook::Contender& each : contenders) {
            sums.upload(std::vector<unsigned>(grid, 0));
            each.run();
            if (sums.download() != std::vector<unsigned>(grid, operand.sum))
                return bench.wrong(each.name + ": wrong sum");
        }
        const bool timed = bench.mode() == workbook::BenchMode::measure;
        const auto times = timed ? workbook::measure_in_turns(contenders) : std::vector<workbook::Timing>{};
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const Way& way = ways[i];
            const std::vector<BenchCell> cells{{"kernel", way.kernel},   {"loads", way.loads},
                                               {"cluster", way.cluster}, {"batch", batch},
                                               {"stages", stages},       {"blocks", grid}};
            // bytes: what one block gets
            bench.row("listed_ring",
                      workbook::joined<BenchCell>(
                          cells, times.empty() ? std::vector<BenchCell>{}
                                               : workbook::timing_cells(times[i], operand.in.size_bytes())));
        }
    }
}

} // namespace clusters
