#pragma once
/// \file
/// All that a user of the emulator may set, usually by environment variables.

#include "machine/settings.hpp"
#include "rules/settings.hpp"

#include <string>

namespace emu {

struct Settings : MachineSettings, CheckSettings {
    bool checks = true;
    bool leaks = false; ///< EMULATOR_LEAKS: tell at the end what was never freed.
    /// EMULATOR_EXIT_STATUS: what turns a program's exit status 0 into 1.
    enum class ExitStatus : std::uint8_t {
        program,  ///< Nothing but a failed launch that the program never asked about.
        errors,   ///< Also any error that was found.
        findings, ///< Also a warning.
    };
    ExitStatus exit_status = ExitStatus::program;
    std::string report_file;   ///< EMULATOR_REPORT
    std::string counters_file; ///< EMULATOR_COUNTERS
    std::string trace_file;    ///< EMULATOR_TRACE

    /// Reads the environment. Throws std::runtime_error with a line for the user.
    static Settings from_environment();
};

} // namespace emu
