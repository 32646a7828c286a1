/// @file bench_cycles.cuh
/// What this chapter's measurements share that count cycles: quartiles over launches, their cells and
/// columns, and work whose length can be chosen.
#pragma once

#include "workbook/bench.hpp"
#include "workbook/timing.hpp"

#include <optional>
#include <vector>

namespace sync_cost {

inline constexpr int repetitions = 31;
inline constexpr int warm_ups = 2;

/// Calls `once`, which gives a number of cycles, and returns the quartiles; nothing where nothing is timed
/// or a result was wrong.
template <class Once>
std::optional<workbook::Timing> quartiles(workbook::Bench& bench, Once&& once) {
    const bool timed = bench.mode() == workbook::BenchMode::measure;
    std::vector<double> cycles;
    for (int i = 0; i < (timed ? warm_ups + repetitions : 1); ++i) {
        const std::optional<double> found = once();
        if (!found)
            return std::nullopt;
        if (i >= warm_ups)
            cycles.push_back(*found);
    }
    return timed ? std::optional(workbook::summarize(cycles)) : std::nullopt;
}

inline std::vector<workbook::BenchCell> cycle_cells(const std::optional<workbook::Timing>& timing) {
    if (!timing)
        return {};
    return {{"cycles", timing->median_ms},
            {"lower_cycles", timing->lower_ms},
            {"upper_cycles", timing->upper_ms},
            {"repetitions", timing->repetitions}};
}

inline std::vector<workbook::BenchColumn> cycle_columns() {
    return {{"cycles", "time", "cycles"},
            {"lower_cycles", "lower quartile", "cycles"},
            {"upper_cycles", "upper quartile", "cycles"},
            {"repetitions", "repetitions"}};
}

// ---- work of a chosen length ----

inline constexpr unsigned factor = 1664525u;
inline constexpr unsigned addend = 1013904222u; ///< even, so that even values stay even

/// `steps` multiply-adds, a multiple of four, each of which waits for the one before. In assembly: the
/// compiler would make one of several.
__device__ inline unsigned multiply_adds(unsigned value, int steps) {
#pragma unroll 1
    for (int step = 0; step < steps; step += 4) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(value) : "n"(factor), "n"(addend));
    }
    return value;
}

/// The same, once and for all values: what `steps` multiply-adds come to is one.
struct MultiplyAdd {
    unsigned by = 1;
    unsigned plus = 0;

    explicit MultiplyAdd(int steps) {
        for (int step = 0; step < steps; ++step) {
            by *= factor;
            plus = plus * factor + addend;
        }
    }
    [[nodiscard]] unsigned operator()(unsigned value) const { return value * by + plus; }
};

} // namespace sync_cost
