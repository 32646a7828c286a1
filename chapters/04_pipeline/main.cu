/// @file main.cu
/// Chapter 4: pipelines of one to eight stages, checked and measured, and their time line.
#include "pipeline.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace pipeline;
using workbook::Comparison;
using workbook::DeviceBuffer;

constexpr int work = 1;             ///< multiply-adds per element, where the copy matters
constexpr int timeline_work = 64;   ///< the same for the time line: about as long as a copy
constexpr std::size_t recorded = 8; ///< tiles in a time line

/// What every kernel leaves: each tile reversed, each element computed.
std::vector<float> streamed(const std::vector<float>& values, int work) {
    std::vector<float> result = workbook::reversed_tiles(values, tile_floats);
    for (float& value : result)
        value = compute(value, work);
    return result;
}

/// The array that all kernels stream, and what the time line and the entanglement need.
struct Streams {
    explicit Streams(const workbook::RunContext& run)
        : run(run), host(workbook::random_values<float>(run.size, run.seed, {.specials = true})),
          expected(streamed(host, work)),
          warp_host(workbook::random_values<float>(entangled_floats, run.seed + 1)), in(host), out(run.size),
          intervals(std::min(recorded, first_block_tiles(run.size))), warp_in(warp_host),
          warp_out(entangled_floats), entangled(1) {}

    workbook::RunContext run;
    std::vector<float> host;
    std::vector<float> expected;
    std::vector<float> warp_host;
    DeviceBuffer<float> in;
    DeviceBuffer<float> out;
    DeviceBuffer<Interval> intervals;
    DeviceBuffer<float> warp_in;
    DeviceBuffer<float> warp_out;
    DeviceBuffer<Entangled> entangled;
};

std::size_t bytes(const Streams& streams) { return streams.in.size_bytes() + streams.out.size_bytes(); }

/// An entry for a kernel that streams the array.
template <void (*launch)(std::span<const float>, std::span<float>, int)>
constexpr workbook::KernelEntry<Streams> streaming(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = bytes,
            .prepare = [](Streams& streams) { streams.out.poison(); },
            .launch = [](Streams& streams) { launch(streams.in.span(), streams.out.span(), work); },
            .check = [](Streams& streams) { return workbook::check_values(streams.out, streams.expected); }};
}

/// Right data, and an order of events that the number of stages explains: with one stage the next copy starts
/// after the computation, with more before its end.
template <int stages>
Comparison check_timeline(Streams& streams) {
    Comparison result = workbook::check_values(streams.out, streamed(streams.host, timeline_work));
    const std::vector<Interval> intervals = streams.intervals.download();
    for (std::size_t k = 0; k < intervals.size(); ++k) {
        const Interval& tile = intervals[k];
        if (tile.issued > tile.landed || tile.landed > tile.computed)
            result.problem += "tile " + std::to_string(k) + " landed or was computed too early; ";
        if (k + 1 == intervals.size())
            break;
        const long long next = intervals[k + 1].issued;
        if (stages == 1 ? next < tile.computed : next > tile.computed)
            result.problem += "tile " + std::to_string(k + 1) + " was issued at the wrong time; ";
    }
    return result;
}

/// The time line as numbers, in cycles since the first copy was issued.
std::string timeline_text(Streams& streams) {
    if (!streams.run.has_clock)
        return {};
    std::string text = "cycles (tile: issued, landed, computed)";
    const std::vector<Interval> intervals = streams.intervals.download();
    for (std::size_t k = 0; k < intervals.size(); ++k) {
        const long long begin = intervals.front().issued;
        text += "\n  " + std::to_string(k) + ": " + std::to_string(intervals[k].issued - begin) + ", " +
                std::to_string(intervals[k].landed - begin) + ", " +
                std::to_string(intervals[k].computed - begin);
    }
    return text;
}

template <int stages>
constexpr workbook::KernelEntry<Streams> recording(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = bytes,
            .prepare =
                [](Streams& streams) {
                    streams.out.poison();
                    streams.intervals.poison();
                },
            .launch =
                [](Streams& streams) {
                    launch_timeline<stages>(streams.in.span(), streams.out.span(), timeline_work,
                                            streams.intervals.span());
                },
            .check = check_timeline<stages>,
            .note = timeline_text};
}

/// Right data, and the numbers that follow from counting commits per warp.
template <bool diverged>
Comparison check_entanglement(Streams& streams) {
    Comparison result =
        workbook::check_exact(streams.warp_out, workbook::reversed_tiles(streams.warp_host, warp_threads));
    const Entangled entangled = streams.entangled.download().front();
    const unsigned commits = diverged ? entangled_floats : 2;
    const unsigned waited_for = diverged ? entangled_floats - 1 : warp_threads;
    if (entangled.commits != commits || entangled.waited_for != waited_for)
        result.problem += "expected " + std::to_string(commits) + " commits and waits for " +
                          std::to_string(waited_for) + " copies, got " + std::to_string(entangled.commits) +
                          " and " + std::to_string(entangled.waited_for);
    return result;
}

std::string entanglement_text(Streams& streams) {
    const Entangled entangled = streams.entangled.download().front();
    return std::to_string(entangled.commits) +
           " commits of the warp; the wait for 32 older copies waited for " +
           std::to_string(entangled.waited_for) + " of 64" +
           (streams.run.has_clock ? " and took " + std::to_string(entangled.cycles) + " cycles" : "");
}

template <bool diverged>
constexpr workbook::KernelEntry<Streams> entangling(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = [](const Streams&) { return std::size_t{0}; },
            .prepare =
                [](Streams& streams) {
                    streams.warp_out.poison();
                    streams.entangled.poison();
                },
            .launch =
                [](Streams& streams) {
                    launch_entanglement<diverged>(streams.warp_in.span(), streams.warp_out.span(),
                                                  streams.entangled.data());
                },
            .check = check_entanglement<diverged>,
            .note = entanglement_text};
}

constexpr workbook::KernelEntry<Streams> kernels[] = {
    streaming<launch_single_stage>("single_stage", "1 stage: copy, then compute"),
    streaming<launch_with_staging>("with_staging", "2 stages: the next copy starts first"),
    streaming<launch_n_stages<2>>("n_stages_2", "2 stages, by the general kernel"),
    streaming<launch_n_stages<3>>("n_stages_3", "3 stages"),
    streaming<launch_n_stages<4>>("n_stages_4", "4 stages"),
    streaming<launch_n_stages<6>>("n_stages_6", "6 stages"),
    streaming<launch_n_stages<8>>("n_stages_8", "8 stages"),
    streaming<launch_thread_scope<4>>("thread_scope_4", "4 stages, pipeline of thread scope"),
    streaming<launch_with_specialized_staging_unified>("with_specialized_staging_unified",
                                                       "even threads produce, odd consume"),
    streaming<launch_specialized_warps<4>>("specialized_warps_4", "one warp copies, seven compute"),
    streaming<launch_four_at_a_time<4>>("four_at_a_time_4", "4 stages, 16 bytes per access"),
    recording<1>("timeline_1", "when copies and computations were, 1 stage"),
    recording<2>("timeline_2", "the same, 2 stages"),
    recording<4>("timeline_4", "the same, 4 stages"),
    entangling<false>("entanglement_converged", "32 threads commit together"),
    entangling<true>("entanglement_diverged", "32 threads commit one by one"),
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "pipeline",
                                     .summary = "copies that overlap with computations",
                                     .size_unit = "floats",
                                     .size_with_clock = 100'000'000,
                                     .size_without_clock = 50'001,
                                     .device_bytes_per_element = 2 * sizeof(float),
                                     .host_bytes_per_element = 5 * sizeof(float),
                                     .needs = {.compute_major = 8}};
    return workbook::run_program<Streams>(info, kernels, argc, argv);
}
