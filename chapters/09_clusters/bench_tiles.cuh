/// @file bench_tiles.cuh
/// Chapter 9's measurements: one tile for each cluster, loaded by each block or by multicast, and what the
/// barrier before the copy costs.
#pragma once

#include "bench_rings.cuh"
#include "remote_async.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clusters {

using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

/// At which barrier of the cluster all blocks meet before the copy.
enum class Meeting {
    relaxed, ///< with an arrival that publishes nothing
    sync     ///< with the release and the acquire of cluster.sync()
};

/// tile_for_each and multicast_tile differ in two things, the loads and the barrier; these are between them.
template <Loads loads, Meeting meeting>
__global__ void same_tile(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ alignas(16) unsigned tile[tile_elements];
    __shared__ std::uint64_t bar;
    const auto [blocks, rank, start, count, in_tile, bytes] = tile_of_cluster(in, size);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        publish_barriers();
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, bytes);
    }
    if constexpr (meeting == Meeting::relaxed) {
        ptx::barrier_cluster_arrive(ptx::sem_relaxed);
        ptx::barrier_cluster_wait();
    } else
        cg::this_cluster().sync();
    if (threadIdx.x == 0 && bytes > 0) {
        if constexpr (loads == Loads::alone)
            ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, in + start, bytes, &bar);
        else if (rank == 0)
            copy_multicast(tile, in + start, bytes, &bar, static_cast<std::uint16_t>((1u << blocks) - 1));
    }
    wait_for_cluster(&bar);
    store_turned(tile, in_tile, in + start, count, rank, out + rank * size + start);
}

struct TileKernel {
    const char* name;
    const char* loads;
    const char* meeting;
    void (*kernel)(const unsigned*, unsigned*, std::size_t);
    bool shared;
};

/// The chapter's own kernels, which also write: what is saved is a part of the traffic.
inline void tiles(Bench& bench) {
    bench.table("multicast_tile", "One tile read for each cluster, a copy per block written",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                         {"loads", "loads"},
                                                         {"meeting", "barrier before the copy"},
                                                         {"cluster", "blocks of the cluster"},
                                                         {"l2_bytes", "asked of L2", "bytes"},
                                                         {"written", "written", "bytes"}},
                                                        workbook::timing_columns()));
    const std::size_t size = bench.size(std::size_t{1} << 24, std::size_t{1} << 12);
    DeviceBuffer<unsigned> in(size);
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(size), in.data(), size);
    constexpr TileKernel kernels[] = {
        {"tile_for_each", "each block", "the block's", tile_for_each, false},
        {"tile_for_each_met", "each block", "the cluster's, relaxed",
         same_tile<Loads::alone, Meeting::relaxed>, false},
        {"multicast_tile", "multicast", "the cluster's, relaxed", multicast_tile, true},
        {"tile_for_each_synced", "each block", "cluster.sync()", same_tile<Loads::alone, Meeting::sync>,
         false},
        {"multicast_tile_synced", "multicast", "cluster.sync()", same_tile<Loads::shared, Meeting::sync>,
         true},
    };
    for (const int cluster : {2, 4, 8, 16}) {
        const std::size_t copies = size * static_cast<std::size_t>(cluster);
        DeviceBuffer<unsigned> expected(copies);
        DeviceBuffer<unsigned> out(copies);
        launch_tile_for_each(in.span(), expected.span(), cluster);
        for (const TileKernel& k : kernels) {
            out.poison();
            const auto launch = [&](cudaStream_t) {
                launch_same_tile(k.kernel, in.span(), out.span(), cluster);
            };
            launch(nullptr);
            DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
            workbook::launch(workbook::count_different<unsigned>, workbook::striding(copies), expected.data(),
                             out.data(), copies, wrong.data());
            if (wrong.download().front() > 0)
                bench.wrong(std::string(k.name) + ", clusters of " + std::to_string(cluster) + ": wrong");
            const std::size_t bytes = in.size_bytes() + out.size_bytes();
            const std::vector<BenchCell> cells{{"kernel", k.name},
                                               {"loads", k.loads},
                                               {"meeting", k.meeting},
                                               {"cluster", cluster},
                                               {"l2_bytes", k.shared ? in.size_bytes() : out.size_bytes()},
                                               {"written", out.size_bytes()}};
            bench.row("multicast_tile",
                      workbook::joined<BenchCell>(
                          cells, workbook::timing_cells(bench.time_checked(bytes, launch), bytes)));
        }
    }
}

} // namespace clusters
