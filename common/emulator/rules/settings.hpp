#pragma once
/// \file
/// What the checks obey.

#include <cstdint>

namespace emu {

struct CheckSettings {
    bool strict = false; ///< Also give notes: what hardware runs as meant and a manual forbids.
    enum class Severity : std::uint8_t { off, warning, error };
    /// What a use of global memory that nobody wrote is.
    Severity uninitialised_global = Severity::warning;
};

} // namespace emu
