#pragma once
/// \file
/// Words about places in an emulated program: threads, variables, addresses.

#include "machine/cluster.hpp"

#include <string>
#include <string_view>

namespace emu {

/// "thread (5,0,0) of block (1,0,0)".
std::string thread_name(const Warp& warp, unsigned lane);

/// "block (1,0,0)".
std::string block_name(Dim3 index);

/// "1 byte", "2 bytes".
std::string count_of(std::uint64_t n, std::string_view what);

/// "0x1f".
std::string hexadecimal(std::uint64_t value);

/// What lies at an offset of a block's shared memory: the static variable, as "name" or "name + 16", or the
/// dynamic memory; outside of both, behind which of them it is and how far.
std::string shared_name(const LaunchInfo& info, std::uint32_t offset);

/// The variable at a shared-window address, the block if there are several, and if an mbarrier is there which
/// line initialised it.
std::string shared_text(Cluster& cluster, std::uint32_t address);

/// Whether a static variable of that size begins at an offset of a block's shared memory.
bool is_shared_variable(const LaunchInfo& info, std::uint32_t offset, std::uint64_t bytes);

/// For a message that has named an mbarrier by its place in an array or a structure: which line initialised
/// it, as " (initialised at ring.cu:30, the 3rd of 4)". Empty for a variable of its own, and where there is
/// no mbarrier.
std::string initialised_at(Cluster& cluster, std::uint32_t address);

/// What is wrong with an address outside every allocation, past the end of one, or freed.
std::string describe_global_address(const GlobalMemory& memory, Address address, std::uint64_t bytes);

/// What to do about it.
std::string advice_for_global_address(const GlobalMemory& memory, Address address);

} // namespace emu
