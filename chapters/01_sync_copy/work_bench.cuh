/// @file work_bench.cuh
/// The measuring of work.cuh: what a copy lacks that computes on each tile, and what asking early gives it.
#pragma once

#include "sync_copy.cuh"
#include "turnover_bench.cuh"
#include "work.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sync_copy {

inline constexpr int work_batches = 8; ///< tiles that a block takes, as without_memcpy_async in the program

/// Two arrays of floats, the first random.
struct Floats {
    explicit Floats(std::size_t size) : in(size), out(size) {
        workbook::launch(workbook::fill_random_words<float>, workbook::striding(size), in.data(), size);
    }
    DeviceBuffer<float> in;
    DeviceBuffer<float> out;
};

/// Adds to *wrong how many elements are not what `used` makes of the tiles of the input.
template <class T, Work work, int steps>
__global__ void count_not_used(const T* in, const T* out, std::size_t count, unsigned block,
                               unsigned* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const std::size_t start = i - i % block;
        const T expected = used<work, steps>(in + start, static_cast<unsigned>(i - start), block);
        const T found = out[i];
        bool same = false;
        if constexpr (sizeof(T) == 16)
            same = found.x == expected.x && found.y == expected.y && found.z == expected.z &&
                   found.w == expected.w;
        else
            same = found == expected;
        if (!same)
            atomicAdd(wrong, 1u);
    }
}

/// One row: what is launched, and how its result is checked.
struct Worker {
    const char* work;
    const char* asks; ///< when a thread asks for its element of the next tile
    std::size_t load_bytes;
    int steps;
    std::function<void()> launch;
    std::function<bool()> right;
};

/// A launch of eight tiles for each block, with the shared memory that lets 2048 threads fit on an SM and no
/// more.
template <class Kernel>
workbook::LaunchShape work_shape(Bench& bench, Kernel* kernel, std::size_t count) {
    const Moved moved{.tiles = work_batches};
    workbook::LaunchShape shape = shape_of(bench, moved, count / moved.block);
    cudaFuncAttributes attributes{};
    workbook::check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
                    "asking for a kernel's attributes");
    shape.dynamic_shared -= attributes.sharedSizeBytes;
    check_fit(bench, kernel, moved, shape);
    return shape;
}

/// A check of the second array: what `used` makes of the first.
template <class T, Work work, int steps>
std::function<bool()> right_if_used(Floats& floats) {
    return [&floats] {
        const std::size_t count = floats.in.size() * sizeof(float) / sizeof(T);
        DeviceBuffer<unsigned> wrong(std::vector<unsigned>{0});
        workbook::launch(count_not_used<T, work, steps>, workbook::striding(count),
                         reinterpret_cast<const T*>(floats.in.data()),
                         reinterpret_cast<const T*>(floats.out.data()), count, block_threads, wrong.data());
        return wrong.download().front() == 0;
    };
}

/// A row of work_late or of work_early.
template <class T, Work work, bool early, int steps = 0>
Worker worker(Bench& bench, Floats& floats) {
    const std::size_t count = floats.in.size() * sizeof(float) / sizeof(T);
    constexpr auto kernel = early ? work_early<T, work, steps> : work_late<T, work, steps>;
    const auto shape = work_shape(bench, kernel, count);
    return {work == Work::reverse ? "reverse" : "sum",
            early ? "before" : "after",
            sizeof(T),
            steps,
            [&floats, shape, count] {
                workbook::launch(kernel, shape, reinterpret_cast<const T*>(floats.in.data()),
                                 reinterpret_cast<T*>(floats.out.data()), count);
            },
            right_if_used<T, work, steps>(floats)};
}

/// without_memcpy_async, or counted_tiles: they take the number of a block's tiles.
inline Worker batch_worker(Bench& bench, Floats& floats, const char* name, const char* asks,
                           void (*kernel)(const float*, float*, std::size_t, int)) {
    const auto shape = work_shape(bench, kernel, floats.in.size());
    return {name,
            asks,
            sizeof(float),
            0,
            [&floats, shape, kernel] {
                workbook::launch(kernel, shape, floats.in.data(), floats.out.data(), floats.in.size(),
                                 work_batches);
            },
            right_if_used<float, Work::sum, 0>(floats)};
}

/// The rows of a sum with more and more multiply-adds, late and early.
template <class T, int... steps>
void add_computing(std::vector<Worker>& to, Bench& bench, Floats& floats) {
    ((to.push_back(worker<T, Work::sum, false, steps>(bench, floats)),
      to.push_back(worker<T, Work::sum, true, steps>(bench, floats))),
     ...);
}

/// The driver's copy of the array.
[[nodiscard]] inline workbook::Contender driver_copy(Floats& floats) {
    return {"copy", [&floats] {
                workbook::check(cudaMemcpyAsync(floats.out.data(), floats.in.data(), floats.in.size_bytes(),
                                                cudaMemcpyDeviceToDevice),
                                "the driver's copy");
            }};
}

/// The contenders' times, in turns; none where nothing is timed.
[[nodiscard]] inline std::vector<std::optional<workbook::Timing>>
timed_in_turns(const Bench& bench, const std::vector<workbook::Contender>& contenders) {
    std::vector<std::optional<workbook::Timing>> timings(contenders.size());
    if (bench.mode() == workbook::BenchMode::measure) {
        const auto measured = workbook::measure_in_turns(contenders);
        std::copy(measured.begin(), measured.end(), timings.begin());
    }
    return timings;
}

/// All rows in turns, with the driver's copy among them.
inline void work(Bench& bench) {
    bench.table("computing_copies",
                "A copy that computes: what it does with a tile, and when it asks for the next one",
                workbook::joined<workbook::BenchColumn>({{"work", "work"},
                                                         {"asks", "asks for the next tile"},
                                                         {"load_bytes", "bytes per load", "bytes"},
                                                         {"steps", "multiply-adds for each element"}},
                                                        workbook::timing_columns()));
    Floats floats(bench.size(std::size_t{1} << 27, std::size_t{1} << 14));
    std::vector<Worker> rows{
        worker<float, Work::reverse, false>(bench, floats), worker<float, Work::reverse, true>(bench, floats),
        batch_worker(bench, floats, "counted", "after", counted_tiles<false>),
        batch_worker(bench, floats, "counted", "before", counted_tiles<true>),
        batch_worker(bench, floats, "without_memcpy_async", "after", without_memcpy_async)};
    add_computing<float, 0, 16, 32, 64, 128>(rows, bench, floats);
    add_computing<float4, 0, 16, 32, 64, 128>(rows, bench, floats);
    std::vector<workbook::Contender> contenders{driver_copy(floats)};
    for (const Worker& row : rows) {
        floats.out.poison();
        row.launch();
        if (!row.right())
            return bench.wrong(std::string("work, ") + row.work + ", " + row.asks + ": wrong result");
        contenders.push_back({row.work, row.launch});
    }
    const auto timings = timed_in_turns(bench, contenders);
    const std::size_t bytes = 2 * floats.in.size_bytes();
    const double rate = timings[0] ? timings[0]->bytes_per_second(bytes) : 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        bench.row("computing_copies",
                  workbook::joined<BenchCell>({{"work", rows[i].work},
                                               {"asks", rows[i].asks},
                                               {"load_bytes", rows[i].load_bytes},
                                               {"steps", rows[i].steps}},
                                              workbook::timing_cells(timings[i + 1], bytes, rate)));
}

// ---- the slow copy of the program, and that of the experiment ----

/// The slow copies on one array: move_tiles, which has no lengths, and one_per_thread, which computes the
/// length of each tile, with as much shared memory for each block and as the program launches it.
inline void slow_rows(Bench& bench, std::size_t size) {
    Floats floats(size);
    const Moved moved;
    const workbook::LaunchShape shape = shape_of(bench, moved, size / moved.block);
    const auto* in = reinterpret_cast<const unsigned*>(floats.in.data());
    auto* out = reinterpret_cast<unsigned*>(floats.out.data());
    const auto slow = [&floats](const workbook::LaunchShape& with) {
        return [&floats, with] {
            workbook::launch(one_per_thread, with, floats.in.data(), floats.out.data(), floats.in.size());
        };
    };
    check_fit(bench, move_tiles<unsigned, Between::block>, moved, shape);
    const std::vector<workbook::Contender> contenders{
        driver_copy(floats),
        {"move_tiles", [&] { workbook::launch(move_tiles<unsigned, Between::block>, shape, in, out, size); }},
        {"one_per_thread", slow({.grid = shape.grid,
                                 .block = shape.block,
                                 .dynamic_shared = shape.dynamic_shared - block_threads * sizeof(float)})},
        {"one_per_thread, as launched", slow({.grid = shape.grid, .block = shape.block})}};
    for (std::size_t i = 1; i < contenders.size(); ++i) {
        floats.out.poison();
        contenders[i].run();
        if (!right_if_used<float, Work::reverse, 0>(floats)())
            return bench.wrong("slow copies: " + contenders[i].name + ": wrong result");
    }
    const auto timings = timed_in_turns(bench, contenders);
    const std::size_t bytes = 2 * floats.in.size_bytes();
    const double rate = timings[0] ? timings[0]->bytes_per_second(bytes) : 0;
    for (std::size_t i = 1; i < contenders.size(); ++i)
        bench.row("slow_copies",
                  workbook::joined<BenchCell>({{"kernel", contenders[i].name}, {"floats", size}},
                                              workbook::timing_cells(timings[i], bytes, rate)));
}

/// On the array of the program, and on that of the experiment: is it the array that makes one slower?
inline void slow_copies(Bench& bench) {
    bench.table("slow_copies", "The slow copy with and without the length of a tile, on two arrays",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"}, {"floats", "floats"}},
                                                        workbook::timing_columns()));
    slow_rows(bench, bench.size(std::size_t{100'000'000}, std::size_t{1} << 13));
    slow_rows(bench, bench.size(std::size_t{1} << 27, std::size_t{1} << 14));
}

// ---- where the time of a round goes ----

/// Means over the watched rounds of all warps, in cycles of their SM, and how many warps an SM had in one.
struct RoundTimes {
    double loading = 0;
    double meeting = 0;
    double using_it = 0;
    double leaving = 0;
    double resident = 0;
};

inline RoundTimes times_of(const std::vector<Round>& rounds) {
    SmSpans sms;
    RoundTimes sum;
    double watched_rounds = 0;
    for (const Round& round : rounds) {
        if (round.begun == 0)
            continue;
        ++watched_rounds;
        sum.loading += static_cast<double>(round.loaded - round.begun);
        sum.meeting += static_cast<double>(round.met - round.loaded);
        sum.using_it += static_cast<double>(round.stored - round.met);
        sum.leaving += static_cast<double>(round.left - round.stored);
        sms.add(round.sm, round.begun, round.left);
    }
    const double elapsed = sms.cycles();
    const double each =
        static_cast<double>(rounds.size()) / watched_rounds; // a watched round stands for so many
    sum.resident = each * (sum.loading + sum.meeting + sum.using_it + sum.leaving) / elapsed;
    for (double* part : {&sum.loading, &sum.meeting, &sum.using_it, &sum.leaving})
        *part /= watched_rounds;
    return sum;
}

/// A row of watch_work, with the time of the kernel with its clock.
template <Work work, bool early>
void round_row(Bench& bench, Floats& floats, const char* name) {
    const auto shape = work_shape(bench, watch_work<work, early>, floats.in.size());
    DeviceBuffer<Round> rounds(std::vector<Round>(floats.in.size() / 32));
    const auto launch = [&](cudaStream_t) {
        workbook::launch(watch_work<work, early>, shape, floats.in.data(), floats.out.data(),
                         floats.in.size(), work_batches, rounds.data());
    };
    floats.out.poison();
    launch(nullptr);
    if (!right_if_used < float, work == Work::batches ? Work::sum : work, 0 > (floats)())
        return bench.wrong(std::string("watch_work, ") + name + ": wrong result");
    const auto timing = bench.time_checked(2 * floats.in.size_bytes(), launch); // the clock's price
    std::vector<BenchCell> cells{{"work", name}, {"asks", early ? "before" : "after"}};
    if (bench.mode() == workbook::BenchMode::measure) {
        const RoundTimes times = times_of(rounds.download());
        cells = workbook::joined<BenchCell>(std::move(cells), {{"loading", times.loading},
                                                               {"meeting", times.meeting},
                                                               {"using", times.using_it},
                                                               {"leaving", times.leaving},
                                                               {"resident", times.resident}});
    }
    bench.row("rounds", workbook::joined<BenchCell>(
                            std::move(cells), workbook::timing_cells(timing, 2 * floats.in.size_bytes())));
}

/// A clock in the copies that compute, 2048 threads on an SM and eight tiles for each block.
inline void rounds(Bench& bench) {
    bench.table("rounds", "Where the time of a round goes, by the clock of its SM",
                workbook::joined<workbook::BenchColumn>({{"work", "work"},
                                                         {"asks", "asks for the next tile"},
                                                         {"loading", "until its load had come", "cycles"},
                                                         {"meeting", "first barrier", "cycles"},
                                                         {"using", "work, until its store", "cycles"},
                                                         {"leaving", "second barrier", "cycles"},
                                                         {"resident", "warps that an SM had in a round"}},
                                                        workbook::timing_columns()));
    Floats floats(bench.size(std::size_t{1} << 26, std::size_t{1} << 16));
    round_row<Work::reverse, false>(bench, floats, "reverse");
    round_row<Work::reverse, true>(bench, floats, "reverse");
    round_row<Work::sum, false>(bench, floats, "sum");
    round_row<Work::sum, true>(bench, floats, "sum");
    round_row<Work::batches, false>(bench, floats, "without_memcpy_async");
}

} // namespace sync_copy
