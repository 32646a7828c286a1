#pragma once
/// \file
/// What the machine itself obeys.

#include <cstdint>

namespace emu {

/// When asynchronous operations land: when somebody waits for them, at once, or at random.
enum class CompletionOrder : std::uint8_t { late, early, random };

struct MachineSettings {
    CompletionOrder order = CompletionOrder::late;
    std::uint64_t seed = 1;
    unsigned threads = 0; ///< Host threads; 0: one per core.
    /// Thread instructions that a cluster may execute without writing memory, passing a barrier or ending a
    /// thread; 0: any number. A loop that comes back to the same state is found without such a limit.
    std::uint64_t watchdog = 0;
};

} // namespace emu
