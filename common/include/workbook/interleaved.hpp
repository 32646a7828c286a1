/// @file interleaved.hpp
/// Things that are measured against each other, in turns: a GPU that grows warm, or that lowers its clock to
/// keep to its power, then does so for all of them alike.
#pragma once

#include "random.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace workbook {

/// How to measure in turns.
struct TurnPlan {
    int rounds = 21;   ///< bursts of each; one more goes before, not counted
    int launches = 10; ///< in a burst
};

/// What takes part: `run` enqueues one launch in the default stream.
struct Contender {
    std::string name;
    std::function<void()> run;
};

/// Times of one launch of each contender: in each round each runs one burst, in another order every time. A
/// sample is a burst's mean. Empty if the device has no clock.
[[nodiscard]] inline std::vector<Timing> measure_in_turns(const std::vector<Contender>& contenders,
                                                          const TurnPlan& plan = {}) {
    if (!device_has_clock())
        return {};
    std::vector<std::size_t> order(contenders.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::vector<std::vector<double>> samples(contenders.size());
    Random random(1);
    for (int round = 0; round <= plan.rounds; ++round) {
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1], order[random.below(i)]);
        for (const std::size_t i : order) {
            Event start, stop;
            start.record();
            for (int launch = 0; launch < plan.launches; ++launch)
                contenders[i].run();
            stop.record();
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
