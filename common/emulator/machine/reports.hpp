#pragma once
/// \file
/// Words about places in an emulated program, shared by the core and the listeners.

#include "machine/cluster.hpp"

#include <string>

namespace emu {

/// "thread (5,0,0) of block (1,0,0)".
std::string thread_name(const Warp& warp, unsigned lane);

/// The reader's source line of an instruction; without line information the PTX line.
SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::string role);

/// The static shared variable that contains an offset, as "name" or "name + 16", else "shared memory at
/// offset N".
std::string shared_name(const Kernel& kernel, std::uint32_t offset);

/// Who waits for what when nothing can go on.
Diagnostic describe_deadlock(Cluster& cluster);

/// A finding about an address outside every allocation, past the end of one, or freed.
std::string describe_global_address(const GlobalMemory& memory, Address address, std::uint64_t bytes);

} // namespace emu
