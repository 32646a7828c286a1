#pragma once
/// \file
/// Where findings go: stderr and the files named in the environment.

#include "machine/device.hpp"
#include "machine/diagnostic.hpp"

namespace emu::cuda {

/// Attaches the checks, counters and traces that the settings ask for.
void add_observers(Device& device);

/// Shows a finding to the reader: as text on stderr and, if EMULATOR_REPORT names a file, as a line of JSON.
void report(const Device& device, const Diagnostic& diagnostic);

} // namespace emu::cuda
