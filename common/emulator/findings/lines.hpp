#pragma once
/// \file
/// From an instruction to the reader's source lines.

#include "hopper_emulator/findings.hpp"
#include "machine/cluster.hpp"

#include <span>
#include <string>

namespace emu {

/// The compiler's path ("BUILD/../chapters/x.cu") as a reader would write it: without detours, and relative
/// to the working directory where the file lies below it.
std::string readable_path(const std::string& path);

/// The reader's source line of an instruction and who called it; without line information the PTX line.
/// Inlined calls are known from the PTX. A function that is called has known callers if the kernel calls it
/// from one place.
SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::string role);
/// The same for the cluster's kernel.
SourceLine source_line(const Cluster& cluster, std::uint32_t pc, std::string role = {});

/// The same; if the lane is at this instruction now, with the calls that brought it there.
SourceLine source_line(const Warp& warp, unsigned lane, std::uint32_t pc, std::string role);

/// The same with known calls, innermost first.
SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::span<const std::uint32_t> calls,
                       std::string role);

} // namespace emu
