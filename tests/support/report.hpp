/// @file report.hpp
/// The emulator's report file (EMULATOR_REPORT) and the marks in mistakes.cu that say what must stand in it.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

/// A source line that a diagnostic names.
struct Location {
    std::string file;
    int line = 0;
    std::string role;
};

/// One line of the report.
struct Diagnostic {
    std::string name;
    std::string kernel;
    std::string message;
    bool is_warning = false; ///< the launch went on, and did not fail
    /// Those that it names, and behind each the calls that led there.
    std::vector<Location> locations;
};

/// Reads a report of JSON lines; an absent file is an empty report. Throws std::runtime_error on a malformed
/// line.
[[nodiscard]] std::vector<Diagnostic> read_report(const std::filesystem::path& file);

/// What the comments '// expect: NAME' of one kernel promise.
struct Expectation {
    std::string name;    ///< the diagnostic; empty if the kernel has no mark
    std::set<int> lines; ///< the marked lines, counted from 1
};

/// The marks within the kernel `name` of a source text: from its '__global__ void name(' to the next kernel.
/// Where a kernel has marks '// expect ORDER: NAME' for the order of completion `order` (late, early,
/// random), they count instead: a wait for the wrong parity lets a thread read too early, or hangs, as the
/// copy is late or early. Throws std::runtime_error if there is no such kernel, or it marks two different
/// diagnostics.
[[nodiscard]] Expectation expectation(std::string_view source, const std::string& name,
                                      const std::string& order = {});

/// All of a text file. Throws std::runtime_error if it cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& file);

/// A directory for one test that vanishes with it.
class TemporaryDirectory {
  public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

} // namespace test_support
