#pragma once
/// \file
/// A finding as it leaves a launch: in words, with source lines. The machine carries it and never looks in.

#include "findings/finding.hpp"
#include "machine/fault.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace emu {

/// A line that calls a function.
struct CallSite {
    std::string file;
    std::uint32_t line = 0;
    friend auto operator<=>(const CallSite&, const CallSite&) = default;
};

/// One source line that belongs to a finding.
struct SourceLine {
    std::string file;
    std::uint32_t line = 0;
    std::string role; ///< What happened there, e.g. "write by block (0,0,0) thread (5,0,0)".
    /// Who called the function of that line, and who called that, as far as it is known. Only the reader's
    /// own lines, innermost first.
    std::vector<CallSite> callers{};
    std::uint32_t pc = 0;      ///< Of the instruction.
    bool more_callers = false; ///< Further callers are not known.

    /// The same line, called in the same way as far as that is known of both.
    bool is_same_place(const SourceLine& other) const {
        const auto [mine, theirs] = std::ranges::mismatch(callers, other.callers);
        const bool mine_end = mine == callers.end(), theirs_end = theirs == other.callers.end();
        return line == other.line && file == other.file &&
               ((mine_end && theirs_end) || (mine_end && more_callers) || (theirs_end && other.more_callers));
    }
};

/// A finding in words.
struct Diagnostic {
    Finding finding{};
    Fault fault = Fault::launch_failure; ///< `none` makes it a warning that does not fail the launch.
    std::string kernel;
    std::string message;               ///< What is wrong, in one or more complete sentences.
    std::string advice;                ///< What to do.
    std::vector<SourceLine> locations; ///< The line to mend first comes first.
    bool note = false; ///< A warning about what works on hardware; told where EMULATOR_CHECKS is strict.
    /// Equal findings in other copies of the same lines, which the compiler made where it unrolled or
    /// inlined.
    std::uint32_t more = 0;
    bool lines_of_ptx = false; ///< The program has no line information.

    std::string name() const { return std::string(name_of(finding)); }
};

} // namespace emu
