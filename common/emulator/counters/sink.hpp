#pragma once
/// \file
/// Where the parts of the counters put what they count.

#include "hopper_emulator/counters.hpp"

#include <cstdint>

namespace emu {

class Warp;

/// Takes counts by instruction, and by warp where one warp did it.
class CounterSink {
  public:
    virtual ~CounterSink() = default;
    virtual void count(const Warp* warp, std::uint32_t pc, Counter counter, std::uint64_t amount = 1) = 0;
};

} // namespace emu
