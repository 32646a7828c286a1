/// @file counters_test.cpp
/// What a chapter promises of the emulator's counters: bank conflicts, sectors, bytes by path.
#include "chapter.hpp"
#include "json.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
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

/// As many elements as whole tiles have in every chapter: the ratios are whole numbers.
constexpr const char* whole_tiles = "65536";

/// A line for each launch of a kernel by the chapter's program, as EMULATOR_COUNTERS has it.
std::vector<std::string> counted(const std::string& kernel) {
    const TemporaryDirectory directory;
    const auto counters = directory.path() / "counters";
    const Finished program =
        run_program({"--kernel", kernel, "--size", whole_tiles},
                    {{"LD_LIBRARY_PATH", emulator_library()}, {"EMULATOR_COUNTERS", counters.string()}});
    INFO(kernel << "\n" << program.err);
    REQUIRE(program.exit_code == 0);
    return lines_of(read_file(counters));
}

std::uint64_t total(const std::vector<std::string>& launches, const std::string& counter) {
    std::uint64_t sum = 0;
    for (const std::string& line : launches)
        sum += static_cast<std::uint64_t>(JsonValue::parse(line)["total"][counter].number());
    return sum;
}

} // namespace

TEST_CASE("the emulator counts what the chapter promises") {
    const std::filesystem::path file = chapter_variable("CHAPTER_COUNTERS");
    require_emulator();
    const std::vector<Promise> promised = promises(file);
    REQUIRE_FALSE(promised.empty());
    std::map<std::string, std::vector<std::string>> launches;
    for (const auto& [kernel, counter, factor, unit] : promised) {
        if (!launches.contains(kernel))
            launches[kernel] = counted(kernel);
        INFO(kernel << ": " << counter << " = " << factor << " x " << unit);
        const std::uint64_t units = total(launches[kernel], unit);
        CHECK(units > 0);
        CHECK(total(launches[kernel], counter) == factor * units);
    }
}
