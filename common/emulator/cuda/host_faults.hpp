#pragma once
/// \file
/// What becomes of a SIGSEGV: pages that HostGuard keeps closed are opened and the program goes on; a host
/// that touches memory of the device is told so in one line; then, and with any other, the signal goes to who
/// had it before, or ends the process.

#include "hopper_emulator/memory.hpp"

#include <string>

namespace emu::cuda {

/// The one owner of the process's handler.
class HostFaults {
  public:
    /// From now on faults in this memory are explained; it must stay for ever. Each is added to
    /// `report_file`, if it has a name.
    static void watch(const GlobalMemory& memory, const std::string& report_file);
    /// Makes sure that the handler is there: the program may have set one of its own meanwhile.
    static void install();
};

} // namespace emu::cuda
