/// @file counters_test.cpp
/// What a chapter promises of the emulator's counters: bank conflicts, sectors, bytes by path.
#include "chapter.hpp"
#include "json.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace test_support;

namespace {

/// A line of CHAPTER.counters: when the program runs the kernel, `counter` is `factor` times `unit`.
struct Promise {
    std::string kernel;
    std::string counter;
    std::uint64_t factor = 0;
    std::string unit;
};

std::vector<Promise> promises(const std::filesystem::path& file) {
    std::vector<Promise> result;
    for (const std::string& line : lines_of(read_file(file))) {
        if (line.empty() || line.starts_with('#'))
            continue;
        Promise promise;
        if (!(std::istringstream(line) >> promise.kernel >> promise.counter >> promise.factor >>
              promise.unit))
            throw std::runtime_error(file.string() + ": not 'kernel counter factor counter': " + line);
        result.push_back(promise);
    }
    return result;
}

/// A counter of all launches in a file of EMULATOR_COUNTERS.
std::uint64_t total(const std::filesystem::path& file, const std::string& counter) {
    std::uint64_t sum = 0;
    for (const std::string& line : lines_of(read_file(file)))
        sum += static_cast<std::uint64_t>(JsonValue::parse(line)["total"][counter].number());
    return sum;
}

} // namespace

TEST_CASE("the emulator counts what the chapter promises") {
    const std::filesystem::path file = chapter_variable("CHAPTER_COUNTERS");
    if (!std::filesystem::exists(file))
        SKIP("the chapter promises no counters");
    require_emulator();
    const std::vector<Promise> promised = promises(file);
    REQUIRE_FALSE(promised.empty());
    for (const auto& [kernel, counter, factor, unit] : promised) {
        const TemporaryDirectory directory;
        const auto counters = directory.path() / "counters";
        const Finished program =
            run_program({"--kernel", kernel, "--size", "30001"},
                        {{"LD_LIBRARY_PATH", emulator_library()}, {"EMULATOR_COUNTERS", counters.string()}});
        INFO(kernel << ": " << counter << " = " << factor << " x " << unit << "\n" << program.err);
        REQUIRE(program.exit_code == 0);
        const std::uint64_t units = total(counters, unit);
        CHECK(units > 0);
        CHECK(total(counters, counter) == factor * units);
    }
}
