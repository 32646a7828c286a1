/// @file process.hpp
/// Runs a program as a child process, with a time limit, and keeps what it printed.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

/// How to run a program.
struct Command {
    std::vector<std::string> argv;                                  ///< program and arguments
    std::vector<std::pair<std::string, std::string>> environment{}; ///< variables added to the parent's
    std::vector<std::string> unset{};                               ///< variables of the parent left out
    /// Of the program's own time: what passes while others have the cores does not count (fair_clock.hpp).
    std::chrono::milliseconds time_limit = std::chrono::seconds(60);
};

/// What became of it.
struct Finished {
    std::string out;
    std::string err;
    int exit_code = -1;                  ///< -1 if a signal ended it
    int signal = 0;                      ///< the signal that ended it, 0 if none
    bool timed_out = false;              ///< it was killed because the time limit had passed
    std::chrono::milliseconds elapsed{}; ///< by everybody's clock
    std::chrono::milliseconds used{};    ///< as the time limit counts it

    /// 'exit code 1', 'signal 11' or 'no end within 60000 ms …', for messages.
    [[nodiscard]] std::string how() const;
};

/// Runs the command to its end and returns what it did. Its whole process group is killed when the time limit
/// passes. Throws std::system_error if it cannot be started.
[[nodiscard]] Finished run(const Command& command);

} // namespace test_support
