#pragma once
/// \file
/// A finding as it leaves a launch: in words, with source lines.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace emu {

/// The kinds of findings: finding_kinds.hpp names them, catalogue.hpp explains each.
enum class Finding : std::uint8_t;

/// Stable, kebab-case: "race-shared".
std::string_view name_of(Finding finding);

/// The CUDA error that a finding turns into. The CUDA libraries translate it; nothing here knows their
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

/// A line that calls a function.
struct CallSite {
    std::string file;       ///< As in SourceLine.
    std::uint32_t line = 0; ///< From 1.
    /// By file, then by line.
    friend auto operator<=>(const CallSite&, const CallSite&) = default;
};

/// A source line, by itself or as a part of a finding.
struct SourceLine {
    /// Relative to the working directory if it lies below that; "PTX" where the text names no source: then
    /// `line` is that of the text.
    std::string file;
    std::uint32_t line = 0; ///< From 1.
    std::string role;       ///< What happened there, e.g. "write by block (0,0,0) thread (5,0,0)".
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
    Finding finding{};                   ///< What is wrong, as the catalogue knows it.
    Fault fault = Fault::launch_failure; ///< `none` makes it a warning that does not fail the launch.
    std::string kernel;                  ///< Demangled name.
    std::string message;                 ///< What is wrong, in one or more complete sentences.
    std::string advice;                  ///< What to do, for a program that calls CUDA.
    std::vector<SourceLine> locations;   ///< The line to mend first comes first.
    bool note = false; ///< A warning about what works on hardware; told where EMULATOR_CHECKS is strict.
    /// Equal findings in other copies of the same lines, which the compiler made where it unrolled or
    /// inlined.
    std::uint32_t more = 0;
    bool lines_of_ptx = false; ///< The program has no line information.
    /// A warning or a note behind the first ten of its launch: publish() leaves it to the report file.
    bool surplus = false;

    /// Of the finding: "race-shared".
    std::string name() const { return std::string(name_of(finding)); }
};

/// The finding as a reader sees it: "error[NAME] in kernel …", the message, the source lines with their text,
/// and what to do. With a line end.
std::string format(const Diagnostic& diagnostic);

/// The finding as one line of JSON, without line end:
/// {"name":…,"severity":"error"|"warning"|"note","kernel":…,"message":…,"advice":…,"locations":[{"file":…,"line":…,"role":…},…]}.
/// A location in a function that was called also has "callers":[{"file":…,"line":…},…], innermost first; a
/// finding that occurs in several copies of the same lines has "more":N, the number of the others.
std::string format_json(const Diagnostic& diagnostic);

/// Writes a finding to stderr, unless it is a surplus one, and, if `report_file` is not empty, as a line at
/// the end of that file; a file that cannot be written is told on stderr. After the first finding that names
/// lines of the PTX, says how to see the program's own. Any thread may call.
void publish(const Diagnostic& diagnostic, const std::string& report_file);

/// Whether the process has told so far that it could not write a report, counters or trace file.
bool has_lost_output();

} // namespace emu
#pragma GCC visibility pop
