/// @file bench_begins.cuh
/// Chapter 9's measurements: one ring, whose blocks begin with the same batch, or two by two of them, or
/// each with another; alone and in pairs. In turns with it run the ring of multicast_ring.cuh itself, where
/// all begin alike, and its blocks without a partner.
#pragma once

#include "bench_waits.cuh"

#include "workbook/bench.hpp"
#include "workbook/interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace clusters {

/// add_batches of multicast_ring.cuh. A block that loads alone hands back to itself, whatever its rank; and
/// if `counted`, its late batches are counted.
template <Loads loads, bool counted>
__device__ unsigned add_begun(const Stages& me, const unsigned* batches, unsigned count, BatchRing ring,
                              RingCycles* found) {
    unsigned sum = 0;
    [[maybe_unused]] Waited waited;
    [[maybe_unused]] const unsigned begin = counted ? cycle() : 0;
    RingState at;
    for (unsigned k = 0; k < count; ++k, at.advance(ring.stages)) {
        if constexpr (counted)
            counted_wait(&me.full[at.index], at.phase, waited);
        else
            wait_parity(&me.full[at.index], at.phase);
        const auto* stage = reinterpret_cast<const uint4*>(batches + at.index * ring.words);
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < ring.words / 4; i += block_threads) {
            const uint4 four = stage[i];
            sum += four.x + four.y + four.z + four.w;
        }
        if constexpr (loads == Loads::shared)
            hand_back(me, at.index);
        else {
            ptx::fence_proxy_async(ptx::space_shared);
            __syncwarp();
            if (threadIdx.x % 32 == 0)
                arrive_at(&me.empty[at.index], me.rank);
        }
    }
    if constexpr (counted)
        if (threadIdx.x % 32 == 0)
            add_counts(*found, cycle() - begin, waited, count);
    return sum;
}

/// stream_multicast and, with Loads::alone, the same ring filled by ordinary bulk copies; but `alike` blocks
/// in a row begin with the same batch, whatever their clusters. If `counted`, the warps count their late
/// batches. The array must be whole batches.
template <Loads loads, bool counted>
__global__ void __launch_bounds__(stream_threads)
    stream_begins(const unsigned* in, std::size_t size, BatchRing ring, unsigned alike, unsigned* sums,
                  RingCycles* found) {
    extern __shared__ __align__(128) unsigned batches[];
    __shared__ std::uint64_t full[most_stages];
    __shared__ std::uint64_t empty[most_stages];
    const cg::cluster_group cluster = cg::this_cluster();
    const Stages me{full, empty, loads == Loads::shared ? cluster.num_blocks() : 1, cluster.block_rank()};
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < ring.stages; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], me.blocks * reading_warps);
        }
        publish_barriers();
    }
    cluster.sync();
    const auto count = static_cast<unsigned>(size / ring.words);
    if (threadIdx.x == block_threads) {
        const unsigned groups = (gridDim.x + alike - 1) / alike;
        auto batch = static_cast<unsigned>(std::uint64_t{blockIdx.x / alike} * count / groups);
        const std::uint32_t bytes = ring.words * sizeof(unsigned);
        RingState at{.phase = 1};
        for (unsigned k = 0; k < count;
             ++k, at.advance(ring.stages), batch = batch + 1 < count ? batch + 1 : 0) {
            wait_parity(&me.empty[at.index], at.phase);
            std::uint64_t* bar = &me.full[at.index];
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
            const unsigned* from = in + std::size_t{batch} * ring.words;
            unsigned* to = batches + at.index * ring.words;
            if constexpr (loads == Loads::shared) {
                const unsigned first = me.rank * (ring.words / me.blocks);
                copy_multicast(to + first, from + first, bytes / me.blocks, bar,
                               static_cast<std::uint16_t>((1u << me.blocks) - 1));
            } else
                ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, to, from, bytes, bar);
        }
    } else if (threadIdx.x < block_threads) {
        const unsigned sum =
            __reduce_add_sync(~0u, add_begun<loads, counted>(me, batches, count, ring, found));
        if (threadIdx.x % 32 == 0)
            atomicAdd(sums + blockIdx.x, sum);
    }
    cluster.sync(); // nobody leaves while another may still arrive on its barriers, or send to it
}

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

/// One way to stream: its kernel and loads, the blocks of its cluster (0: launched without the attribute),
/// and how many in a row begin alike (0: all).
struct Begin {
    const char* kernel;
    Loads loads;
    unsigned cluster;
    unsigned alike;
};

/// The ring of one way: launched as it is, or by the twin that counts the late batches.
class BegunRing {
  public:
    BegunRing(const Operand& operand, BatchRing ring, Begin way, unsigned grid)
        : operand_(operand), ring_(ring), way_(way), sums_(grid) {}

    void run() {
        if (name() == "stream_multicast")
            launch_stream_multicast(operand_.in.span(), sums_.span(), ring_, static_cast<int>(way_.cluster));
        else if (name() == "stream_own")
            workbook::launch(stream_own, shape(), operand_.in.data(), operand_.in.size(), ring_,
                             sums_.data());
        else
            begin<false>();
    }
    /// The late batches among 100, of a few launches.
    [[nodiscard]] double late() {
        found_.upload(std::vector<RingCycles>(1));
        for (int launch = 0; launch < 20; ++launch)
            begin<true>();
        const RingCycles found = found_.download().front();
        return 100 * static_cast<double>(found.late) / static_cast<double>(found.batches);
    }
    [[nodiscard]] std::string name() const { return way_.kernel; }
    [[nodiscard]] bool counts() const { return name() == "stream_begins"; }
    /// Whether every block sees the whole array, counted or not.
    [[nodiscard]] bool right() {
        for (const bool counted : {false, true}) {
            if (counted && !counts())
                continue;
            found_.upload(std::vector<RingCycles>(1));
            sums_.upload(std::vector<unsigned>(sums_.size(), 0));
            counted ? begin<true>() : run();
            if (sums_.download() != std::vector<unsigned>(sums_.size(), operand_.sum))
                return false;
        }
        return true;
    }

  private:
    [[nodiscard]] workbook::LaunchShape shape() {
        const int cluster = static_cast<int>(std::max(way_.cluster, 1u));
        workbook::LaunchShape shape = stream_shape(sums_.span(), ring_, cluster);
        if (way_.cluster == 0)
            shape.cluster.reset();
        return shape;
    }
    template <bool counted>
    void begin() {
        const auto grid = static_cast<unsigned>(sums_.size());
        const unsigned alike = way_.alike == 0 ? grid : std::min(way_.alike, grid);
        workbook::launch(way_.loads == Loads::shared ? stream_begins<Loads::shared, counted>
                                                     : stream_begins<Loads::alone, counted>,
                         shape(), operand_.in.data(), operand_.in.size(), ring_, alike, sums_.data(),
                         found_.data());
    }

    const Operand& operand_;
    BatchRing ring_;
    Begin way_;
    DeviceBuffer<unsigned> sums_;
    DeviceBuffer<RingCycles> found_{1};
};

/// Rings of several shapes in all ways, timed in turns. The checks of all shapes come first, so that a
/// profiler finds them in the order of the rows.
inline void begins(Bench& bench) {
    bench.table("ring_begins", "A ring by how many blocks begin with the same batch, alone and in pairs",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                         {"loads", "loads"},
                                                         {"cluster", "blocks of the cluster"},
                                                         {"alike", "blocks that begin alike"},
                                                         {"batch", "batch", "bytes"},
                                                         {"stages", "stages"},
                                                         {"blocks", "blocks"},
                                                         {"late", "batches late for a warp", "%"}},
                                                        workbook::timing_columns()));
    constexpr auto own = Loads::alone, shared = Loads::shared;
    const std::vector<Begin> ways{{"stream_begins", own, 2, 1},     {"stream_begins", own, 2, 2},
                                  {"stream_begins", own, 2, 4},     {"stream_begins", own, 2, 12},
                                  {"stream_begins", own, 2, 44},    {"stream_begins", own, 2, 0},
                                  {"stream_begins", own, 1, 1},     {"stream_begins", own, 1, 2},
                                  {"stream_begins", own, 1, 0},     {"stream_begins", own, 0, 1},
                                  {"stream_begins", own, 0, 2},     {"stream_begins", own, 0, 0},
                                  {"stream_begins", shared, 2, 2},  {"stream_begins", shared, 2, 4},
                                  {"stream_begins", shared, 2, 12}, {"stream_begins", shared, 2, 44},
                                  {"stream_begins", shared, 2, 0},  {"stream_begins", shared, 1, 1},
                                  {"stream_begins", shared, 1, 0},  {"stream_multicast", shared, 2, 0},
                                  {"stream_own", own, 1, 0}};
    struct Shape {
        std::size_t batch;
        unsigned stages;
    };
    const auto shapes =
        bench.ends<Shape>({{32 * kib, 3}, {32 * kib, 4}, {32 * kib, 2}, {16 * kib, 3}, {16 * kib, 6}});
    const unsigned grid = bench.dry() ? 4U : one_block_per_sm(stream_multicast, 2);
    const Operand operand(bench.size(std::size_t{1} << 22, 5 * 32 * kib / sizeof(unsigned)));
    const auto rings_of = [&](const Shape& shape) {
        const BatchRing ring{static_cast<unsigned>(shape.batch / sizeof(unsigned)),
                             bench.dry() ? 2 : shape.stages};
        std::vector<BegunRing> rings;
        for (const Begin& way : ways)
            rings.emplace_back(operand, ring, way, grid);
        return rings;
    };
    for (const Shape& shape : shapes)
        for (BegunRing& each : rings_of(shape))
            if (!each.right())
                return bench.wrong(each.name() + ": wrong sum");
    for (const Shape& shape : shapes) {
        const auto& [batch, stages] = shape;
        std::vector<BegunRing> rings = rings_of(shape);
        std::vector<workbook::Contender> contenders;
        for (BegunRing& each : rings)
            contenders.push_back({each.name(), [&each] { each.run(); }});
        const bool timed = bench.mode() == workbook::BenchMode::measure;
        const auto times = timed ? workbook::measure_in_turns(contenders) : std::vector<workbook::Timing>{};
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const auto& [kernel, loads, cluster, alike] = ways[i];
            std::vector<BenchCell> cells{
                {"kernel", kernel},   {"loads", loads == shared ? "multicast" : "each block loads"},
                {"cluster", cluster}, {"alike", alike == 0 ? grid : alike},
                {"batch", batch},     {"stages", stages},
                {"blocks", grid}};
            if (!times.empty() && rings[i].counts())
                cells.push_back({"late", rings[i].late()});
            // bytes: what one block gets
            bench.row("ring_begins",
                      workbook::joined<BenchCell>(
                          cells, times.empty() ? std::vector<BenchCell>{}
                                               : workbook::timing_cells(times[i], operand.in.size_bytes())));
        }
    }
}

} // namespace clusters
