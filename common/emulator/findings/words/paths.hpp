#pragma once
/// \file
/// What stands between two instructions of a kernel, told from their order in it.

#include "machine/program.hpp"

#include <cstdint>

namespace emu::check {

/// A loop takes a thread from one instruction back to one before it, or to itself.
bool leads_back(const Kernel& kernel, std::uint32_t from, std::uint32_t to);

/// There is a barrier of the block between two instructions, or of a warp if that is enough.
bool has_barrier(const Kernel& kernel, std::uint32_t from, std::uint32_t to, bool in_warp);

/// A thread copies by cp.async in a loop, and another reads what came: behind the wait for the copy stands a
/// barrier already, before the read. So what is missing is one on the way from the read to the copy of a
/// later round.
bool lacks_barrier_on_way_back(const Kernel& kernel, std::uint32_t copy, std::uint32_t read, bool in_warp);

} // namespace emu::check
