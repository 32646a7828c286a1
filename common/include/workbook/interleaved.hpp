/// @file interleaved.hpp
/// Things that are measured against each other, in turns: a GPU that grows warm, or that lowers its clock to
/// keep to its power, then does so for all of them alike.
#pragma once

#include "random.hpp"
#include "timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace workbook {

/// How to measure in turns.
struct TurnPlan {
    int rounds = 21;   ///< bursts of each; one more goes before, not counted
    int launches = 10; ///< in a burst
    int pause_ms = 0;  ///< before each burst: time to cool, where power would lower the clock
};

/// What takes part: `run` enqueues one launch in the default stream.
struct Contender {
    std::string name;
    std::function<void()> run;
};

/// Whose turn it is, round by round: all of them, in another order every time.
class TurnOrder {
  public:
    TurnOrder(std::size_t contenders, std::uint64_t seed) : order_(contenders), random_(seed) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }
    /// The numbers of the contenders in the order of the next round; valid until the one after.
    [[nodiscard]] std::span<const std::size_t> next() {
        for (std::size_t i = order_.size(); i > 1; --i)
            std::swap(order_[i - 1], order_[random_.below(i)]);
        return order_;
    }

  private:
    std::vector<std::size_t> order_;
    Random random_;
};

/// Times of one launch of each contender: in each round each runs one burst, in another order every time. A
/// sample is a burst's mean. Empty if the device has no clock.
[[nodiscard]] inline std::vector<Timing> measure_in_turns(const std::vector<Contender>& contenders,
                                                          const TurnPlan& plan = {}) {
    if (!device_has_clock())
        return {};
    TurnOrder order(contenders.size(), 1);
    std::vector<std::vector<double>> samples(contenders.size());
    wait_for_freed_memory();
    for (int round = 0; round <= plan.rounds; ++round) {
        for (const std::size_t i : order.next()) {
            if (plan.pause_ms > 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(plan.pause_ms));
            Event start, stop;
            start.record();
            for (int launch = 0; launch < plan.launches; ++launch)
                contenders[i].run();
            stop.record();
            // Nothing is enqueued while the host sleeps, so a pause never lies between the events.
            const double each = stop.milliseconds_since(start) / plan.launches;
            if (round > 0)
                samples[i].push_back(each);
        }
    }
    std::vector<Timing> timings;
    for (std::vector<double>& of : samples)
        timings.push_back(summarize(std::move(of)));
    return timings;
}

} // namespace workbook
