#pragma once
/// \file
/// What can be chosen, usually by variables of the environment: of the machine, of the checks, of the rest.

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace emu {

/// When asynchronous copies move their bytes, within what the PTX ISA allows. `late`: only when somebody has
/// waited for them, so that a missing wait shows; `early`: at their issue; `random`: by the seed.
enum class CompletionOrder : std::uint8_t { late, early, random };

/// What the machine itself obeys. A device of these settings alone has no checks: make_device() takes
/// Settings.
struct MachineSettings {
    CompletionOrder order = CompletionOrder::late; ///< EMULATOR_ORDER: late, early, random.
    std::uint64_t seed = 1;                        ///< EMULATOR_SEED: of the random order.
    unsigned threads = 0;                          ///< EMULATOR_THREADS: host threads; 0: one per core.
    /// Thread instructions that a cluster may execute without writing memory, passing a barrier or ending a
    /// thread; 0: any number. A loop that comes back to the same state is found without such a limit.
    /// EMULATOR_WATCHDOG has it in units of 10^9.
    std::uint64_t watchdog = 0;
    /// Thread instructions that a launch may execute, looked at now and then; 0: any number. A launch that
    /// has executed more is stopped without a finding (LaunchResult::stopped). Of no variable: for a program
    /// that cannot wait for long, like a page.
    std::uint64_t most_instructions = 0;
    /// The host has no rights at addresses of device memory, as with a GPU: who touches one gets SIGSEGV, and
    /// the bytes are at GlobalMemory::bytes(). Managed and page-locked memory is open while it is allocated.
    /// Where addresses are scarce (`ulimit -v`) all stays open. The CUDA libraries set it.
    bool closed_memory = false;
};

/// What the checks obey.
struct CheckSettings {
    /// EMULATOR_CHECKS=strict: also give notes: what hardware runs as meant and a manual forbids.
    bool strict = false;
    /// How much is made of something.
    enum class Severity : std::uint8_t { off, warning, error };
    /// EMULATOR_UNINITIALISED_GLOBAL: what a use of global memory that nobody wrote is, if
    /// GlobalMemory::track_writes() was called for it.
    Severity uninitialised_global = Severity::warning;
};

/// All that a user of the emulator may set.
struct Settings : MachineSettings, CheckSettings {
    bool checks = true; ///< EMULATOR_CHECKS=none: no checks.
    bool leaks = false; ///< EMULATOR_LEAKS: tell at the end what was never freed. For the CUDA libraries.
    /// EMULATOR_EXIT_STATUS: what turns a program's exit status 0 into 1.
    enum class ExitStatus : std::uint8_t {
        program,  ///< Nothing but a failed launch that the program never asked about.
        errors,   ///< Also any error that was found.
        findings, ///< Also a warning.
    };
    ExitStatus exit_status = ExitStatus::program; ///< For the CUDA libraries; a device ends no process.
    std::string report_file;                      ///< EMULATOR_REPORT: for publish().
    std::string counters_file;                    ///< EMULATOR_COUNTERS: see Counters.
    std::string trace_file;                       ///< EMULATOR_TRACE: see Trace.
    std::string record_file;                      ///< EMULATOR_RECORD: see make_recorder().
    std::string record_only;                      ///< EMULATOR_RECORD_ONLY: see RecordSettings.

    /// What the variables of the process say, and the values above for those that are not set. Throws
    /// std::runtime_error with one line that names the variable whose value cannot be.
    static Settings from_environment();
};

} // namespace emu
#pragma GCC visibility pop
