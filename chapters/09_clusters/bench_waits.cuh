/// @file bench_waits.cuh
/// Chapter 9's measurements: for what the roles of a ring wait. The ring is stream_batches of
/// bench_rings.cuh, handed back plainly and read to the end; each kernel here counts one thing, and leaves
/// the other roles as they are.
#pragma once

#include "bench_streams.cuh"

#include "workbook/bench.hpp"
#include "workbook/interleaved.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace clusters {

/// What a kernel counts.
enum class Counts {
    full,  ///< how long the reading warps wait for a full stage
    empty, ///< how long the producers wait for an empty stage
    way    ///< how long a batch is on its way, seen by a warp that does nothing else
};

/// What was counted, in cycles of the SM: sums over those who count, and over launches.
struct RingCycles {
    unsigned long long loop;    ///< their loops, from the first wait to the end
    unsigned long long waited;  ///< of these, the waits; or, for Counts::way, from asking until full
    unsigned long long batches; ///< a number: the batches of these loops
    unsigned long long late;    ///< a number: those of them that were waited for
};

/// What one thread has waited so far. The lower half of the clock will do, as a loop takes far less than
/// 2^32 cycles.
struct Waited {
    unsigned cycles = 0;
    unsigned late = 0; ///< a number of waits
};

/// The lower half of the SM's clock.
__device__ inline unsigned cycle() { return static_cast<unsigned>(clock()); }

/// Waits as wait_parity does, and counts if the first look does not find the phase over. That look must not
/// suspend the thread, so it is a test_wait. Written in PTX, so that hardly an instruction is added to the
/// way of those who need not wait.
__device__ inline void counted_wait(std::uint64_t* bar, unsigned parity, Waited& waited) {
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 ".reg .u32 begin, end;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 over, [%2], %3;\n"
                 "@over bra DONE;\n"
                 "mov.u32 begin, %%clock;\n"
                 "AGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 over, [%2], %3;\n"
                 "@!over bra AGAIN;\n"
                 "mov.u32 end, %%clock;\n"
                 "sub.u32 end, end, begin;\n"
                 "add.u32 %0, %0, end;\n"
                 "add.u32 %1, %1, 1;\n"
                 "DONE:\n"
                 "}"
                 : "+r"(waited.cycles), "+r"(waited.late)
                 : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(bar))), "r"(parity)
                 : "memory");
}

/// Adds what one thread has counted to what all have.
__device__ inline void add_counts(RingCycles& found, unsigned loop, Waited waited, unsigned batches) {
    atomicAdd(&found.loop, static_cast<unsigned long long>(loop));
    atomicAdd(&found.waited, static_cast<unsigned long long>(waited.cycles));
    atomicAdd(&found.batches, static_cast<unsigned long long>(batches));
    atomicAdd(&found.late, static_cast<unsigned long long>(waited.late));
}

/// load_batches, which counts its waits, or notes for the watcher when it asks.
template <Loads loads, Counts counts>
__device__ void load_counted(const Stages& me, unsigned* batches, const unsigned* in, unsigned count,
                             BatchRing ring, unsigned* asked, RingCycles& found) {
    const unsigned clusters = gridDim.x / cg::this_cluster().num_blocks();
    const unsigned cluster = blockIdx.x / cg::this_cluster().num_blocks();
    unsigned batch = static_cast<unsigned>(std::uint64_t{cluster} * count / clusters);
    RingState at{.phase = 1};
    Waited waited;
    const unsigned begin = cycle();
    for (unsigned k = 0; k < count; ++k, at.advance(ring.stages), batch = batch + 1 < count ? batch + 1 : 0) {
        if constexpr (counts == Counts::empty)
            counted_wait(&me.empty[at.index], at.phase, waited);
        else {
            wait_parity(&me.empty[at.index], at.phase);
            asked[at.index] = cycle(); // the arrival below publishes it
        }
        std::uint64_t* full = &me.full[at.index];
        const std::uint32_t bytes = ring.words * sizeof(unsigned);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
        const unsigned* from = in + std::size_t{batch} * ring.words;
        unsigned* to = batches + at.index * ring.words;
        if constexpr (loads == Loads::shared) {
            const unsigned first = me.rank * (ring.words / me.blocks);
            copy_multicast(to + first, from + first, bytes / me.blocks, full,
                           static_cast<std::uint16_t>((1u << me.blocks) - 1));
        } else
            ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, to, from, bytes, full);
    }
    if constexpr (counts == Counts::empty)
        add_counts(found, cycle() - begin, waited, count);
}

/// add_batches, which counts its waits.
__device__ inline unsigned add_counted(const Stages& me, const unsigned* batches, unsigned count,
                                       BatchRing ring, RingCycles& found) {
    unsigned sum = 0;
    Waited waited;
    RingState at;
    const unsigned begin = cycle();
    for (unsigned k = 0; k < count; ++k, at.advance(ring.stages)) {
        counted_wait(&me.full[at.index], at.phase, waited);
        const auto* chunks = reinterpret_cast<const uint4*>(batches + at.index * ring.words);
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < ring.words / 4; i += block_threads) {
            const uint4 four = chunks[i];
            sum += four.x + four.y + four.z + four.w;
        }
        hand_back<Handover::plain>(me, at.index);
    }
    const unsigned loop = cycle() - begin;
    if (threadIdx.x % 32 == 0)
        add_counts(found, loop, waited, count);
    return sum;
}

/// One thread that sees every batch come: from the moment when its producer asks until the stage is full. It
/// arrives at empty too, so that the producer overwrites no moment that it has not read.
__device__ inline void watch_batches(const Stages& me, const unsigned* asked, unsigned count, BatchRing ring,
                                     RingCycles& found) {
    Waited on_way;
    RingState at;
    const unsigned begin = cycle();
    for (unsigned k = 0; k < count; ++k, at.advance(ring.stages)) {
        wait_parity(&me.full[at.index], at.phase);
        on_way.cycles += cycle() - asked[at.index];
        ptx::mbarrier_arrive(&me.empty[at.index]);
    }
    add_counts(found, cycle() - begin, on_way, count);
}

/// The threads of a block: for Counts::way a warp more, which watches.
template <Counts counts>
inline constexpr int counting_threads = counts == Counts::way ? stream_threads + 32 : stream_threads;

/// stream_batches, handed back plainly and read to the end, counted. The array must be whole batches.
template <Loads loads, Counts counts>
__global__ void __launch_bounds__(counting_threads<counts>)
    stream_counted(const unsigned* in, std::size_t size, BatchRing ring, unsigned* sums, RingCycles* found) {
    extern __shared__ __align__(128) unsigned batches[];
    __shared__ std::uint64_t full[most_stages];
    __shared__ std::uint64_t empty[most_stages];
    __shared__ unsigned asked[most_stages];
    const cg::cluster_group cluster = cg::this_cluster();
    const Stages me{full, empty, loads == Loads::shared ? cluster.num_blocks() : 1, cluster.block_rank()};
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < ring.stages; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], me.blocks * reading_warps + (counts == Counts::way ? 1 : 0));
        }
        publish_barriers();
    }
    cluster.sync();
    const auto count = static_cast<unsigned>(size / ring.words);
    if (threadIdx.x == block_threads) {
        if constexpr (counts == Counts::full)
            load_batches<loads, Handover::plain>(me, batches, in, count, ring);
        else
            load_counted<loads, counts>(me, batches, in, count, ring, asked, *found);
    } else if (threadIdx.x < block_threads) {
        unsigned sum = 0;
        if constexpr (counts == Counts::full)
            sum = add_counted(me, batches, count, ring, *found);
        else
            sum = add_batches<Handover::plain, Reads::all>(me, batches, count, ring);
        sum = __reduce_add_sync(~0u, sum);
        if (threadIdx.x % 32 == 0)
            atomicAdd(sums + blockIdx.x, sum);
    } else if (counts == Counts::way && threadIdx.x == stream_threads)
        watch_batches(me, asked, count, ring, *found);
    cluster.sync(); // nobody leaves while another may still arrive on its barriers, or send to it
}

/// One ring with one kind of loads: the kernel of the chapter, and those that count.
class CountedRing {
  public:
    CountedRing(const Operand& operand, BatchRing ring, int cluster, unsigned grid)
        : operand_(operand), ring_(ring), cluster_(cluster), sums_(grid) {
        forget();
    }

    /// Counts from 0 on.
    void forget() {
        for (DeviceBuffer<RingCycles>& counter : found_)
            counter.upload(std::vector<RingCycles>(1));
    }
    /// Launches the kernel that counts nothing.
    template <Loads loads>
    void plain() {
        launch_stream_batches<loads, Handover::plain>(operand_.in.span(), sums_.span(), ring_, cluster_);
    }
    /// Launches the kernel that counts this.
    template <Loads loads, Counts counts>
    void counted() {
        workbook::LaunchShape shape = stream_shape(sums_.span(), ring_, cluster_);
        shape.block.x = counting_threads<counts>;
        workbook::launch(stream_counted<loads, counts>, shape, operand_.in.data(), operand_.in.size(), ring_,
                         sums_.data(), found_[static_cast<int>(counts)].data());
    }
    /// Whether every block saw the whole array in one run of `work`.
    template <class Work>
    [[nodiscard]] bool right(Work&& work) {
        sums_.upload(std::vector<unsigned>(sums_.size(), 0));
        work();
        for (const unsigned sum : sums_.download())
            if (sum != operand_.sum)
                return false;
        return true;
    }
    /// The cells of what was counted. A stage is on its way, and then held until it is asked for again.
    [[nodiscard]] std::vector<BenchCell> cells() const {
        const RingCycles full = found(Counts::full), empty = found(Counts::empty), way = found(Counts::way);
        const auto of = [](unsigned long long part, unsigned long long whole) {
            return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
        };
        const double on_way = of(way.waited, way.batches);
        return {{"at_full", 100 * of(full.waited, full.loop)},
                {"late", 100 * of(full.late, full.batches)},
                {"cycles", of(full.loop, full.batches)},
                {"at_empty", 100 * of(empty.waited, empty.loop)},
                {"on_way", on_way},
                {"held", ring_.stages * of(way.loop, way.batches) - on_way}};
    }

  private:
    [[nodiscard]] RingCycles found(Counts counts) const {
        return found_[static_cast<int>(counts)].download().front();
    }

    const Operand& operand_;
    BatchRing ring_;
    int cluster_;
    DeviceBuffer<unsigned> sums_;
    DeviceBuffer<RingCycles> found_[3]{DeviceBuffer<RingCycles>(1), DeviceBuffer<RingCycles>(1),
                                       DeviceBuffer<RingCycles>(1)};
};

/// The kernels of one kind of loads, the one of the chapter first.
template <Loads loads>
std::vector<workbook::Contender> kernels_of(CountedRing& ring, const std::string& name) {
    return {{name, [&] { ring.plain<loads>(); }},
            {name + ", waits at full", [&] { ring.counted<loads, Counts::full>(); }},
            {name + ", waits at empty", [&] { ring.counted<loads, Counts::empty>(); }},
            {name + ", batches watched", [&] { ring.counted<loads, Counts::way>(); }}};
}

/// Checks one ring, times its kernels in turns with both kinds of loads, and writes its two rows.
inline void waits_of(Bench& bench, int cluster, std::size_t batch, unsigned stages) {
    const Operand operand(bench.size(std::size_t{1} << 22, 5 * batch / sizeof(unsigned)));
    const BatchRing shape{static_cast<unsigned>(batch / sizeof(unsigned)), bench.dry() ? 2 : stages};
    const unsigned grid = bench.dry() ? static_cast<unsigned>(cluster)
                                      : one_block_per_sm(stream_counted<Loads::shared, Counts::way>, cluster);
    CountedRing alone(operand, shape, cluster, grid), shared(operand, shape, cluster, grid);
    const std::vector<workbook::Contender> one = kernels_of<Loads::alone>(alone, "each block loads");
    const std::vector<workbook::Contender> two = kernels_of<Loads::shared>(shared, "multicast");
    for (std::size_t i = 0; i < one.size(); ++i)
        if (!alone.right(one[i].run) || !shared.right(two[i].run))
            return bench.wrong(one[i].name + " or " + two[i].name + ": wrong sum");
    alone.forget();
    shared.forget();
    const bool timed = bench.mode() == workbook::BenchMode::measure;
    const auto times =
        timed ? workbook::measure_in_turns(workbook::joined(one, two)) : std::vector<workbook::Timing>{};
    const auto row = [&](const std::string& loads, const CountedRing& ring, std::size_t first) {
        std::vector<BenchCell> cells{
            {"loads", loads}, {"cluster", cluster}, {"batch", batch}, {"stages", stages}, {"blocks", grid}};
        if (!times.empty()) {
            cells = workbook::joined<BenchCell>(std::move(cells), {{"median_ms", times[first].median_ms},
                                                                   {"lower_ms", times[first].lower_ms},
                                                                   {"upper_ms", times[first].upper_ms},
                                                                   {"full_ms", times[first + 1].median_ms},
                                                                   {"empty_ms", times[first + 2].median_ms},
                                                                   {"way_ms", times[first + 3].median_ms}});
            cells = workbook::joined(std::move(cells), ring.cells());
        }
        bench.row("ring_waits", cells);
    };
    row(one.front().name, alone, 0);
    row(two.front().name, shared, one.size());
}

/// Rings of several sizes, each block loading for itself and by multicast: how long the roles wait, and how
/// long a batch is on its way.
inline void waits(Bench& bench) {
    bench.table("ring_waits",
                "For what the roles of a ring wait: the kernel of the chapter, and three that count",
                {{"loads", "loads"},
                 {"cluster", "blocks of the cluster"},
                 {"batch", "batch", "bytes"},
                 {"stages", "stages"},
                 {"blocks", "blocks"},
                 {"median_ms", "time", "ms"},
                 {"lower_ms", "lower quartile", "ms"},
                 {"upper_ms", "upper quartile", "ms"},
                 {"full_ms", "waits at full counted", "ms"},
                 {"empty_ms", "waits at empty counted", "ms"},
                 {"way_ms", "batches watched", "ms"},
                 {"at_full", "warps wait at full", "%"},
                 {"late", "batches that a warp waits for", "%"},
                 {"cycles", "loop of a warp, each batch", "cycles"},
                 {"at_empty", "producers wait at empty", "%"},
                 {"on_way", "a batch is on its way", "cycles"},
                 {"held", "held until asked for again", "cycles"}});
    struct Ring {
        int cluster;
        std::size_t batch;
        unsigned stages;
    };
    for (const auto& [cluster, batch, stages] : bench.ends<Ring>({{2, 8 * kib, 2},
                                                                  {2, 16 * kib, 2},
                                                                  {2, 16 * kib, 3},
                                                                  {2, 16 * kib, 4},
                                                                  {2, 16 * kib, 6},
                                                                  {2, 16 * kib, 12},
                                                                  {2, 32 * kib, 2},
                                                                  {2, 32 * kib, 3},
                                                                  {2, 32 * kib, 4},
                                                                  {2, 32 * kib, 6},
                                                                  {8, 32 * kib, 3},
                                                                  {8, 32 * kib, 6},
                                                                  {8, 16 * kib, 12}}))
        waits_of(bench, cluster, batch, stages);
}

} // namespace clusters
