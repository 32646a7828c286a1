/// @file bench.cu
/// Chapter 3's measurements: what barriers and fences take in cycles, how long it takes to hand the turn to
/// another warp, and what separates the twins producer_consumer and producer_consumer_mbarrier.
#include "bench_split.cuh"
#include "bench_uneven.cuh"
#include "pair_mixes.cuh"
#include "sync_cost.cuh"
#include "twins.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sync_cost;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

// ---- chains of one operation ----

using ChainKernel = void (*)(int, int, unsigned, unsigned*, Chain*);

/// One operation: how the chain begins, and what must come out after an even number of steps.
struct Operation {
    const char* name;
    ChainKernel kernel;
    unsigned begin = 0;
    bool whole_block = true; ///< false: the block has all of its warps, and only some take part
};

/// The cycles of one step with `warps` warps.
std::optional<workbook::Timing> time_chain(Bench& bench, const Operation& operation, int warps) {
    const int steps = bench.size(256, 4);
    const int threads = warps * warp_threads;
    DeviceBuffer<unsigned> words(most_threads);
    DeviceBuffer<Chain> result(1);
    return quartiles(bench, [&]() -> std::optional<double> {
        result.poison();
        const auto block = static_cast<unsigned>(operation.whole_block ? threads : most_threads);
        workbook::launch(operation.kernel, {.block = block}, threads, steps, operation.begin, words.data(),
                         result.data());
        const Chain chain = result.download().front();
        if (chain.value != operation.begin) {
            bench.wrong(std::string(operation.name) + ": a step gave another value than it should");
            return std::nullopt;
        }
        return static_cast<double>(chain.cycles) / steps;
    });
}

void barriers_part(Bench& bench) {
    bench.table("sync_cycles", "One operation after the other: the cycles of each, with so many warps",
                workbook::joined<workbook::BenchColumn>({{"operation", "operation"}, {"warps", "warps"}},
                                                        cycle_columns()));
    constexpr Operation operations[] = {
        {.name = "__syncwarp()", .kernel = chain_of<SyncWarp>},
        {.name = "__syncthreads()", .kernel = chain_of<SyncThreads>},
        {.name = "bar.sync 1", .kernel = chain_of<SecondBarrier>},
        {.name = "bar.sync 1, n in a block of 32 warps",
         .kernel = chain_of<NamedBarrier>,
         .whole_block = false},
        {.name = "mbarrier.arrive, all lanes", .kernel = chain_of<Arrive>},
        {.name = "mbarrier.arrive, one lane of each warp", .kernel = chain_of<ArriveOneLane>},
        {.name = "try_wait, phase complete", .kernel = chain_of<WaitHit<true>>, .begin = 1},
        {.name = "test_wait, phase complete", .kernel = chain_of<WaitHit<false>>, .begin = 1},
        {.name = "test_wait, phase not complete", .kernel = chain_of<TestMiss>},
        {.name = "all arrive, all wait", .kernel = chain_of<RoundAll>},
        {.name = "cuda::barrier, arrive_and_wait()", .kernel = chain_of<RoundLibrary>},
    };
    for (const Operation& operation : operations)
        for (const int warps : {1, 2, 4, 8, 16, 32})
            bench.row("sync_cycles",
                      workbook::joined<BenchCell>({{"operation", operation.name}, {"warps", warps}},
                                                  cycle_cells(time_chain(bench, operation, warps))));
}

// ---- fences ----

template <Kind kind>
void time_fence(Bench& bench) {
    constexpr struct {
        const char* after;
        ChainKernel kernel;
    } cases[] = {{"nothing", chain_of<FenceAfter<kind, After::nothing>>},
                 {"a store to shared memory", chain_of<FenceAfter<kind, After::shared_store>>},
                 {"a store to global memory", chain_of<FenceAfter<kind, After::global_store>>}};
    const char* name = kind_names[static_cast<int>(kind)];
    for (const auto& [after, kernel] : std::span(cases).subspan(kind == Kind::none ? 1 : 0))
        for (const int warps : {1, 8})
            bench.row("fence_cycles",
                      workbook::joined<BenchCell>(
                          {{"fence", name}, {"after", after}, {"warps", warps}},
                          cycle_cells(time_chain(bench, {.name = name, .kernel = kernel}, warps))));
}

void fences_part(Bench& bench) {
    bench.table("fence_cycles", "One fence after the other: the cycles of each, and of what it has to order",
                workbook::joined<workbook::BenchColumn>(
                    {{"fence", "fence"}, {"after", "after"}, {"warps", "warps"}}, cycle_columns()));
    time_fence<Kind::none>(bench);
    time_fence<Kind::block>(bench);
    time_fence<Kind::device>(bench);
    time_fence<Kind::system>(bench);
    time_fence<Kind::acq_rel_block>(bench);
    time_fence<Kind::acq_rel_device>(bench);
    time_fence<Kind::proxy_shared>(bench);
    time_fence<Kind::proxy_all>(bench);
    time_fence<Kind::barrier_init>(bench);
}

// ---- from warp to warp ----

template <Signal signal>
void time_turns(Bench& bench) {
    const int steps = bench.size(256, 4);
    DeviceBuffer<Chain> result(1);
    const char* name = signal_names[static_cast<int>(signal)];
    const auto timing = quartiles(bench, [&]() -> std::optional<double> {
        result.poison();
        workbook::launch(ping_pong<signal>, {.block = 2 * warp_threads}, steps, result.data());
        const Chain chain = result.download().front();
        if (chain.value != static_cast<unsigned>(steps)) {
            bench.wrong(std::string(name) + ": not all turns were taken");
            return std::nullopt;
        }
        return static_cast<double>(chain.cycles) / (2 * steps);
    });
    bench.row("turn_cycles", workbook::joined<BenchCell>({{"signal", name}}, cycle_cells(timing)));
}

/// How long one try_wait sleeps that does not come true, and how soon it wakes.
void time_misses(Bench& bench) {
    bench.table("try_wait_misses", "try_wait, while another warp lets a phase wait for so long",
                workbook::joined<workbook::BenchColumn>({{"delay", "the phase ends after", "cycles"},
                                                         {"looks", "looks that returned false"},
                                                         {"per_look", "cycles of one look"}},
                                                        cycle_columns()));
    DeviceBuffer<Misses> result(1);
    for (const long long delay : {1'000LL, 10'000LL, 100'000LL, 1'000'000LL, 10'000'000LL}) {
        std::vector<double> looks;
        std::vector<double> per_look;
        const long long cycles = bench.size(delay, delay / 1000);
        const auto timing = quartiles(bench, [&]() -> std::optional<double> {
            result.poison();
            workbook::launch(miss_then_hit, {.block = 2 * warp_threads}, cycles, result.data());
            const Misses misses = result.download().front();
            looks.push_back(misses.looks);
            per_look.push_back(static_cast<double>(misses.waited) / (misses.looks + 1));
            return static_cast<double>(misses.woken);
        });
        std::vector<BenchCell> cells{{"delay", cycles}};
        if (timing) {
            cells.emplace_back("looks", workbook::summarize(looks).median_ms);
            cells.emplace_back("per_look", workbook::summarize(per_look).median_ms);
        }
        bench.row("try_wait_misses", workbook::joined<BenchCell>(std::move(cells), cycle_cells(timing)));
    }
}

void turns_part(Bench& bench) {
    bench.table("turn_cycles", "Two warps of a block take turns: the cycles from one to the other",
                workbook::joined<workbook::BenchColumn>({{"signal", "signal"}}, cycle_columns()));
    time_turns<Signal::try_wait>(bench);
    time_turns<Signal::test_wait>(bench);
    time_turns<Signal::named_barrier>(bench);
    time_turns<Signal::flag>(bench);
    time_misses(bench);
}

// ---- the twins ----

struct Twin {
    const char* wait;
    const char* loops;
    int loads; ///< of a producer at a time; 0: as compiled
    void (*kernel)(barriers::Tiles);
};

template <twins::Wait wait, bool own_loops, int... loads>
void add_twins(std::vector<Twin>& all, const char* name) {
    (all.push_back({name, own_loops ? "two" : "one", loads, twins::twin<wait, loads, own_loops>}), ...);
}

void time_twin(Bench& bench, const Twin& twin, const DeviceBuffer<unsigned>& in,
               DeviceBuffer<unsigned>& out) {
    const barriers::Tiles tiles{in.data(), out.data(), in.size()};
    const auto launch = [&](cudaStream_t) {
        workbook::launch(twin.kernel,
                         {.grid = barriers::looping_grid(in.size()), .block = barriers::block_threads},
                         tiles);
    };
    out.poison();
    DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
    launch(nullptr);
    workbook::launch(twins::count_not_reversed, workbook::striding(in.size()), out.data(), in.size(),
                     wrong.data());
    if (wrong.download().front() > 0)
        return bench.wrong(std::string(twin.wait) + ", loads " + std::to_string(twin.loads) +
                           ": wrong result");
    const std::size_t bytes = 2 * in.size_bytes();
    bench.row("twins",
              workbook::joined<BenchCell>({{"wait", twin.wait}, {"loops", twin.loops}, {"loads", twin.loads}},
                                          workbook::timing_cells(bench.time_checked(bytes, launch), bytes)));
}

void twins_part(Bench& bench) {
    using namespace twins;
    bench.table(
        "twins", "The twins, and what lies between them, one thing changed at a time",
        workbook::joined<workbook::BenchColumn>({{"wait", "wait"},
                                                 {"loops", "loops"},
                                                 {"loads", "loads of a producer at a time, 0: as compiled"}},
                                                workbook::timing_columns()));
    DeviceBuffer<unsigned> in(bench.size(std::size_t{100'000'000}, std::size_t{20'001}));
    DeviceBuffer<unsigned> out(in.size());
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(in.size()), in.data(),
                     in.size());
    std::vector<Twin> all{{"producer_consumer", "two", 0, barriers::producer_consumer},
                          {"producer_consumer_mbarrier", "one", 0, barriers::producer_consumer_mbarrier}};
    add_twins<Wait::library_token, true, 0, 1, 2, 4, 8, 16>(all, "cuda::barrier, token");
    add_twins<Wait::library_token, false, 0, 8>(all, "cuda::barrier, token");
    add_twins<Wait::bare_token, true, 0, 1, 2, 4, 8, 16>(all, "mbarrier, token");
    add_twins<Wait::bare_token, false, 0, 8>(all, "mbarrier, token");
    add_twins<Wait::parity, true, 0, 1, 2, 4, 8, 16>(all, "mbarrier, parity");
    add_twins<Wait::parity, false, 0, 1, 2, 4, 8, 16>(all, "mbarrier, parity");
    const auto add_meeting = [&]<int... loads>(std::integer_sequence<int, loads...>) {
        (all.push_back({"__syncthreads()", "one", loads, meeting<loads>}), ...);
    };
    add_meeting(std::integer_sequence<int, 0, 1, 2, 4, 8, 16>{});
    for (const Twin& twin : all)
        time_twin(bench, twin, in, out);
}

constexpr workbook::BenchPart parts[] = {
    {"barriers", "the cycles of barriers, arrivals and looks", barriers_part},
    {"fences", "the cycles of fences", fences_part},
    {"turns", "from one warp to another, and a look that waits", turns_part},
    {"twins", "producers and consumers: what separates the twins", twins_part},
    {"split", "one warp comes late: work behind the wait, or before it", split_wait::split_part},
    {"uneven", "producers and consumers, if consumers are unevenly busy", uneven::uneven_part},
    {"pair_mixes", "two copies, with and without a second array that is written", barriers::pair_mixes},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("barriers_bench", parts, argc, argv); }
