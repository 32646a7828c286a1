/// @file mistakes.hpp
/// The frame of a chapter's mistakes program: kernels that are wrong on purpose, one mistake each.
#pragma once

#include "check.hpp"
#include "cli.hpp"
#include "device.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace workbook {

/// One broken kernel. In its source, each line that the emulator must name ends with the comment
/// '// expect: DIAGNOSTIC', which the tests look for.
struct Mistake {
    const char* name;
    const char* what; ///< what is wrong, in a few words
    void (*run)();    ///< launches the kernel; need not wait
};

/// Runs one mistake and says whether the device noticed. 0: it did not; 1: the launch failed.
inline int run_mistake(const Mistake& mistake) {
    std::printf("%s: %s\n", mistake.name, mistake.what);
    std::fflush(stdout);
    try {
        mistake.run();
        synchronize(mistake.name);
    } catch (const CudaError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return exit_code::failed;
    }
    std::printf("The device noticed nothing; that does not make the kernel right.\n");
    return exit_code::ok;
}

/// The main of a mistakes program: '--list' prints the names, NAME runs one. On a GPU a broken kernel may
/// hang or pass by luck, so there it only runs when '--on-gpu' is given too.
[[nodiscard]] inline int run_mistakes(std::span<const Mistake> mistakes, int argc, char** argv) {
    const std::span<char* const> args(argv, static_cast<std::size_t>(std::max(argc, 0)));
    const auto given = [&](std::string_view word) {
        return std::find(args.begin(), args.end(), word) != args.end();
    };
    if (given("--list")) {
        for (const Mistake& mistake : mistakes)
            std::printf("%s\n", mistake.name);
        return exit_code::ok;
    }
    const auto chosen =
        std::find_if(mistakes.begin(), mistakes.end(), [&](const Mistake& m) { return given(m.name); });
    if (chosen == mistakes.end()) {
        std::fprintf(stderr, "mistakes: give the name of one mistake (--list prints them)\n");
        return exit_code::usage;
    }
    try {
        (void)require(DeviceNeeds{});
        if (device_has_clock() && !given("--on-gpu")) {
            std::fprintf(
                stderr,
                "mistakes: made for the emulator, which explains them; a GPU may hang: --on-gpu insists\n");
            return exit_code::usage;
        }
        return run_mistake(*chosen);
    } catch (const DeviceLacks& error) {
        std::fprintf(stderr, "mistakes: %s; use the emulator: ./workbook emulate PROGRAM NAME\n",
                     error.what());
        return exit_code::device_lacks;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mistakes: %s\n", error.what());
        return exit_code::failed;
    }
}

} // namespace workbook
