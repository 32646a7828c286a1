/// @file bench_work.cuh
/// Chapter 6's measurements: whether `cp.async` falls behind the tensor copy by the copy or by the threads.
/// Both bring the same 80 columns; what a thread does with them goes from nothing to nine additions. With the
/// quartiles of both timings, and the clock of the SMs during each burst.
#pragma once

#include "bench_filter.cuh"

#include "workbook/device.hpp"
#include "workbook/interleaved.hpp"

#include <chrono>
#include <thread>

namespace tma_2d {

/// What the counters of an SM show at one moment.
struct Moment {
    std::uint64_t cycles = 0;
    std::uint64_t nanoseconds = 0;
};

/// moments[SM] = what its counters show. For blocks of one thread that take most of an SM's shared memory,
/// one for each SM.
static __global__ void read_clock(Moment* moments) {
    moments[ptx::get_sreg_smid()] = {ptx::get_sreg_clock64(), ptx::get_sreg_globaltimer()};
}

/// The clock of the SMs between two moments.
class SmClock {
  public:
    SmClock()
        : sms_(static_cast<unsigned>(workbook::device_attribute(cudaDevAttrMultiProcessorCount))),
          begin_(sms_), end_(sms_) {}

    /// Enqueues the reading of every SM's counters: begin() in front of a burst, end() behind it.
    void begin() {
        for (DeviceBuffer<Moment>* moments : {&begin_, &end_})
            moments->upload(std::vector<Moment>(sms_));
        read(begin_);
    }
    void end() { read(end_); }

    /// Megahertz, the mean of the SMs that were read at both moments; 0 if there is none.
    [[nodiscard]] double mhz() const {
        const std::vector<Moment> from = begin_.download(), to = end_.download();
        double sum = 0;
        int many = 0;
        for (std::size_t sm = 0; sm < sms_; ++sm)
            if (from[sm].nanoseconds > 0 && to[sm].nanoseconds > from[sm].nanoseconds) {
                sum += 1000 * static_cast<double>(to[sm].cycles - from[sm].cycles) /
                       static_cast<double>(to[sm].nanoseconds - from[sm].nanoseconds);
                ++many;
            }
        return many > 0 ? sum / many : 0;
    }

  private:
    void read(DeviceBuffer<Moment>& moments) {
        constexpr std::size_t most_of_an_sm = 120 * 1024;
        workbook::launch(read_clock, {.grid = sms_, .block = 1, .dynamic_shared = most_of_an_sm},
                         moments.data());
    }

    unsigned sms_;
    DeviceBuffer<Moment> begin_, end_;
};

/// What the bursts of one contender took: a launch's time, and the clock meanwhile.
struct Bursts {
    std::vector<double> ms, mhz;
};

/// Bursts of all contenders in turns, in another order every time, as measure_in_turns, with the clock. The
/// first round is not counted.
inline std::vector<Bursts> bursts_in_turns(const std::vector<workbook::Contender>& contenders,
                                           const workbook::TurnPlan& plan) {
    workbook::TurnOrder order(contenders.size(), 2);
    std::vector<Bursts> found(contenders.size());
    SmClock clock;
    workbook::wait_for_freed_memory();
    for (int round = 0; round <= plan.rounds; ++round) {
        for (const std::size_t i : order.next()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(plan.pause_ms));
            workbook::Event start, stop;
            clock.begin();
            start.record();
            for (int launch = 0; launch < plan.launches; ++launch)
                contenders[i].run();
            stop.record();
            clock.end();
            const double each = stop.milliseconds_since(start) / plan.launches;
            if (round > 0) {
                found[i].ms.push_back(each);
                found[i].mhz.push_back(clock.mhz());
            }
        }
    }
    return found;
}

/// The filters that are compared: three boxes with nine additions, and the box of 80 columns against
/// `cp.async` with five kinds of work.
inline std::vector<Filter> working_filters() {
    return {twin<Halo::box, 4, Work::nine, Results::tile>("box, 72"),
            twin<Halo::box, 16, Work::nine, Results::tile>("box, 96"),
            twin<Halo::box, 8, Work::none, Results::tile>("box, 80, no sums"),
            twin<Halo::box, 8, Work::three, Results::tile>("box, 80, three"),
            twin<Halo::box, 8, Work::six, Results::tile>("box, 80, six"),
            twin<Halo::box, 8, Work::nine, Results::tile>("box, 80"),
            twin<Halo::box, 8, Work::columns, Results::tile>("box, 80, columns"),
            twin<Halo::chunks, 8, Work::none, Results::tile>("chunks, 80, no sums"),
            twin<Halo::chunks, 8, Work::three, Results::tile>("chunks, 80, three"),
            twin<Halo::chunks, 8, Work::six, Results::tile>("chunks, 80, six"),
            twin<Halo::chunks, 8, Work::nine, Results::tile>("chunks, 80"),
            twin<Halo::chunks, 8, Work::columns, Results::tile>("chunks, 80, columns")};
}

/// The cells of one timing, their ids behind `when`, and the share of a copy that takes `copy_ms`.
inline std::vector<BenchCell> burst_cells(const std::string& when, const Bursts& bursts, double copy_ms) {
    const workbook::Timing time = workbook::summarize(bursts.ms), clock = workbook::summarize(bursts.mhz);
    return {{when + "median_ms", time.median_ms},
            {when + "lower_ms", time.lower_ms},
            {when + "upper_ms", time.upper_ms},
            {when + "share", 100 * copy_ms / time.median_ms},
            {when + "mhz", clock.median_ms}};
}

/// The working filters and the driver's copy: after a pause, and burst on burst.
inline void filter_work(Bench& bench) {
    std::vector<workbook::BenchColumn> columns{{"kernel", "kernel"},
                                               {"halo", "the halo comes by"},
                                               {"columns", "columns of a tile with its halo"},
                                               {"work", "a sum adds"},
                                               {"rounds", "rounds"}};
    for (const auto& [when, words] : {std::pair<std::string, std::string>{"", "burst on burst: "},
                                      std::pair<std::string, std::string>{"rested_", "after a pause: "}})
        columns = workbook::joined<workbook::BenchColumn>(
            std::move(columns), {{when + "median_ms", words + "time", "ms"},
                                 {when + "lower_ms", words + "lower quartile", "ms"},
                                 {when + "upper_ms", words + "upper quartile", "ms"},
                                 {when + "share", words + "of the copy", "%"},
                                 {when + "mhz", words + "SM clock", "MHz"}});
    bench.table("filter_work", "A 3×3 filter: the same tiles, and less and less work for the threads",
                columns);
    PlainTiles tiles(workbook::shape_of(bench.size<std::size_t>(100'000'000, 10'001)));
    const std::vector<Filter> all = working_filters();
    const std::vector<workbook::Contender> contenders = filter_contenders(bench, all, tiles);
    constexpr int rounds = 51;
    std::vector<Bursts> bursts, rested;
    if (bench.mode() == workbook::BenchMode::measure) {
        bursts = bursts_in_turns(contenders, {.rounds = rounds});
        rested = bursts_in_turns(contenders, {.rounds = rounds, .pause_ms = 20});
    }
    const auto times = [&](std::size_t i) {
        if (bursts.empty())
            return std::vector<BenchCell>{};
        return workbook::joined<BenchCell>(
            workbook::joined<BenchCell>(
                {{"rounds", rounds}},
                burst_cells("", bursts[i], workbook::summarize(bursts[0].ms).median_ms)),
            burst_cells("rested_", rested[i], workbook::summarize(rested[0].ms).median_ms));
    };
    bench.row("filter_work", workbook::joined<BenchCell>({{"kernel", contenders[0].name}}, times(0)));
    for (std::size_t i = 0; i < all.size(); ++i)
        bench.row("filter_work", workbook::joined<BenchCell>({{"kernel", all[i].name},
                                                              {"halo", all[i].halo},
                                                              {"columns", all[i].columns},
                                                              {"work", words(all[i].work)}},
                                                             times(i + 1)));
}

} // namespace tma_2d
