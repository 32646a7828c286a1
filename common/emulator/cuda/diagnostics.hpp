#pragma once
/// \file
/// Where findings go: stderr and the files named in the environment.

#include "hopper_emulator/findings.hpp"

namespace emu::cuda {

class State;

/// Shows a finding to the reader: as text on stderr and, if EMULATOR_REPORT names a file, as a line of JSON.
void report(const State& state, const Diagnostic& diagnostic);

/// … all of a launch; of warnings beyond those that are shown it says how many there are.
void report(const State& state, const std::vector<Diagnostic>& diagnostics);

} // namespace emu::cuda
