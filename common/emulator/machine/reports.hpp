#pragma once
/// \file
/// Words about places in an emulated program, shared by the core and the listeners.

#include "machine/cluster.hpp"

#include <span>
#include <string>
#include <string_view>

namespace emu {

/// "thread (5,0,0) of block (1,0,0)".
std::string thread_name(const Warp& warp, unsigned lane);

/// "1 byte", "2 bytes".
std::string count_of(std::uint64_t n, std::string_view what);

/// The reader's source line of an instruction and who called it; without line information the PTX line.
/// Inlined calls are known from the PTX. A function that is called has known callers if the kernel calls it
/// from one place.
SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::string role);

/// The same; if the lane is at this instruction now, with the calls that brought it there.
SourceLine source_line(const Warp& warp, unsigned lane, std::uint32_t pc, std::string role);

/// The same with known calls, innermost first.
SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::span<const std::uint32_t> calls,
                       std::string role);

/// For a message that has named an mbarrier by its place in an array or a structure: which line initialised
/// it, as " (initialised at ring.cu:30, the 3rd of 4)". Empty for a variable of its own, and where there is
/// no mbarrier.
std::string initialised_at(Cluster& cluster, std::uint32_t address);

/// Whether a static variable of that size begins at an offset of a block's shared memory.
bool is_shared_variable(const LaunchInfo& info, std::uint32_t offset, std::uint64_t bytes);

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
