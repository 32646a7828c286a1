/// @file bench_clock.cuh
/// Chapter 12's measurements: the clock of the SMs while a burst runs. Counters of every SM are read in front
/// of the burst and behind it, by a kernel of their own, so that what runs in between is the chapter's code.
#pragma once

#include "bench_data.cuh"
#include "cublas.hpp"
#include "ladder.cuh"

#include "workbook/interleaved.hpp"

#include <cuda/ptx>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace gemm {

/// What the counters of an SM show at one moment.
struct Ticks {
    std::uint64_t cycles = 0; ///< of the SM's clock
    std::uint64_t nanoseconds = 0;
};

/// ticks[SM] = what its counters show. Launched with a block for each SM that takes most of its shared
/// memory.
static __global__ void read_counters(Ticks* ticks) {
    ticks[cuda::ptx::get_sreg_smid()] = {cuda::ptx::get_sreg_clock64(), cuda::ptx::get_sreg_globaltimer()};
}

/// The counters of all SMs at several moments.
class Counters {
  public:
    explicit Counters(std::size_t moments)
        : sms_(static_cast<unsigned>(workbook::device_attribute(cudaDevAttrMultiProcessorCount))),
          moments_(moments), ticks_(moments * sms_) {}

    void forget() { ticks_.upload(std::vector<Ticks>(ticks_.size())); }
    void read(std::size_t moment) {
        constexpr std::size_t most_of_an_sm = 120 * 1024;
        workbook::launch(read_counters, {.grid = sms_, .block = 1, .dynamic_shared = most_of_an_sm},
                         ticks_.data() + moment * sms_);
    }

    /// Means of the SMs that were read at both moments.
    struct Passed {
        double cycles = 0;
        double nanoseconds = 0;
        std::size_t sms = 0;
    };
    /// What passed from each moment to the next.
    [[nodiscard]] std::vector<Passed> passed() const {
        const std::vector<Ticks> ticks = ticks_.download();
        std::vector<Passed> all(moments_ - 1);
        for (std::size_t m = 0; m + 1 < moments_; ++m) {
            Passed& sum = all[m];
            for (std::size_t sm = 0; sm < sms_; ++sm) {
                const Ticks &from = ticks[m * sms_ + sm], &to = ticks[(m + 1) * sms_ + sm];
                if (from.nanoseconds == 0 || to.nanoseconds == 0)
                    continue;
                sum.cycles += static_cast<double>(to.cycles - from.cycles);
                sum.nanoseconds += static_cast<double>(to.nanoseconds - from.nanoseconds);
                ++sum.sms;
            }
            sum.cycles /= static_cast<double>(sum.sms);
            sum.nanoseconds /= static_cast<double>(sum.sms);
        }
        return all;
    }

  private:
    unsigned sms_;
    std::size_t moments_;
    workbook::DeviceBuffer<Ticks> ticks_;
};

/// A burst after a pause: what passed in the whole of it, or, with `each`, in each launch.
inline std::vector<Counters::Passed> burst(Counters& counters, const workbook::Contender& contender,
                                           int launches, int pause_ms, bool each) {
    counters.forget();
    workbook::synchronize("forgetting the counters");
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    counters.read(0);
    for (int i = 0; i < launches; ++i) {
        contender.run();
        if (each)
            counters.read(static_cast<std::size_t>(i) + 1);
    }
    if (!each)
        counters.read(1);
    workbook::synchronize(contender.name.c_str());
    return counters.passed();
}

/// The samples of one contender: of a whole burst, or of the launch that has this number in it.
struct ClockSamples {
    std::vector<double> ms, mhz, cycles; ///< of one launch

    void add(const Counters::Passed& passed, int launches) {
        ms.push_back(passed.nanoseconds * 1e-6 / launches);
        mhz.push_back(1000 * passed.cycles / passed.nanoseconds);
        cycles.push_back(passed.cycles / launches);
    }
    /// Empty where nothing is measured: the emulator's clock counts no time.
    [[nodiscard]] std::vector<workbook::BenchCell> cells(const workbook::Bench& bench, Extent extent) const {
        if (bench.mode() != workbook::BenchMode::measure)
            return {};
        const auto time = workbook::summarize(ms), clock = workbook::summarize(mhz);
        return {{"median_ms", time.median_ms},
                {"sm_mhz", clock.median_ms},
                {"lower_mhz", clock.lower_ms},
                {"upper_mhz", clock.upper_ms},
                {"cycles", workbook::summarize(cycles).median_ms * 1e-3},
                {"rounds", static_cast<double>(ms.size())},
                {"tflops", extent.operations() / time.median_ms * 1e-9}};
    }
};

inline std::vector<workbook::BenchColumn> clock_columns() {
    return {{"median_ms", "time", "ms"},
            {"sm_mhz", "SM clock", "MHz"},
            {"lower_mhz", "lower quartile", "MHz"},
            {"upper_mhz", "upper quartile", "MHz"},
            {"cycles", "cycles", "thousands"},
            {"rounds", "rounds"},
            {"tflops", "rate", "TFLOP/s"}};
}

/// Bursts of all contenders in turns, in another order every time; the first round is not counted.
/// The result: a list for each contender, of one element, or with `each` of one for each launch.
inline std::vector<std::vector<ClockSamples>>
clocks_in_turns(workbook::Bench& bench, const std::vector<workbook::Contender>& contenders, int launches,
                int rounds, int pause_ms, bool each) {
    const std::size_t parts = each ? static_cast<std::size_t>(launches) : 1;
    Counters counters(parts + 1);
    std::vector<std::vector<ClockSamples>> found(contenders.size(), std::vector<ClockSamples>(parts));
    workbook::TurnOrder order(contenders.size(), 2);
    for (int round = 0; round <= rounds; ++round) {
        for (const std::size_t i : order.next()) {
            const auto passed = burst(counters, contenders[i], launches, pause_ms, each);
            for (std::size_t part = 0; part < parts; ++part) {
                if (passed[part].sms == 0) {
                    bench.wrong("no SM showed its counters twice");
                    return found;
                }
                if (round > 0)
                    found[i][part].add(passed[part], each ? 1 : launches);
            }
        }
    }
    return found;
}

/// cuBLAS, if it is there, and the rungs from `first` on, or those of a list of names.
inline std::vector<workbook::Contender> clock_contenders(const Cublas& cublas, const Operands& of,
                                                         std::size_t first,
                                                         const std::vector<std::string>& names = {}) {
    std::vector<workbook::Contender> contenders;
    if (cublas.available())
        contenders.push_back({"cuBLAS", [&cublas, of] { cublas.multiply(of.a, of.b, of.out, of.extent); }});
    for (std::size_t i = first; i < std::size(rungs); ++i)
        if (names.empty() || std::ranges::find(names, rungs[i].name) != names.end())
            contenders.push_back({rungs[i].name, [i, of] { rungs[i].launch(of); }});
    return contenders;
}

} // namespace gemm
