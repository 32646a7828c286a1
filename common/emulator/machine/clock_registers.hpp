#pragma once
/// \file
/// The registers of a function that hold what was made of a clock's reading.

#include "machine/program.hpp"

#include <vector>

namespace emu {

/// Where registers lie whose value comes from %clock or %globaltimer, in ascending order; values that went
/// through memory are not followed. Empty for a function that reads no clock.
std::vector<FrameBytes> find_clock_registers(const DecodedFunction& function);

} // namespace emu
