#pragma once
/// \file
/// What came of the launch that a page ran last.

#include "hopper_emulator/counters.hpp"
#include "hopper_emulator/device.hpp"
#include "hopper_emulator/moments.hpp"
#include "hopper_emulator/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace page {

/// Of the launch that ran last.
struct Outcome {
    std::string error;                           ///< Why it could not be run, in one line.
    std::string findings, counters, trace, told; ///< `told`: the findings as the command line prints them.
    std::string moments;                         ///< If they are recorded: emulator_record().
    std::uint64_t instructions = 0;              ///< Thread instructions.
    bool stopped = false;                        ///< Before its end.
    std::vector<std::vector<std::byte>> arrays;  ///< What memory held at its end.
};
/// The only one.
Outcome& outcome();

/// `order`: 0 late, 1 early, 2 random. 0 for `most_instructions`: any number.
emu::Settings settings_of(unsigned order, double seed, bool checks, double most_instructions);

/// Counters and time line of a device's next launch.
class Watch {
  public:
    explicit Watch(emu::Device& device);
    /// Keeps what came of it; throws what kept it from running.
    void keep(const emu::LaunchOutcome& launched) const;

  private:
    const emu::Counters* counters_;
    const emu::Trace* trace_;
    const emu::Moments* moments_ = nullptr;
};

} // namespace page
