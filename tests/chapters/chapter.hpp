/// @file chapter.hpp
/// The chapter that this run of the tests is about; Meson names it in the environment.
#pragma once

#include "backend.hpp"
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// A variable that tests/chapters/meson.build sets.
inline std::string chapter_variable(const char* name) {
    const std::string value = test_support::environment_variable(name);
    if (value.empty())
        throw std::runtime_error(std::string(name) + " is not set: run these tests through 'meson test'");
    return value;
}

inline std::filesystem::path chapter_source() { return chapter_variable("CHAPTER_SOURCE"); }

/// Runs the chapter's program on the backend of this process.
inline test_support::Finished run_program(std::vector<std::string> arguments,
                                          std::vector<std::pair<std::string, std::string>> environment = {}) {
    arguments.insert(arguments.begin(), chapter_variable("CHAPTER_PROGRAM"));
    return test_support::run({.argv = std::move(arguments),
                              .environment = std::move(environment),
                              .time_limit = std::chrono::seconds(200)});
}

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

/// Skips the test case where there is no emulator.
inline void require_emulator() {
    if (test_support::emulator_library().empty())
        SKIP("the emulator's libraries are not built (EMULATOR_LIB)");
}

/// Skips the test case where the programs find no device. Exit code 77 says so.
inline void require_device() {
    if (const auto probe = run_program({"--size", "0"}); probe.exit_code == 77)
        SKIP(probe.err.substr(0, probe.err.find('\n')));
}
