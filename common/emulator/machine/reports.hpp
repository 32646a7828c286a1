#pragma once
/// \file
/// Words about places in an emulated program, shared by the core and the listeners.

#include "machine/cluster.hpp"

#include <string>
#include <string_view>

namespace emu {

/// "thread (5,0,0) of block (1,0,0)".
std::string thread_name(const Warp& warp, unsigned lane);

/// "1 byte", "2 bytes".
std::string count_of(std::uint64_t n, std::string_view what);

/// The reader's source line of an instruction; without line information the PTX line.
SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::string role);

/// Whether the instruction was inlined from a file whose path ends with `file`, at any depth.
bool is_inlined_from(const Kernel& kernel, std::uint32_t pc, std::string_view file);

/// What lies at an offset of a block's shared memory: the static variable, as "name" or "name + 16", or the
/// dynamic memory; outside of both, behind which of them it is and how far.
std::string shared_name(const LaunchInfo& info, std::uint32_t offset);

/// Who waits for what when nothing can go on.
Diagnostic describe_deadlock(Cluster& cluster);

/// The error of an H200 for shared memory of a block that the cluster does not have.
Fault fault_of_rank(unsigned rank);

/// A finding about an address outside every allocation, past the end of one, or freed.
std::string describe_global_address(const GlobalMemory& memory, Address address, std::uint64_t bytes);

/// What to do about it.
std::string advice_for_global_address(const GlobalMemory& memory, Address address);

} // namespace emu
