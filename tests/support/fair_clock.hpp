/// @file fair_clock.hpp
/// A clock for time limits: it goes slower where more wants to run than the machine has cores for.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace test_support {

/// What the machine has to do: 'running/all' is the fourth field of /proc/loadavg.
struct Load {
    unsigned running = 1; ///< Tasks that run or wait for a core.
    unsigned cores = 1;   ///< That this process may use.
};

/// The load in the text of /proc/loadavg; one task where the text is none.
[[nodiscard]] Load parse_load(const std::string& text, unsigned cores);

/// Counts a program's time: an hour on a machine whose cores are shared by ten programs each is six minutes.
/// So a time limit means the same on a busy machine, and a program that hangs still meets it.
class FairClock {
  public:
    using Milliseconds = std::chrono::milliseconds;
    /// The most that the clock is slowed down: whoever waits for nobody must come to an end.
    static constexpr unsigned slowest = 16;

    /// @param load asked at each look; that of this machine if none is given
    explicit FairClock(std::function<Load()> load = {});
    /// What has passed since the last look counts with the load of now. To be called often.
    Milliseconds look();
    /// The time of everybody's clock.
    [[nodiscard]] Milliseconds elapsed() const;

  private:
    using Clock = std::chrono::steady_clock;
    std::function<Load()> load_;
    Clock::time_point begin_ = Clock::now(), last_ = begin_;
    Clock::duration counted_{};
};

} // namespace test_support
