#pragma once
/// \file
/// What the emulator tells a reader about a mistake, and how it leaves the machine.

#include <cstdint>
#include <string>
#include <vector>

namespace emu {

/// The CUDA error a finding turns into. The CUDA libraries translate it; the machine does not know their
/// numbers.
enum class Fault : std::uint8_t {
    none,
    launch_failure,
    illegal_address,
    misaligned_address,
    illegal_instruction,
    assert_failed,
    trap,
    invalid_address_space,
    invalid_pc,
    timeout,
};

/// One source line that belongs to a finding.
struct SourceLine {
    std::string file;
    std::uint32_t line = 0;
    std::string role; ///< What happened there, e.g. "write by block (0,0,0) thread (5,0,0)".
};

/// A finding. `name` is stable and has an entry in the catalogue (listeners/catalogue.hpp).
struct Diagnostic {
    std::string name;
    Fault fault = Fault::launch_failure; ///< `none` makes it a warning that does not fail the launch.
    std::string kernel;
    std::string message;               ///< What is wrong, in one or more complete sentences.
    std::string advice;                ///< What to do.
    std::vector<SourceLine> locations; ///< The line to mend first comes first.
    bool note = false; ///< A warning about what works on hardware; told where EMULATOR_CHECKS is strict.
};

} // namespace emu
