/// @file bench_split.cuh
/// A measurement: what does work between arrive and wait gain, if one warp comes late? One block, and one
/// barrier of all its threads, as split_arrive_wait has.
#pragma once

#include "barriers.cuh"
#include "bench_cycles.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace split_wait {

using namespace barriers;
using sync_cost::multiply_adds;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

#pragma nv_diag_suppress static_var_with_dynamic_init // as in barriers.cuh

inline constexpr int warps = block_threads / 32;

/// What happens in each round, in multiply-adds.
struct Plan {
    int rounds;
    int late; ///< of one warp, before it arrives; the next round has another warp
    int own;  ///< of every thread, and they need nobody
};

/// In every round each thread publishes its value and takes the opposite one, which needs all to have
/// arrived. Its own work lies between arrive and wait (`split`), or behind both. Two tiles in turns: a value
/// is overwritten two rounds later, when all have passed the barrier in between.
template <bool split>
__global__ void late_warp(Plan plan, unsigned* values, long long* cycles) {
    __shared__ unsigned tiles[2][block_threads];
    __shared__ Barrier bar;
    if (threadIdx.x == 0)
        init(&bar, block_threads);
    __syncthreads();
    unsigned value = threadIdx.x;
    const int warp = threadIdx.x / 32;
    const long long begin = clock64();
    for (int round = 0; round < plan.rounds; ++round) {
        if (round % warps == warp)
            value = multiply_adds(value, plan.late);
        tiles[round % 2][threadIdx.x] = value;
        unsigned own;
        if constexpr (split) {
            Barrier::arrival_token token = bar.arrive();
            own = multiply_adds(value, plan.own);
            asm volatile("" : "+r"(own)::"memory"); // now, as in split_arrive_wait
            bar.wait(std::move(token));
        } else {
            bar.arrive_and_wait();
            own = multiply_adds(value, plan.own);
            asm volatile(""
                         : "+r"(own)::"memory"); // the opposite value is not fetched before, nor in `split`
        }
        value = own ^ tiles[round % 2][block_threads - 1 - threadIdx.x];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    values[threadIdx.x] = value;
}

/// The own work of late_warp and no barrier.
__global__ void nobody_waits(Plan plan, unsigned* values, long long* cycles) {
    __syncthreads();
    unsigned value = threadIdx.x;
    const long long begin = clock64();
    for (int round = 0; round < plan.rounds; ++round)
        value = multiply_adds(value, plan.own);
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    values[threadIdx.x] = value;
}

using Kernel = void (*)(Plan, unsigned*, long long*);
using Values = std::array<unsigned, block_threads>;

/// What either way of late_warp leaves.
inline Values expected_values(const Plan& plan) {
    const sync_cost::MultiplyAdd late(plan.late);
    const sync_cost::MultiplyAdd own(plan.own);
    Values values{};
    for (unsigned i = 0; i < block_threads; ++i)
        values[i] = i;
    for (int round = 0; round < plan.rounds; ++round) {
        Values published = values;
        for (int i = round % warps * 32; i < (round % warps + 1) * 32; ++i)
            published[i] = late(published[i]);
        for (int i = 0; i < block_threads; ++i)
            values[i] = own(published[i]) ^ published[block_threads - 1 - i];
    }
    return values;
}

/// What nobody_waits leaves.
inline Values expected_alone(const Plan& plan) {
    const sync_cost::MultiplyAdd own(plan.own);
    Values values{};
    for (unsigned i = 0; i < block_threads; ++i) {
        values[i] = i;
        for (int round = 0; round < plan.rounds; ++round)
            values[i] = own(values[i]);
    }
    return values;
}

/// The cycles of a round.
inline std::optional<workbook::Timing> time_rounds(Bench& bench, const char* name, Kernel kernel,
                                                   const Plan& plan, const Values& expected) {
    DeviceBuffer<unsigned> values(block_threads);
    DeviceBuffer<long long> cycles(1);
    return sync_cost::quartiles(bench, [&]() -> std::optional<double> {
        values.poison();
        workbook::launch(kernel, {.block = block_threads}, plan, values.data(), cycles.data());
        if (values.download() != std::vector<unsigned>(expected.begin(), expected.end())) {
            bench.wrong(std::string(name) + ", late " + std::to_string(plan.late) + ", own " +
                        std::to_string(plan.own) + ": wrong values");
            return std::nullopt;
        }
        return static_cast<double>(cycles.download().front()) / plan.rounds;
    });
}

/// The column `id`, if there is a time.
inline std::vector<BenchCell> alone_cell(const char* id, const std::optional<workbook::Timing>& timing) {
    if (!timing)
        return {};
    return {{id, timing->median_ms}};
}

inline void split_part(Bench& bench) {
    bench.table("split_wait", "One warp of eight comes late: own work behind the wait, or before it",
                workbook::joined<workbook::BenchColumn>(
                    {{"kernel", "own work"},
                     {"late", "multiply-adds of the late warp"},
                     {"own", "multiply-adds of own work"},
                     {"late_cycles", "the late warp's, without a barrier", "cycles"},
                     {"own_cycles", "the own work's, without a barrier", "cycles"}},
                    sync_cost::cycle_columns()));
    const int rounds = bench.size(16 * warps, warps);
    const std::vector<int> steps = bench.ends({0, 100, 200, 400, 800});
    std::vector<std::optional<workbook::Timing>> alone;
    for (const int n : steps) {
        const Plan plan{.rounds = rounds, .late = 0, .own = n};
        alone.push_back(time_rounds(bench, "without a barrier", nobody_waits, plan, expected_alone(plan)));
    }
    const auto add = [&](const char* name, Kernel kernel, std::size_t late, std::size_t own) {
        const Plan plan{.rounds = rounds, .late = steps[late], .own = steps[own]};
        std::vector<BenchCell> cells{{"kernel", name}, {"late", plan.late}, {"own", plan.own}};
        cells = workbook::joined(std::move(cells), alone_cell("late_cycles", alone[late]));
        cells = workbook::joined(std::move(cells), alone_cell("own_cycles", alone[own]));
        const auto timing = time_rounds(bench, name, kernel, plan, expected_values(plan));
        bench.row("split_wait", workbook::joined(std::move(cells), sync_cost::cycle_cells(timing)));
    };
    for (std::size_t late = 0; late < steps.size(); ++late)
        for (std::size_t own = 0; own < steps.size(); ++own) {
            add("joined", late_warp<false>, late, own);
            add("split", late_warp<true>, late, own);
        }
}

#pragma nv_diag_default static_var_with_dynamic_init

} // namespace split_wait
