/// @file timing.hpp
/// Measures by the book: warm-up, many repetitions, median and spread, nothing left in the L2 cache by the
/// repetition before, and a copy of the same bytes in the same run to compare with.
#pragma once

#include "buffer.hpp"
#include "check.hpp"
#include "device.hpp"
#include "owned.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

namespace workbook {

/// A CUDA event that destroys itself.
class Event {
  public:
    Event() {
        cudaEvent_t event = nullptr;
        check(cudaEventCreate(&event), "cudaEventCreate");
        event_ = Owned<cudaEvent_t, Destroy>(event);
    }
    void record(cudaStream_t stream = nullptr) {
        check(cudaEventRecord(event_.get(), stream), "cudaEventRecord");
    }

    /// Waits for this event and returns the milliseconds since `start`.
    [[nodiscard]] double milliseconds_since(const Event& start) const {
        check(cudaEventSynchronize(event_.get()), "timed kernel");
        float elapsed = 0;
        check(cudaEventElapsedTime(&elapsed, start.event_.get(), event_.get()), "cudaEventElapsedTime");
        return static_cast<double>(elapsed);
    }

  private:
    struct Destroy {
        void operator()(cudaEvent_t event) const noexcept { cudaEventDestroy(event); }
    };
    Owned<cudaEvent_t, Destroy> event_;
};

/// True if the device measures time. The emulator does not: it reports 0 ms for real work, because a time
/// that no GPU took would only mislead. Asked once; the answer is kept.
[[nodiscard]] inline bool device_has_clock() {
    static const bool has_clock = [] {
        DeviceBuffer<std::byte> work(std::size_t{1} << 20);
        Event start;
        Event stop;
        start.record();
        work.poison();
        stop.record();
        return stop.milliseconds_since(start) > 0;
    }();
    return has_clock;
}

/// Times of one repetition, in milliseconds.
struct Timing {
    double median_ms = 0;
    double min_ms = 0;
    double max_ms = 0;
    int repetitions = 0;
    double lower_ms = 0; ///< a quarter of the samples lie below
    double upper_ms = 0; ///< a quarter of the samples lie above

    /// (max - min) / median: how far to trust the median.
    [[nodiscard]] double spread() const noexcept { return median_ms > 0 ? (max_ms - min_ms) / median_ms : 0; }

    /// Bytes per second at the median.
    [[nodiscard]] double bytes_per_second(std::size_t bytes) const noexcept {
        return median_ms > 0 ? static_cast<double>(bytes) / (median_ms * 1e-3) : 0;
    }
};

/// Median, extremes and quartiles of the samples; at least one is needed.
[[nodiscard]] inline Timing summarize(std::vector<double> milliseconds) {
    std::sort(milliseconds.begin(), milliseconds.end());
    const std::size_t last = milliseconds.size() - 1;
    // Between two samples the quantile lies on the line that joins them.
    const auto quantile = [&](std::size_t quarters) {
        const std::size_t below = last * quarters / 4;
        const double fraction = static_cast<double>(last * quarters % 4) / 4;
        const std::size_t above = std::min(below + 1, last);
        return milliseconds[below] + fraction * (milliseconds[above] - milliseconds[below]);
    };
    return {.median_ms = quantile(2),
            .min_ms = milliseconds.front(),
            .max_ms = milliseconds.back(),
            .repetitions = static_cast<int>(milliseconds.size()),
            .lower_ms = quantile(1),
            .upper_ms = quantile(3)};
}

/// How to measure.
struct MeasurePlan {
    int warm_up = 3;
    int repetitions = 31;
    /// Bytes that one repetition touches. Below four times the L2 cache, the cache is flushed before each
    /// repetition.
    std::size_t working_set = 0;
    cudaStream_t stream = nullptr;
};

/// Writes a buffer twice as large as the L2 cache, so that nothing else is left in there.
class L2Flush {
  public:
    L2Flush()
        : scratch_(2 * static_cast<std::size_t>(std::max(1, device_attribute(cudaDevAttrL2CacheSize)))) {}
    void operator()(cudaStream_t stream) {
        check(cudaMemsetAsync(scratch_.data(), 0, scratch_.size_bytes(), stream), "flushing the L2 cache");
    }

  private:
    DeviceBuffer<std::byte> scratch_;
};

/// Sleeps until the device is done with what buffers gave back since the last call. For 2.5 ms for each GiB
/// after cudaFree an H200 moves memory a tenth slower (docs/measurements/h200_behaviour.md); twice as long is
/// waited. Call it before the warm-up of anything that is timed.
inline void wait_for_freed_memory() {
    const std::size_t nanoseconds = std::exchange(freed_bytes, 0) * 5 / 1074; // 5 ms for each GiB
    timespec left{.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000),
                  .tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/// Measures `work(stream)`, which enqueues one repetition. Empty, without having called it, if the device has
/// no clock.
template <class Work>
[[nodiscard]] std::optional<Timing> measure(Work&& work, const MeasurePlan& plan = {}) {
    if (!device_has_clock())
        return std::nullopt;
    std::optional<L2Flush> flush;
    if (plan.working_set < 4 * static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize)))
        flush.emplace();
    wait_for_freed_memory();
    for (int i = 0; i < plan.warm_up; ++i)
        work(plan.stream);
    // All repetitions are enqueued before the first is waited for: what the host does between two of them
    // then lies in the shadow of the one before, not between the events.
    std::vector<std::pair<Event, Event>> events(static_cast<std::size_t>(plan.repetitions));
    for (auto& [start, stop] : events) {
        if (flush)
            (*flush)(plan.stream);
        start.record(plan.stream);
        work(plan.stream);
        stop.record(plan.stream);
    }
    std::vector<double> samples;
    for (const auto& [start, stop] : events)
        samples.push_back(stop.milliseconds_since(start));
    return summarize(std::move(samples));
}

/// The copy ceiling: a device-to-device cudaMemcpyAsync that reads `bytes / 2` and writes as many, what a
/// kernel moving `bytes` is compared with. Empty if the device has no clock or there is nothing to copy.
[[nodiscard]] inline std::optional<Timing> copy_ceiling(std::size_t bytes, MeasurePlan plan = {}) {
    const std::size_t half = bytes / 2;
    if (half == 0 || !device_has_clock())
        return std::nullopt;
    DeviceBuffer<std::byte> from(half);
    DeviceBuffer<std::byte> to(half);
    from.poison();
    plan.working_set = bytes;
    return measure(
        [&](cudaStream_t stream) {
            check(cudaMemcpyAsync(to.data(), from.data(), half, cudaMemcpyDeviceToDevice, stream),
                  "copy ceiling");
        },
        plan);
}

} // namespace workbook
